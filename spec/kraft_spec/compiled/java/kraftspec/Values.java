package kraftspec;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import tlc2.value.impl.BoolValue;
import tlc2.value.impl.FcnRcdValue;
import tlc2.value.impl.IntValue;
import tlc2.value.impl.IntervalValue;
import tlc2.value.impl.RecordValue;
import tlc2.value.impl.SetEnumValue;
import tlc2.value.impl.StringValue;
import tlc2.value.impl.TupleValue;
import tlc2.value.impl.Value;
import tlc2.value.impl.ValueVec;
import util.UniqueString;

/**
 * What compiled TLA+ needs at run time: the operators of the language and of its standard modules, on TLC's own values.
 *
 * <p>Where TLA+ gives no value (a function outside its domain, a record without the field) these throw {@link Undefined},
 * as TLC would stop there.
 */
public final class Values {
  private Values() {}

  /** A TLA+ expression that has no value. */
  public static final class Undefined extends RuntimeException {
    Undefined(String what) {
      super(what, null, false, false);
    }
  }

  /** An action that leaves a variable open. */
  public static Undefined open() { return new Undefined("the action leaves a variable open"); }

  /** A local operator with one parameter. */
  public interface F1 { Value apply(Value a); }
  /** With two. */
  public interface F2 { Value apply(Value a, Value b); }
  /** With three. */
  public interface F3 { Value apply(Value a, Value b, Value c); }
  /** With four. */
  public interface F4 { Value apply(Value a, Value b, Value c, Value d); }
  /** With five. */
  public interface F5 { Value apply(Value a, Value b, Value c, Value d, Value e); }

  /** A definition of a LET, evaluated when it is asked for first. */
  public static final class Lazy {
    private Supplier<Value> make;
    private Value made;

    public Lazy(Supplier<Value> make) { this.make = make; }

    public Value get() {
      if (made == null) {
        made = make.get();
        make = null;
      }
      return made;
    }
  }

  /** The same for a number. */
  public static final class LazyInt {
    private IntSupplier make;
    private int made;

    public LazyInt(IntSupplier make) { this.make = make; }

    public int get() {
      if (make != null) {
        made = make.getAsInt();
        make = null;
      }
      return made;
    }
  }

  /** The same for a truth value. */
  public static final class LazyBool {
    private BooleanSupplier make;
    private boolean made;

    public LazyBool(BooleanSupplier make) { this.make = make; }

    public boolean get() {
      if (make != null) {
        made = make.getAsBoolean();
        make = null;
      }
      return made;
    }
  }

  public static Value value(Supplier<Value> make) { return make.get(); }

  public static int integer(IntSupplier make) { return make.getAsInt(); }

  public static boolean bool(BooleanSupplier make) { return make.getAsBoolean(); }

  public static Undefined noCase(String where) { return new Undefined("no arm of the CASE holds: " + where); }

  // Numbers, truth values and strings.

  public static Value box(int number) { return IntValue.gen(number); }

  public static Value box(boolean truth) { return truth ? BoolValue.ValTrue : BoolValue.ValFalse; }

  public static int number(Value value) {
    if (value instanceof IntValue) return ((IntValue) value).val;
    throw new Undefined("no number: " + value);
  }

  public static boolean truth(Value value) {
    if (value instanceof BoolValue) return ((BoolValue) value).val;
    throw new Undefined("no truth value: " + value);
  }

  public static Value string(String text) { return new StringValue(UniqueString.uniqueStringOf(text)); }

  public static boolean isString(Value value) { return value instanceof StringValue; }

  public static boolean isBoolean(Value value) { return value instanceof BoolValue; }

  public static boolean isInteger(Value value) { return value instanceof IntValue; }

  public static boolean isNatural(Value value) { return value instanceof IntValue && ((IntValue) value).val >= 0; }

  public static boolean between(int number, int low, int high) { return low <= number && number <= high; }

  /** A constant in normal form, since threads may share it. */
  public static Value normal(Value value) {
    value.deepNormalize();
    return value;
  }

