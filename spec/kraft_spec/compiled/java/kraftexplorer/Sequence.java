package kraftexplorer;

import java.util.Arrays;

/** A sequence or tuple: every function over 1..n, and the empty function. */
final class Sequence extends Value {
  static final Sequence EMPTY = new Sequence(new Value[0]);

  final Value[] elements;

  private Sequence(Value[] elements) { this.elements = elements; }

  static Sequence of(Value[] elements) { return elements.length == 0 ? EMPTY : new Sequence(elements); }

  Sequence with(int place, Value element) {
    Value[] changed = elements.clone();
    changed[place] = element;
    return new Sequence(changed);
  }

  Sequence from(int first, int end) { return of(Arrays.copyOfRange(elements, first, end)); }

  @Override
  long computeHash() { return chained(0x4_0000_0000L + elements.length, elements); }

  @Override
  boolean hasSameParts(Value other) { return equal(elements, ((Sequence) other).elements); }

  @Override
  public String toString() { return "<<" + listed(elements) + ">>"; }
}
