package kraftexplorer;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/** Sets and quantifiers. */
abstract class Sets extends Functions {
  private static final int SUBSETS_OF_MAX = 20;

  static Value[] elements(Value value) {
    if (value instanceof FiniteSet) return ((FiniteSet) value).elements;
    throw new Undefined("no finite set");
  }

  public static Value none() { return FiniteSet.EMPTY; }

  /** A guard of a filter; one without a value leaves it to the elements, of which there may be none. */
  public static boolean mayHold(BooleanSupplier guard) {
    try {
      return guard.getAsBoolean();
    } catch (Undefined noValue) {
      return true;
    }
  }

  public static Value set(Value... written) { return FiniteSet.of(written); }

  public static Value interval(int low, int high) { return range(low, high); }

  public static int size(Value set) { return elements(set).length; }

  public static boolean isEmpty(Value set) {
    elements(set);
    return set == FiniteSet.EMPTY;
  }

  public static boolean in(int element, Value set) { return in(Int.of(element), set); }

  public static boolean in(Value element, Value set) {
    elements(set);
    return ((FiniteSet) set).contains(element);
  }

  public static boolean isSubset(Value first, Value second) {
    for (Value element : elements(first)) if (!in(element, second)) return false;
    return true;
  }

  public static Value cup(Value first, Value second) {
    Value[] some = elements(first), others = elements(second);
    if (others.length == 0 || first == second) return first;
    if (some.length == 0) return second;
    Value[] all = new Value[some.length + others.length];
    int i = 0, j = 0, size = 0;
    while (i < some.length && j < others.length) {
      int order = Value.compare(some[i], others[j]);
      all[size++] = order <= 0 ? some[i] : others[j];
      if (order <= 0) i++;
      if (order >= 0) j++;
    }
    while (i < some.length) all[size++] = some[i++];
    while (j < others.length) all[size++] = others[j++];
    return size == some.length ? first : FiniteSet.ordered(all, size);
  }

  public static Value cap(Value first, Value second) {
    elements(second);
    return filter(first, (Value element) -> ((FiniteSet) second).contains(element));
  }

  public static Value minus(Value first, Value second) {
    if (elements(second).length == 0) return first;
    return filter(first, (Value element) -> !((FiniteSet) second).contains(element));
  }

  public static Value product(Value first, Value second) {
    Value[] some = elements(first), others = elements(second), pairs = new Value[some.length * others.length];
    int size = 0;
    for (Value one : some) for (Value other : others) pairs[size++] = Sequence.of(new Value[] {one, other});
    return FiniteSet.of(pairs);
  }

  public static Value union(Value sets) {
    Value all = FiniteSet.EMPTY;
    for (Value set : elements(sets)) all = cup(all, set);
    return all;
  }

  public static Value subsets(Value set) {
    Value[] elements = elements(set);
    if (elements.length > SUBSETS_OF_MAX) throw new Undefined("the subsets of a large set");
    Value[] all = new Value[1 << elements.length];
    for (int chosen = 0; chosen < all.length; chosen++) {
      Value[] subset = new Value[Integer.bitCount(chosen)];
      int size = 0;
      for (int i = 0; i < elements.length; i++) if ((chosen >> i & 1) == 1) subset[size++] = elements[i];
      all[chosen] = FiniteSet.ordered(subset);
    }
    return FiniteSet.of(all);
  }

  public static boolean all(int low, int high, IntPredicate test) {
    for (int i = low; i <= high; i++) if (!test.test(i)) return false;
    return true;
  }

  public static boolean all(Value set, Predicate<Value> test) {
    for (Value element : elements(set)) if (!test.test(element)) return false;
    return true;
  }

  public static boolean any(int low, int high, IntPredicate test) {
    for (int i = low; i <= high; i++) if (test.test(i)) return true;
    return false;
  }

  public static boolean any(Value set, Predicate<Value> test) {
    for (Value element : elements(set)) if (test.test(element)) return true;
    return false;
  }

  public static Value filter(int low, int high, IntPredicate test) {
    Value[] kept = new Value[Math.max(0, high - low + 1)];
    int size = 0;
    for (int i = low; i <= high; i++) if (test.test(i)) kept[size++] = Int.of(i);
    return FiniteSet.of(java.util.Arrays.copyOf(kept, size));
  }

  public static Value filter(Value set, Predicate<Value> test) {
    Value[] elements = elements(set);
    Value[] kept = null;
    int size = 0;
    for (int i = 0; i < elements.length; i++) {
      if (test.test(elements[i])) {
        if (kept != null) kept[size] = elements[i];
        size++;
      } else if (kept == null) {
        kept = new Value[elements.length];
        System.arraycopy(elements, 0, kept, 0, i);
      }
    }
    return kept == null ? set : FiniteSet.ordered(kept, size);
  }

  /** CHOOSE takes the first in TLC's order. */
  public static Value choose(Value set, Predicate<Value> test) {
    Value first = null;
    for (Value element : elements(set)) {
      if (test.test(element) && (first == null || TlcOrder.compare(element, first) < 0)) first = element;
    }
    if (first == null) throw new Undefined("CHOOSE finds none");
    return first;
  }

  public static Value choose(int low, int high, IntPredicate test) {
    for (int i = low; i <= high; i++) if (test.test(i)) return Int.of(i);
    throw new Undefined("CHOOSE finds none");
  }

  public static Value map(int low, int high, IntFunction<Value> image) {
    Value[] images = new Value[Math.max(0, high - low + 1)];
    for (int i = 0; i < images.length; i++) images[i] = image.apply(low + i);
    return FiniteSet.of(images);
  }

  public static Value map(Value set, F1 image) {
    Value[] elements = elements(set), images = new Value[elements.length];
    for (int i = 0; i < images.length; i++) images[i] = image.apply(elements[i]);
    return FiniteSet.of(images);
  }

  /** Runs an action for each element, in TLC's order. */
  public static void each(Value set, Consumer<Value> action) {
    elements(set);
    for (Value element : ((FiniteSet) set).inTlcOrder()) action.accept(element);
  }
}
