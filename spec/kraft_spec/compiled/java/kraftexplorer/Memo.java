package kraftexplorer;

import java.util.ArrayList;
import java.util.List;

/**
 * Results of one operator, by all that it reads. A table of places, one for each key; a newer result displaces an older.
 *
 * <p>It grows while results that were displaced are asked again, and switches itself off where keeping costs more than evaluating. Memory is bounded by {@link
 * #BITS_MAX}. A table belongs to one thread.
 */
public final class Memo {
  /** A key that has no value: a path of fields and arguments that leaves the domain of a function. */
  static final Value NONE = Text.of("\0no value");

  /** Evaluate also where there is a result, and compare. */
  public static final boolean BOTH = Boolean.getBoolean("kraftspec.both");

  private static final int BITS_START = 8, BITS_WHOLE_MAX = 8, BITS_MAX = Integer.getInteger("kraftspec.memo.bits", 18);
  private static final int WINDOW = 1 << 12;
  private static final int USELESS_WINDOWS_MAX = 4;
  /** One in so many evaluations is timed. */
  private static final int TIMED_EVERY = 32;
  /** Assumed costs in nanoseconds: of asking, for each key, and of keeping a result. */
  private static final double ASKING = 20, KEY = 4, KEEPING = 200;
  private static final long CLOCK = clockNanos();
  /** Longest time that counts: this thread may have lost the processor. */
  private static final long NANOS_MAX = 20_000;

  public final String name;
  private final int keys, stride;
  private int bits = BITS_START;
  /** A table whose keys have whole variables serves the state that is expanded. */
  private int most = BITS_MAX;
  private Value[] places;
  private final Canon canon;

  long hits, misses;
  private long hitsBefore;
  private int displaced, missed, useless;
  private long spent, timed;
  /** Hashes of keys that were displaced lately. */
  private int[] gone;
  boolean off = Boolean.getBoolean("kraftspec.nomemo");

  Memo(String name, int keys, Canon canon) {
    this.name = name;
    this.keys = keys;
    this.canon = canon;
    stride = keys + 1;
    places = new Value[stride << bits];
    gone = new int[2 << bits];
  }

  /** Time that looking at the clock takes. */
  private static long clockNanos() {
    long shortest = Long.MAX_VALUE;
    for (int i = 0; i < 1000; i++) shortest = Math.min(shortest, -System.nanoTime() + System.nanoTime());
    return shortest;
  }

  private static long more(long hash, Value key) { return hash * 0x9E3779B97F4A7C15L + key.hash(); }

  private int place(long hash) {
    long z = (hash ^ hash >>> 32) * 0xD6E8FEB86659FD93L;
    return (int) (z >>> 64 - bits) * stride;
  }

  private boolean has(int place, Value key) {
    Value kept = places[place];
    if (kept == key) return true;
    if (kept == null || !Value.equal(kept, key)) return false;
    // The next comparison is of one object.
    places[place] = key;
    return true;
  }

  private Value result(boolean hit, int place) {
    if (!hit) return null;
    hits++;
    return places[place + keys];
  }

  public Value get(Value a) {
    int p = place(a.hash());
    return result(has(p, a), p);
  }

  public Value get(Value a, Value b) {
    int p = place(more(a.hash(), b));
    return result(has(p, a) && has(p + 1, b), p);
  }

  public Value get(Value a, Value b, Value c) {
    int p = place(more(more(a.hash(), b), c));
    return result(has(p, a) && has(p + 1, b) && has(p + 2, c), p);
  }

  public Value get(Value a, Value b, Value c, Value d) {
    int p = place(more(more(more(a.hash(), b), c), d));
    return result(has(p, a) && has(p + 1, b) && has(p + 2, c) && has(p + 3, d), p);
  }

  public Value get(Value a, Value b, Value c, Value d, Value e) {
    int p = place(more(more(more(more(a.hash(), b), c), d), e));
    return result(has(p, a) && has(p + 1, b) && has(p + 2, c) && has(p + 3, d) && has(p + 4, e), p);
  }