  /** Equality, by the cheapest comparison that the forms of the two values allow. */
  public static boolean equal(Value first, Value second) {
    if (first == second) return true;
    if (first instanceof StringValue && second instanceof StringValue) {
      return ((StringValue) first).val.equals(((StringValue) second).val);
    }
    if (first instanceof IntValue && second instanceof IntValue) {
      return ((IntValue) first).val == ((IntValue) second).val;
    }
    if (first instanceof TupleValue && second instanceof TupleValue) {
      return equalEach(((TupleValue) first).elems, ((TupleValue) second).elems);
    }
    if (first instanceof RecordValue && second instanceof RecordValue) {
      RecordValue one = (RecordValue) first, other = (RecordValue) second;
      if (one.names == other.names) return equalEach(one.values, other.values);
    }
    if (first instanceof FcnRcdValue && second instanceof FcnRcdValue) {
      FcnRcdValue one = (FcnRcdValue) first, other = (FcnRcdValue) second;
      if (one.domain != null && one.domain == other.domain) return equalEach(one.values, other.values);
    }
    if (first instanceof SetEnumValue && second instanceof SetEnumValue) {
      SetEnumValue one = (SetEnumValue) first, other = (SetEnumValue) second;
      if (one.isNormalized() && other.isNormalized()) return equalEach(one.elems, other.elems);
    }
    return first.equals(second);
  }

  private static boolean equalEach(ValueVec first, ValueVec second) {
    if (first == second) return true;
    if (first.size() != second.size()) return false;
    for (int i = 0; i < first.size(); i++) if (!equal(first.elementAt(i), second.elementAt(i))) return false;
    return true;
  }

  private static boolean equalEach(Value[] first, Value[] second) {
    if (first.length != second.length) return false;
    for (int i = 0; i < first.length; i++) if (!equal(first[i], second[i])) return false;
    return true;
  }

  // Records.

  /** TLC reads the names of states that it had put on the disk as other objects, which are equal. */
  private static int indexOf(UniqueString[] names, UniqueString name) {
    for (int i = 0; i < names.length; i++) if (names[i].equals(name)) return i;
    return -1;
  }

  /** One use of a field; it remembers where the field was in the last record. */
  public static final class Field {
    final UniqueString name;
    private int place;

    public Field(String name) { this.name = UniqueString.uniqueStringOf(name); }

    public Value of(Value value) {
      RecordValue record = record(value);
      return record.values[placeIn(record.names)];
    }

    int placeIn(UniqueString[] names) {
      int at = place;
      if (at < names.length && (names[at] == name || names[at].equals(name))) return at;
      at = indexOf(names, name);
      if (at < 0) throw new Undefined("no field " + name);
      place = at;
      return at;
    }
  }

  /** The fields of a record constructor. */
  public static final class Shape {
    /** Records with the same fields share their names, which makes comparing them fast. */
    private static final Map<List<UniqueString>, UniqueString[]> SHARED = new ConcurrentHashMap<>();

    private final UniqueString[] names;
    private final int[] places;

    public Shape(String... written) {
      UniqueString[] given = new UniqueString[written.length];
      for (int i = 0; i < written.length; i++) given[i] = UniqueString.uniqueStringOf(written[i]);
      UniqueString[] sorted = given.clone();
      Arrays.sort(sorted, UniqueString::compareTo);
      names = SHARED.computeIfAbsent(List.of(sorted), fields -> sorted);
      places = new int[given.length];
      for (int i = 0; i < given.length; i++) places[i] = indexOf(names, given[i]);
    }

    public Value of(Value... given) {
      Value[] values = new Value[given.length];
      for (int i = 0; i < given.length; i++) values[places[i]] = given[i];
      return new RecordValue(names, values, true);
    }
  }

  private static RecordValue record(Value value) {
    RecordValue record = value instanceof RecordValue ? (RecordValue) value : (RecordValue) value.toRcd();
    if (record == null) throw new Undefined("no record: " + value);
    if (!record.isNormalized()) record.normalize();
    return record;
  }

  /** One EXCEPT: changes one place after the other, in a copy that is made once for the fields of a record. */
  public static final class Update {
    private Value base;
    private UniqueString[] names;
    private Value[] values;

    public Update(Value base) { this.base = base; }

    public Update with(Field field, Value value) {
      open();
      values[field.placeIn(names)] = value;
      return this;
    }

    public Update with(Field field, F1 change) {
      open();
      int place = field.placeIn(names);
      values[place] = change.apply(values[place]);
      return this;
    }

    /** A longer path, or one through a function; each key is a {@link Field} or a {@link Key}. */
    public Update along(F1 change, Object... path) {
      base = changed(done(), path, 0, change);
      values = null;
      return this;
    }

    public Value done() { return values == null ? base : new RecordValue(names, values, true); }

    private void open() {
      if (values == null) {
        RecordValue record = record(base);
        names = record.names;
        values = record.values.clone();
      }
    }
  }

  /** An argument in the path of an EXCEPT. */
  public static final class Key {
    final Value value;

    Key(Value value) { this.value = value; }
  }

  public static Key key(Value value) { return new Key(value); }

