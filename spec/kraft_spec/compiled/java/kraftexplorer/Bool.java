package kraftexplorer;

/** A truth value. */
final class Bool extends Value {
  static final Bool TRUE = new Bool(true), FALSE = new Bool(false);

  final boolean truth;

  private Bool(boolean truth) { this.truth = truth; }

  @Override
  long computeHash() { return mixed(truth ? 0x2_0000_0001L : 0x2_0000_0000L); }

  @Override
  boolean hasSameParts(Value other) { return truth == ((Bool) other).truth; }

  @Override
  public String toString() { return truth ? "TRUE" : "FALSE"; }
}