  public Value get(Value a, Value b, Value c, Value d, Value e, Value... rest) {
    long hash = more(more(more(more(a.hash(), b), c), d), e);
    for (Value key : rest) hash = more(hash, key);
    int p = place(hash);
    boolean hit = has(p, a) && has(p + 1, b) && has(p + 2, c) && has(p + 3, d) && has(p + 4, e);
    for (int i = 0; hit && i < rest.length; i++) hit = has(p + 5 + i, rest[i]);
    return result(hit, p);
  }

  /** The time before an evaluation, for {@link #put}; 0 if it is not timed. */
  public long begin() { return misses % TIMED_EVERY == 0 ? System.nanoTime() : 0; }

  /** Keeps a result, and returns it or the equal value that is kept already. */
  public Value put(Value made, long begun, Value... keys) {
    if (begun != 0) {
      spent += Math.max(0, Math.min(System.nanoTime() - begun - CLOCK, NANOS_MAX));
      timed++;
    }
    Value result = canon.of(made);
    long hash = keys[0].hash();
    for (int i = 1; i < keys.length; i++) hash = more(hash, keys[i]);
    for (Value key : keys) if (key.whole) most = BITS_WHOLE_MAX;
    int place = place(hash);
    if (gone[(int) hash & gone.length - 1] == (int) (hash >>> 32)) missed++;
    if (places[place] != null) displace(place);
    System.arraycopy(keys, 0, places, place, keys.length);
    places[place + keys.length] = result;
    if (++misses % WINDOW == 0) adapt();
    return result;
  }

  private long hashAt(Value[] table, int place) {
    long hash = table[place].hash();
    for (int i = 1; i < keys; i++) hash = more(hash, table[place + i]);
    return hash;
  }

  private void displace(int place) {
    long hash = hashAt(places, place);
    gone[(int) hash & gone.length - 1] = (int) (hash >>> 32);
    displaced++;
  }

  /** Stops the search if a result that was kept is not that of the operator: its key lacks something that it reads. */
  public void require(Value kept, Value made) {
    if (Value.equal(kept, made)) return;
    throw new Stop(Stop.Reason.DISAGREEMENT, "a kept result of " + name + " is " + kept + ", and it is " + made, null);
  }

  private void adapt() {
    double share = (double) (hits - hitsBefore) / (hits - hitsBefore + WINDOW);
    double saved = share * spent / timed, cost = ASKING + KEY * keys + (1 - share) * KEEPING;
    useless = saved < cost ? useless + 1 : 0;
    spent = timed = 0;
    if (useless == USELESS_WINDOWS_MAX) {
      off = true;
      places = new Value[stride];
      return;
    }
    // A larger table would have had what was displaced and is asked again.
    if (bits < most && displaced > WINDOW / 4 && missed > WINDOW / 16) grow();
    hitsBefore = hits;
    displaced = missed = 0;
  }

  private void grow() {
    Value[] old = places;
    bits++;
    places = new Value[stride << bits];
    gone = new int[2 << bits];
    for (int from = 0; from < old.length; from += stride) {
      if (old[from] != null) System.arraycopy(old, from, places, place(hashAt(old, from)), stride);
    }
  }

  @Override
  public String toString() {
    return String.format("%-44s %12d hits %11d misses 2^%d%s", name, hits, misses, bits, off ? " off" : "");
  }

  // Keys.

  /** Value of a function at an argument, or {@link #NONE}. */
  public static Value at(Value function, Value at) {
    Value value = Functions.atOrNull(function, at);
    return value == null ? NONE : value;
  }

  /** A field of a record, or {@link #NONE}. */
  public static Value field(Records.Field field, Value value) {
    if (!(value instanceof Rec)) return NONE;
    int place = field.placeOrNegative(((Rec) value).names);
    return place < 0 ? NONE : ((Rec) value).values[place];
  }

  /** The memos of one worker, and the values that they share. */
  public static final class All {
    final Canon canon = new Canon();
    final List<Memo> memos = new ArrayList<>();

    public Memo memo(String name, int keys) {
      Memo made = new Memo(name, keys, canon);
      memos.add(made);
      return made;
    }
  }
}