  private static Value changed(Value base, Object[] path, int depth, F1 change) {
    if (depth == path.length) return change.apply(base);
    if (path[depth] instanceof Field) {
      RecordValue record = record(base);
      int place = ((Field) path[depth]).placeIn(record.names);
      return new RecordValue(record.names, replaced(record.values, place, path, depth, change), true);
    }
    Value at = ((Key) path[depth]).value;
    if (base instanceof RecordValue) {
      RecordValue record = record(base);
      int place = indexOf(record.names, ((StringValue) at).val);
      return place < 0 ? base : new RecordValue(record.names, replaced(record.values, place, path, depth, change), true);
    }
    if (base instanceof TupleValue) {
      Value[] elements = ((TupleValue) base).elems;
      int place = number(at) - 1;
      if (place < 0 || place >= elements.length) return base;
      return new TupleValue(replaced(elements, place, path, depth, change));
    }
    FcnRcdValue function = function(base);
    int place = placeOf(function, at);
    if (place < 0) return base;
    Value[] values = replaced(function.values, place, path, depth, change);
    if (function.intv != null) return new FcnRcdValue(function.intv, values);
    return new FcnRcdValue(function.domain, values, function.isNormalized());
  }

  private static Value[] replaced(Value[] values, int place, Object[] path, int depth, F1 change) {
    Value[] copy = values.clone();
    copy[place] = changed(copy[place], path, depth + 1, change);
    return copy;
  }

  // Functions.

  private static FcnRcdValue function(Value value) {
    FcnRcdValue function = value instanceof FcnRcdValue ? (FcnRcdValue) value : (FcnRcdValue) value.toFcnRcd();
    if (function == null) throw new Undefined("no function: " + value);
    return function;
  }

  private static int placeOf(FcnRcdValue function, Value at) {
    if (function.intv != null) {
      if (!(at instanceof IntValue)) return -1;
      int place = ((IntValue) at).val - function.intv.low;
      return place < 0 || place >= function.values.length ? -1 : place;
    }
    Value[] domain = function.domain;
    for (int i = 0; i < domain.length; i++) if (equal(domain[i], at)) return i;
    return -1;
  }

  public static Value at(Value function, int at) {
    if (function instanceof TupleValue) {
      Value[] elements = ((TupleValue) function).elems;
      if (at < 1 || at > elements.length) throw new Undefined("no element " + at + " of " + function);
      return elements[at - 1];
    }
    return at(function, IntValue.gen(at));
  }

  public static Value at(Value function, Value at) {
    if (function instanceof TupleValue) return at(function, number(at));
    if (function instanceof RecordValue) {
      RecordValue record = (RecordValue) function;
      int place = at instanceof StringValue ? indexOf(record.names, ((StringValue) at).val) : -1;
      if (place < 0) throw new Undefined("no field " + at);
      return record.values[place];
    }
    FcnRcdValue graph = function(function);
    int place = placeOf(graph, at);
    if (place < 0) throw new Undefined(at + " is not in the domain of " + function);
    return graph.values[place];
  }

  public static boolean inDomain(Value element, Value function) {
    if (function instanceof TupleValue) {
      return element instanceof IntValue && between(number(element), 1, ((TupleValue) function).elems.length);
    }
    if (function instanceof RecordValue) {
      return element instanceof StringValue && indexOf(((RecordValue) function).names, ((StringValue) element).val) >= 0;
    }
    return placeOf(function(function), element) >= 0;
  }

  public static Value domain(Value function) {
    if (function instanceof TupleValue) return new IntervalValue(1, ((TupleValue) function).elems.length);
    if (function instanceof RecordValue) return ((RecordValue) function).getDomain();
    return function(function).getDomain();
  }

  public static Value function(int low, int high, IntFunction<Value> value) {
    Value[] values = new Value[Math.max(0, high - low + 1)];
    for (int i = 0; i < values.length; i++) values[i] = value.apply(low + i);
    return low == 1 ? sequence(values) : new FcnRcdValue(new IntervalValue(low, high), values);
  }

  public static Value function(Value domain, F1 value) {
    if (domain instanceof IntervalValue) {
      IntervalValue interval = (IntervalValue) domain;
      return function(interval.low, interval.high, (int at) -> value.apply(IntValue.gen(at)));
    }
    Value[] arguments = elements(domain);
    Value[] values = new Value[arguments.length];
    for (int i = 0; i < values.length; i++) values[i] = value.apply(arguments[i]);
    return values.length == 0 ? TupleValue.EmptyTuple : new FcnRcdValue(arguments, values, true);
  }

  public static Value singleFunction(Value at, Value value) {
    return new FcnRcdValue(new Value[] {at}, new Value[] {value}, true);
  }

