package kraftexplorer;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** A set of 64-bit fingerprints: open addressing, in segments that grow one by one. */
final class Fingerprints {
  private static final int SEGMENTS = 256;
  private static final double FULL = 0.8, GROWTH = 1.5;

  private static final class Segment {
    long[] places = new long[1 << 8];
    int size;

    /** Monotonic in the upper half of the fingerprint, for any length. */
    int place(long fingerprint) { return (int) ((fingerprint >>> 32) * places.length >>> 32); }

    synchronized boolean add(long fingerprint) {
      if (!insert(fingerprint)) return false;
      if (++size > places.length * FULL) grow();
      return true;
    }

    private boolean insert(long fingerprint) {
      int place = place(fingerprint);
      while (places[place] != 0) {
        if (places[place] == fingerprint) return false;
        if (++place == places.length) place = 0;
      }
      places[place] = fingerprint;
      return true;
    }

    private void grow() {
      long[] old = places;
      places = new long[(int) Math.min(Integer.MAX_VALUE - 8, (long) (old.length * GROWTH))];
      for (long kept : old) if (kept != 0) insert(kept);
    }
  }

  private final Segment[] segments = new Segment[SEGMENTS];

  Fingerprints() {
    for (int i = 0; i < SEGMENTS; i++) segments[i] = new Segment();
  }

  /** Adds a fingerprint that is not 0; false if it was there. */
  boolean add(long fingerprint) { return segments[(int) fingerprint & SEGMENTS - 1].add(fingerprint); }

  long size() {
    long all = 0;
    for (Segment segment : segments) all += segment.size;
    return all;
  }

  void write(DataOutputStream out) throws IOException {
    for (Segment segment : segments) {
      out.writeInt(segment.places.length);
      out.writeInt(segment.size);
      for (long kept : segment.places) if (kept != 0) out.writeLong(kept);
    }
  }

  void read(DataInputStream in) throws IOException {
    for (Segment segment : segments) {
      segment.places = new long[in.readInt()];
      segment.size = in.readInt();
      for (int i = 0; i < segment.size; i++) segment.insert(in.readLong());
    }
  }
}
