package kraftexplorer;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The components that states consist of: the values of variables, and the elements of those that are sequences, functions
 * or sets. Each distinct one is kept once, with a number from 1, for the whole search.
 */
final class Components {
  private volatile AtomicReferenceArray<Value> table = new AtomicReferenceArray<>(1 << 12);
  private volatile Value[] byId = new Value[1 << 11];
  private int size = 1;

  /** The component that equals a value; the value itself becomes one if there is none. */
  Value of(Value value) {
    if (value.id != 0) return value;
    Value known = find(value);
    return known != null ? known : add(value);
  }

  /** The component that equals a value; null if there is none. */
  Value find(Value value) { return find(table, value); }

  Value get(int id) { return byId[id]; }

  synchronized int size() { return size - 1; }

  private static Value find(AtomicReferenceArray<Value> table, Value value) {
    int mask = table.length() - 1;
    for (int place = (int) value.hash() & mask; ; place = place + 1 & mask) {
      Value kept = table.get(place);
      if (kept == null || Value.equal(kept, value)) return kept;
    }
  }

  private static void insert(AtomicReferenceArray<Value> table, Value value) {
    int mask = table.length() - 1, place = (int) value.hash() & mask;
    while (table.get(place) != null) place = place + 1 & mask;
    table.set(place, value);
  }

  private synchronized Value add(Value value) {
    Value known = find(table, value);
    if (known != null) return known;
    if (size == byId.length) byId = Arrays.copyOf(byId, size * 2);
    byId[size] = value;
    value.id = size++;
    if (size * 2 > table.length()) {
      AtomicReferenceArray<Value> larger = new AtomicReferenceArray<>(table.length() * 2);
      for (int id = 1; id < size - 1; id++) insert(larger, byId[id]);
      insert(larger, value);
      table = larger;
    } else {
      insert(table, value);
    }
    return value;
  }
}