  /** The operator {@code @@}: where both functions have a value, that of the first counts. */
  public static Value combined(Value first, Value second) {
    FcnRcdValue one = function(first), other = function(second);
    Value[] domain = one.getDomainAsValues(), more = other.getDomainAsValues();
    ArrayList<Value> arguments = new ArrayList<>(Arrays.asList(domain));
    ArrayList<Value> values = new ArrayList<>(Arrays.asList(one.values));
    for (int i = 0; i < more.length; i++) {
      if (placeOf(one, more[i]) < 0) {
        arguments.add(more[i]);
        values.add(other.values[i]);
      }
    }
    return new FcnRcdValue(arguments.toArray(new Value[0]), values.toArray(new Value[0]), false);
  }

  // Sequences.

  private static Value sequence(Value[] elements) {
    return elements.length == 0 ? TupleValue.EmptyTuple : new TupleValue(elements);
  }

  private static Value[] sequence(Value value) {
    TupleValue tuple = value instanceof TupleValue ? (TupleValue) value : (TupleValue) value.toTuple();
    if (tuple == null) throw new Undefined("no sequence: " + value);
    return tuple.elems;
  }

  public static Value tuple(Value... elements) { return sequence(elements); }

  public static boolean isEmptySequence(Value value) {
    TupleValue tuple = value instanceof TupleValue ? (TupleValue) value : (TupleValue) value.toTuple();
    return tuple != null && tuple.elems.length == 0;
  }

  public static int length(Value value) { return sequence(value).length; }

  public static Value append(Value value, Value element) {
    Value[] elements = sequence(value);
    Value[] longer = Arrays.copyOf(elements, elements.length + 1);
    longer[elements.length] = element;
    return new TupleValue(longer);
  }

