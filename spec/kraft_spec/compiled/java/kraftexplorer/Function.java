package kraftexplorer;

/** A function that is neither a sequence nor a record; its domain is in the order of sets. */
final class Function extends Value {
  final Value[] domain;
  final Value[] values;

  private Function(Value[] domain, Value[] values) {
    this.domain = domain;
    this.values = values;
  }

  /** The function in its one form, from a domain in the order of sets. */
  static Value of(Value[] domain, Value[] values) {
    if (domain.length == 0) return Sequence.EMPTY;
    if (domain[0] instanceof Text) return record(domain, values);
    Value[] elements = new Value[domain.length];
    for (int i = 0; i < domain.length; i++) {
      int place = domain[i] instanceof Int ? ((Int) domain[i]).number - 1 : -1;
      if (place < 0 || place >= elements.length) return new Function(domain, values);
      elements[place] = values[i];
    }
    return Sequence.of(elements);
  }

  private static Value record(Value[] domain, Value[] values) {
    String[] fields = new String[domain.length];
    for (int i = 0; i < fields.length; i++) {
      if (!(domain[i] instanceof Text)) return new Function(domain, values);
      fields[i] = ((Text) domain[i]).text;
    }
    Names names = Names.of(fields);
    Value[] ordered = new Value[fields.length];
    for (int i = 0; i < fields.length; i++) ordered[names.placeOf(fields[i])] = values[i];
    return new Rec(names, ordered);
  }

  int placeOf(Value argument) {
    for (int i = 0; i < domain.length; i++) if (equal(domain[i], argument)) return i;
    return -1;
  }

  Function with(int place, Value value) {
    Value[] changed = values.clone();
    changed[place] = value;
    return new Function(domain, changed);
  }

  @Override
  long computeHash() { return chained(chained(0x6_0000_0000L + domain.length, domain), values); }

  @Override
  boolean hasSameParts(Value other) {
    return equal(domain, ((Function) other).domain) && equal(values, ((Function) other).values);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("(");
    for (int i = 0; i < domain.length; i++) {
      text.append(i == 0 ? "" : " @@ ").append(domain[i]).append(" :> ").append(values[i]);
    }
    return text.append(")").toString();
  }
}
