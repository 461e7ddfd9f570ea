package kraftexplorer;

import util.UniqueString;

/** The order in which TLC enumerates a set, which decides what CHOOSE takes where several elements fit. */
final class TlcOrder {
  private TlcOrder() {}

  static int compare(Value first, Value second) {
    if (Value.equal(first, second)) return 0;
    if (first instanceof Int && second instanceof Int) return Integer.compare(number(first), number(second));
    if (first instanceof Bool && second instanceof Bool) return first == Bool.FALSE ? -1 : 1;
    if (first instanceof Text && second instanceof Text) return compareNames(((Text) first).text, ((Text) second).text);
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
  private static int compareNames(String first, String second) {
    return UniqueString.uniqueStringOf(first).compareTo(UniqueString.uniqueStringOf(second));
  }

  private static int compareEach(Value[] first, Value[] second) {
    if (first.length != second.length) return first.length - second.length;
    for (int i = 0; i < first.length; i++) {
      int order = compare(first[i], second[i]);
      if (order != 0) return order;
    }
    return 0;
  }

  private static Value[] ordered(FiniteSet set) {
    Value[] elements = set.elements.clone();
    java.util.Arrays.sort(elements, TlcOrder::compare);
    return elements;
  }

  /** By the number of fields, then field by field in TLC's order of names: first the name, then the value. */
  private static int compareRecords(Rec first, Rec second) {
    if (first.values.length != second.values.length) return first.values.length - second.values.length;
    Integer[] some = places(first), others = places(second);
    for (int i = 0; i < some.length; i++) {
      int order = compareNames(first.names.at(some[i]), second.names.at(others[i]));
      if (order == 0) order = compare(first.values[some[i]], second.values[others[i]]);
      if (order != 0) return order;
    }
    return 0;
  }

  private static Integer[] places(Rec record) {
    Integer[] places = new Integer[record.values.length];
    for (int i = 0; i < places.length; i++) places[i] = i;
    java.util.Arrays.sort(places, (a, b) -> compareNames(record.names.at(a), record.names.at(b)));
    return places;
  }
}
