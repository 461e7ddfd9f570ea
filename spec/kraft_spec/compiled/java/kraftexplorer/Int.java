package kraftexplorer;

/** A number. */
final class Int extends Value {
  private static final int LOWEST = -64;
  private static final Int[] SMALL = new Int[4096];

  static {
    for (int i = 0; i < SMALL.length; i++) SMALL[i] = new Int(LOWEST + i);
  }

  final int number;

  private Int(int number) { this.number = number; }

  static Int of(int number) {
    int place = number - LOWEST;
    return place >= 0 && place < SMALL.length ? SMALL[place] : new Int(number);
  }

  @Override
  long computeHash() { return mixed(0x1_0000_0000L + number); }

  @Override
  boolean hasSameParts(Value other) { return number == ((Int) other).number; }

  @Override
  public String toString() { return Integer.toString(number); }
}
