package kraftexplorer;

import java.util.Arrays;

/** A growing array of numbers, seven bits a byte. */
final class Bytes {
  byte[] bytes;
  int size;
  private int at;

  Bytes() { bytes = new byte[1 << 12]; }

  Bytes(byte[] read) {
    bytes = read;
    size = read.length;
  }

  void put(long number) {
    if (size + 10 > bytes.length) bytes = Arrays.copyOf(bytes, bytes.length * 2);
    long left = number;
    for (; left > 127; left >>>= 7) bytes[size++] = (byte) (left & 127 | 128);
    bytes[size++] = (byte) left;
  }

  int next() { return (int) nextLong(); }

  long nextLong() {
    long number = 0;
    for (int shift = 0; ; shift += 7) {
      byte one = bytes[at++];
      number |= (long) (one & 127) << shift;
      if (one >= 0) return number;
    }
  }

  void clear() {
    size = 0;
    at = 0;
  }
}
