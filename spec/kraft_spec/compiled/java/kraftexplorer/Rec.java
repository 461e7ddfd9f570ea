package kraftexplorer;

/** A record: a function over strings. */
final class Rec extends Value {
  final Names names;
  final Value[] values;

  Rec(Names names, Value[] values) {
    this.names = names;
    this.values = values;
  }

  @Override
  long computeHash() { return chained(names.hash, values); }

  @Override
  boolean hasSameParts(Value other) { return names == ((Rec) other).names && equal(values, ((Rec) other).values); }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("[");
    for (int i = 0; i < values.length; i++) {
      text.append(i == 0 ? "" : ", ").append(names.at(i)).append(" |-> ").append(values[i]);
    }
    return text.append("]").toString();
  }
}