  public static Value concat(Value first, Value second) {
    if (isString(first) && isString(second)) {
      return new StringValue(((StringValue) first).val.concat(((StringValue) second).val));
    }
    Value[] one = sequence(first), other = sequence(second);
    if (other.length == 0) return first;
    if (one.length == 0) return second;
    Value[] both = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, both, one.length, other.length);
    return new TupleValue(both);
  }

  public static Value subSequence(Value value, int from, int to) {
    Value[] elements = sequence(value);
    if (from > to) return TupleValue.EmptyTuple;
    if (from < 1 || to > elements.length) throw new Undefined("SubSeq from " + from + " to " + to + " of " + value);
    return from == 1 && to == elements.length ? value : new TupleValue(Arrays.copyOfRange(elements, from - 1, to));
  }

  public static Value head(Value value) { return at(value, 1); }

  public static Value tail(Value value) {
    Value[] elements = sequence(value);
    if (elements.length == 0) throw new Undefined("Tail of an empty sequence");
    return sequence(Arrays.copyOfRange(elements, 1, elements.length));
  }

  public static Value select(Value value, F1 test) {
    Value[] elements = sequence(value);
    Value[] kept = new Value[elements.length];
    int size = 0;
    for (Value element : elements) if (truth(test.apply(element))) kept[size++] = element;
    return size == elements.length ? value : sequence(Arrays.copyOf(kept, size));
  }

  // Sets.

  private static SetEnumValue enumerated(Value value) {
    SetEnumValue set = value instanceof SetEnumValue ? (SetEnumValue) value : (SetEnumValue) value.toSetEnum();
    if (set == null) throw new Undefined("no finite set: " + value);
    return set;
  }

  /** The elements of a set, each once, in TLC's order. */
  private static Value[] elements(Value value) {
    SetEnumValue set = enumerated(value);
    if (!set.isNormalized()) set.normalize();
    Value[] elements = new Value[set.elems.size()];
    for (int i = 0; i < elements.length; i++) elements[i] = set.elems.elementAt(i);
    return elements;
  }

  private static Value set(ValueVec elements, boolean normal) {
    return elements.size() == 0 ? SetEnumValue.EmptySet : new SetEnumValue(elements, normal || elements.size() == 1);
  }

  public static Value set(Value... elements) {
    return elements.length == 0 ? SetEnumValue.EmptySet : new SetEnumValue(elements, elements.length == 1);
  }

  public static Value interval(int low, int high) { return new IntervalValue(low, high); }

  public static int size(Value value) { return value.size(); }

  public static boolean isEmpty(Value value) {
    return value instanceof SetEnumValue ? ((SetEnumValue) value).elems.size() == 0 : value.size() == 0;
  }

  public static boolean holds(Value value, Predicate<Value> test) { return test.test(value); }

  public static boolean in(int element, Value set) {
    if (set instanceof IntervalValue) return between(element, ((IntervalValue) set).low, ((IntervalValue) set).high);
    return in(IntValue.gen(element), set);
  }

  public static boolean in(Value element, Value set) {
    if (!(set instanceof SetEnumValue)) return set.member(element);
    ValueVec elements = ((SetEnumValue) set).elems;
    for (int i = 0; i < elements.size(); i++) if (equal(element, elements.elementAt(i))) return true;
    return false;
  }

  public static boolean isSubset(Value first, Value second) {
    return all(first, (Value element) -> in(element, second));
  }

  public static Value cup(Value first, Value second) {
    ValueVec one = enumerated(first).elems, other = enumerated(second).elems;
    if (other.size() == 0) return first;
    if (one.size() == 0) return second;
    ValueVec both = new ValueVec(one.size() + other.size());
    for (int i = 0; i < one.size(); i++) both.addElement(one.elementAt(i));
    for (int i = 0; i < other.size(); i++) if (!in(other.elementAt(i), first)) both.addElement(other.elementAt(i));
    return both.size() == one.size() ? first : set(both, false);
  }

  public static Value cap(Value first, Value second) { return filter(first, (Value element) -> in(element, second)); }

  public static Value minus(Value first, Value second) { return filter(first, (Value element) -> !in(element, second)); }

  public static Value product(Value first, Value second) {
    ValueVec pairs = new ValueVec();
    each(first, (Value one) -> each(second, (Value other) -> pairs.addElement(new TupleValue(one, other))));
    return set(pairs, false);
  }

  public static Value union(Value sets) {
    Value[] all = {SetEnumValue.EmptySet};
    each(sets, (Value one) -> all[0] = cup(all[0], one));
    return all[0];
  }

  public static Value subsets(Value set) {
    Value[] elements = elements(set);
    if (elements.length > 20) throw new Undefined("the subsets of " + elements.length + " elements");
    ValueVec all = new ValueVec(1 << elements.length);
    for (int chosen = 0; chosen < 1 << elements.length; chosen++) {
      ValueVec subset = new ValueVec(elements.length);
      for (int i = 0; i < elements.length; i++) if ((chosen >> i & 1) == 1) subset.addElement(elements[i]);
      all.addElement(set(subset, true));
    }
    return set(all, false);
  }

  public static boolean all(int low, int high, IntPredicate test) {
    for (int i = low; i <= high; i++) if (!test.test(i)) return false;
    return true;
  }

  public static boolean all(Value set, Predicate<Value> test) {
    ValueVec elements = enumerated(set).elems;
    for (int i = 0; i < elements.size(); i++) if (!test.test(elements.elementAt(i))) return false;
    return true;
  }

  public static boolean any(int low, int high, IntPredicate test) {
    return !all(low, high, test.negate());
  }

  public static boolean any(Value set, Predicate<Value> test) {
    return !all(set, test.negate());
  }

  public static Value filter(int low, int high, IntPredicate test) {
    ValueVec kept = new ValueVec();
    for (int i = low; i <= high; i++) if (test.test(i)) kept.addElement(IntValue.gen(i));
    return set(kept, true);
  }

  public static Value filter(Value set, Predicate<Value> test) {
    SetEnumValue from = enumerated(set);
    ValueVec kept = new ValueVec(from.elems.size());
    for (int i = 0; i < from.elems.size(); i++) {
      Value element = from.elems.elementAt(i);
      if (test.test(element)) kept.addElement(element);
    }
    return kept.size() == from.elems.size() ? from : set(kept, from.isNormalized());
  }

  /** CHOOSE takes the first in TLC's order. */
  public static Value choose(Value set, Predicate<Value> test) {
    for (Value element : elements(set)) if (test.test(element)) return element;
    throw new Undefined("CHOOSE finds none in " + set);
  }

  public static Value choose(int low, int high, IntPredicate test) {
    for (int i = low; i <= high; i++) if (test.test(i)) return IntValue.gen(i);
    throw new Undefined("CHOOSE finds none in " + low + ".." + high);
  }

  public static Value map(int low, int high, IntFunction<Value> image) {
    ValueVec images = new ValueVec();
    for (int i = low; i <= high; i++) images.addElement(image.apply(i));
    return set(images, false);
  }

  public static Value map(Value set, F1 image) {
    ValueVec elements = enumerated(set).elems;
    ValueVec images = new ValueVec(elements.size());
    for (int i = 0; i < elements.size(); i++) images.addElement(image.apply(elements.elementAt(i)));
    return set(images, false);
  }

  /** Runs an action for each element, in TLC's order. */
  public static void each(Value set, Consumer<Value> action) {
    for (Value element : elements(set)) action.accept(element);
  }
}
