package kraftexplorer;

/** The order in which TLC enumerates a set, which decides what CHOOSE takes where several elements fit,
 * and the order of successors. */
final class TlcOrder {
  private TlcOrder() {}

  static int compare(Value first, Value second) {
    if (Value.equal(first, second)) return 0;
    if (first instanceof Int && second instanceof Int) return Integer.compare(number(first), number(second));
    if (first instanceof Bool && second instanceof Bool) return first == Bool.FALSE ? -1 : 1;
    if (first instanceof Text && second instanceof Text) return compareNames((Text) first, (Text) second);
    if (first instanceof FiniteSet && second instanceof FiniteSet) {
      return compareEach(ordered((FiniteSet) first), ordered((FiniteSet) second));
    }
    if (first instanceof Sequence && second instanceof Sequence) {
      return compareEach(((Sequence) first).elements, ((Sequence) second).elements);
    }
    if (first instanceof Rec && second instanceof Rec) return compareRecords((Rec) first, (Rec) second);
    throw new Undefined("CHOOSE among values of which TLC has no order");
  }

  private static int number(Value value) { return ((Int) value).number; }

  /** TLC orders strings by when it has met them. */
  private static int compareNames(Text first, Text second) { return Integer.compare(first.tlcOrder(), second.tlcOrder()); }

  private static int compareEach(Value[] first, Value[] second) {
    if (first.length != second.length) return first.length - second.length;
    for (int i = 0; i < first.length; i++) {
      int order = compare(first[i], second[i]);
      if (order != 0) return order;
    }
    return 0;
  }

  private static Value[] ordered(FiniteSet set) { return set.inTlcOrder(); }

  /** By the number of fields, then field by field in TLC's order of names: first the name, then the value. */
  private static int compareRecords(Rec first, Rec second) {
    if (first.values.length != second.values.length) return first.values.length - second.values.length;
    int[] some = first.names.inTlcOrder(), others = second.names.inTlcOrder();
    boolean sameNames = first.names == second.names;
    for (int i = 0; i < some.length; i++) {
      int order = sameNames ? 0 : compareNames(Text.of(first.names.at(some[i])), Text.of(second.names.at(others[i])));
      Value one = first.values[some[i]], other = second.values[others[i]];
      if (order == 0 && one != other) order = compare(one, other);
      if (order != 0) return order;
    }
    return 0;
  }
}
