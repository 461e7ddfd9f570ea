package kraftexplorer;

/**
 * A value of the explorer: immutable, with a cached 64-bit hash of its structure.
 *
 * <p>Each TLA+ value has one form. A function over 1..n is a {@link Sequence}, a function over strings a {@link Rec}, and
 * the empty function the empty sequence. The elements of a set are in the order of {@link #compare}, each once.
 */
public abstract class Value {
  private static final long ODD = 0x9E3779B97F4A7C15L, MIX = 0xD6E8FEB86659FD93L;

  /** 0: not computed yet. */
  private long hash;

  /** Number within {@link Components}; 0: not a component of a stored state. */
  int id;

  /** True for the value of a variable that is stored by its elements: nearly every state has another one. */
  boolean whole;

  /** True if it was interned by a {@link Canon}, so that asking again is a waste. */
  boolean canonical;

  static long mixed(long bits) {
    long z = (bits ^ bits >>> 32) * MIX;
    z = (z ^ z >>> 29) * MIX;
    return z ^ z >>> 32;
  }

  static long chained(long hash, long next) { return mixed(hash * ODD + next); }

  static long chained(long hash, Value[] values) {
    for (Value value : values) hash = chained(hash, value.hash());
    return hash;
  }

  /** Hash of the structure: equal for equal values in every process, never 0. */
  public final long hash() {
    long known = hash;
    if (known != 0) return known;
    long computed = computeHash();
    return hash = computed == 0 ? 1 : computed;
  }

  abstract long computeHash();

  /** True if a value of the same class and hash is equal. */
  abstract boolean hasSameParts(Value other);

  public static boolean equal(Value first, Value second) {
    return first == second
        || first.hash() == second.hash() && first.getClass() == second.getClass() && first.hasSameParts(second);
  }

  static boolean equal(Value[] first, Value[] second) {
    if (first == second) return true;
    if (first.length != second.length) return false;
    for (int i = 0; i < first.length; i++) if (!equal(first[i], second[i])) return false;
    return true;
  }

  /** A total order, by hash. Two values with one hash are as rare as a lost state, and are ordered by their text. */
  static int compare(Value first, Value second) {
    if (first == second) return 0;
    int order = Long.compare(first.hash(), second.hash());
    return order != 0 || equal(first, second) ? order : first.toString().compareTo(second.toString());
  }

  @Override
  public final boolean equals(Object other) { return other instanceof Value && equal(this, (Value) other); }

  @Override
  public final int hashCode() { return (int) hash(); }

  static String listed(Value[] values) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < values.length; i++) text.append(i == 0 ? "" : ", ").append(values[i]);
    return text.toString();
  }
}
