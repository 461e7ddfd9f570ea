package kraftexplorer;

import java.util.Arrays;

/** A finite set: its elements in the order of {@link Value#compare}, each once. */
final class FiniteSet extends Value {
  static final FiniteSet EMPTY = new FiniteSet(new Value[0]);

  final Value[] elements;
  private Value[] inTlcOrder;

  private FiniteSet(Value[] elements) { this.elements = elements; }

  /** From elements that are in order, each once. */
  static FiniteSet ordered(Value[] elements) { return elements.length == 0 ? EMPTY : new FiniteSet(elements); }

  /** From the first of some elements that are in order, each once. */
  static FiniteSet ordered(Value[] elements, int size) {
    return ordered(size == elements.length ? elements : Arrays.copyOf(elements, size));
  }

  /** From any elements; sorts the array in place. */
  static FiniteSet of(Value[] elements) {
    if (elements.length < 2) return ordered(elements);
    if (elements.length < 16) insertionSort(elements);
    else Arrays.sort(elements, Value::compare);
    int size = 1;
    for (int i = 1; i < elements.length; i++) {
      if (compare(elements[i], elements[size - 1]) != 0) elements[size++] = elements[i];
    }
    return ordered(elements, size);
  }

  private static void insertionSort(Value[] elements) {
    for (int i = 1; i < elements.length; i++) {
      Value moved = elements[i];
      int place = i - 1;
      for (; place >= 0 && compare(elements[place], moved) > 0; place--) elements[place + 1] = elements[place];
      elements[place + 1] = moved;
    }
  }

  /** The elements in TLC's order. */
  Value[] inTlcOrder() {
    if (elements.length < 2) return elements;
    Value[] known = inTlcOrder;
    if (known != null) return known;
    Value[] ordered = elements.clone();
    for (int i = 1; i < ordered.length; i++) {
      Value moved = ordered[i];
      int low = 0;
      for (int high = i; low < high; ) {
        int middle = low + high >>> 1;
        if (TlcOrder.compare(ordered[middle], moved) < 0) low = middle + 1;
        else high = middle;
      }
      System.arraycopy(ordered, low, ordered, low + 1, i - low);
      ordered[low] = moved;
    }
    return inTlcOrder = ordered;
  }

  boolean contains(Value element) {
    if (elements.length < 8) {
      for (Value one : elements) if (equal(one, element)) return true;
      return false;
    }
    int low = 0, high = elements.length - 1;
    while (low <= high) {
      int middle = low + high >>> 1, order = compare(elements[middle], element);
      if (order == 0) return true;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return false;
  }

  @Override
  long computeHash() { return chained(0x7_0000_0000L + elements.length, elements); }

  @Override
  boolean hasSameParts(Value other) { return equal(elements, ((FiniteSet) other).elements); }

  @Override
  public String toString() { return "{" + listed(elements) + "}"; }
}
