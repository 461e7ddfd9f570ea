package kraftexplorer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;

/** Functions and sequences. */
abstract class Functions extends Records {
  private static final FiniteSet[] UP_TO = new FiniteSet[64];

  /** Value of a function at an argument, or null where it has none. */
  static Value atOrNull(Value function, Value at) {
    if (function instanceof Sequence) {
      if (!(at instanceof Int)) return null;
      Value[] elements = ((Sequence) function).elements;
      int place = ((Int) at).number - 1;
      return place < 0 || place >= elements.length ? null : elements[place];
    }
    if (function instanceof Rec) {
      Rec record = (Rec) function;
      int place = at instanceof Text ? record.names.placeOf(((Text) at).text) : -1;
      return place < 0 ? null : record.values[place];
    }
    if (!(function instanceof Function)) return null;
    int place = ((Function) function).placeOf(at);
    return place < 0 ? null : ((Function) function).values[place];
  }

  public static Value at(Value function, Value at) {
    Value value = atOrNull(function, at);
    if (value == null) throw new Undefined("an argument outside the domain of a function");
    return value;
  }

  public static Value at(Value function, int at) {
    if (!(function instanceof Sequence)) return at(function, Int.of(at));
    Value[] elements = ((Sequence) function).elements;
    if (at < 1 || at > elements.length) throw new Undefined("a place outside a sequence");
    return elements[at - 1];
  }

  public static boolean inDomain(Value element, Value function) {
    requireFunction(function);
    return atOrNull(function, element) != null;
  }

  private static void requireFunction(Value value) {
    if (!(value instanceof Sequence || value instanceof Rec || value instanceof Function)) {
      throw new Undefined("no function");
    }
  }

  static FiniteSet range(int low, int high) {
    if (high < low) return FiniteSet.EMPTY;
    if (low == 1 && high < UP_TO.length && UP_TO[high] != null) return UP_TO[high];
    Value[] numbers = new Value[high - low + 1];
    for (int i = 0; i < numbers.length; i++) numbers[i] = Int.of(low + i);
    FiniteSet set = FiniteSet.of(numbers);
    if (low == 1 && high < UP_TO.length) UP_TO[high] = set;
    return set;
  }

  private static Value[] arguments(Value function) {
    if (function instanceof Sequence) return range(1, ((Sequence) function).elements.length).elements;
    if (function instanceof Function) return ((Function) function).domain;
    Names names = record(function).names;
    Value[] fields = new Value[names.size()];
    for (int i = 0; i < fields.length; i++) fields[i] = Text.of(names.at(i));
    return FiniteSet.of(fields).elements;
  }

  public static Value domain(Value function) {
    requireFunction(function);
    if (function instanceof Sequence) return range(1, ((Sequence) function).elements.length);
    return FiniteSet.ordered(arguments(function));
  }

  public static Value function(int low, int high, IntFunction<Value> value) {
    if (low == 1) {
      Value[] values = new Value[Math.max(0, high)];
      for (int i = 0; i < values.length; i++) values[i] = value.apply(low + i);
      return Sequence.of(values);
    }
    return function(range(low, high), (Value at) -> value.apply(((Int) at).number));
  }

  public static Value function(Value domain, F1 value) {
    Value[] arguments = Sets.elements(domain);
    Value[] values = new Value[arguments.length];
    for (int i = 0; i < values.length; i++) values[i] = value.apply(arguments[i]);
    return Function.of(arguments, values);
  }

  public static Value singleFunction(Value at, Value value) {
    return Function.of(new Value[] {at}, new Value[] {value});
  }

  /** The operator {@code @@}: where both functions have a value, that of the first counts. */
  public static Value combined(Value first, Value second) {
    List<Value> all = new ArrayList<>(Arrays.asList(arguments(first)));
    for (Value at : arguments(second)) if (atOrNull(first, at) == null) all.add(at);
    FiniteSet domain = FiniteSet.of(all.toArray(new Value[0]));
    return function(domain, (Value at) -> {
      Value value = atOrNull(first, at);
      return value != null ? value : at(second, at);
    });
  }

  private static Value[] sequence(Value value) {
    if (value instanceof Sequence) return ((Sequence) value).elements;
    throw new Undefined("no sequence");
  }

  public static Value tuple(Value... elements) { return Sequence.of(elements); }

  public static boolean isEmptySequence(Value value) { return value == Sequence.EMPTY; }

  public static int length(Value value) { return sequence(value).length; }

  public static Value append(Value value, Value element) {
    Value[] elements = sequence(value), longer = Arrays.copyOf(elements, elements.length + 1);
    longer[elements.length] = element;
    return Sequence.of(longer);
  }

  public static Value concat(Value first, Value second) {
    Value[] start = sequence(first), end = sequence(second);
    if (end.length == 0) return first;
    if (start.length == 0) return second;
    Value[] both = Arrays.copyOf(start, start.length + end.length);
    System.arraycopy(end, 0, both, start.length, end.length);
    return Sequence.of(both);
  }

  public static Value subSequence(Value value, int from, int to) {
    Value[] elements = sequence(value);
    if (from > to) return Sequence.EMPTY;
    if (from < 1 || to > elements.length) throw new Undefined("SubSeq beyond a sequence");
    return from == 1 && to == elements.length ? value : ((Sequence) value).from(from - 1, to);
  }

  public static Value head(Value value) { return at(value, 1); }

  public static Value tail(Value value) {
    Value[] elements = sequence(value);
    if (elements.length == 0) throw new Undefined("Tail of an empty sequence");
    return ((Sequence) value).from(1, elements.length);
  }

  public static Value select(Value value, F1 test) {
    Value[] elements = sequence(value), kept = new Value[elements.length];
    int size = 0;
    for (Value element : elements) if (truth(test.apply(element))) kept[size++] = element;
    return size == elements.length ? value : Sequence.of(Arrays.copyOf(kept, size));
  }
}
