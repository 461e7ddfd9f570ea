package kraftspec;

import java.nio.charset.StandardCharsets;

/**
 * JSON as the fast path reads it: what a line of a trace usually is, and nothing else.
 *
 * <p>A value is a {@code Long}, a {@code Boolean}, a {@code String}, {@link #NULL}, an {@code Object[]} or {@link
 * Fields}. Everything that is unusual (a fraction, an exponent, a name twice, a control character, bytes that are not
 * UTF-8, deep nesting) is {@link Declined}: another reader says what it is, and whether it is wrong.
 */
final class Json {
  /** The value null. */
  static final Object NULL = new Object();

  /** The line goes another way. */
  static final class Declined extends RuntimeException {
    Declined(String why) {
      super(why, null, false, false);
    }
  }

  /** @throws Declined it does not hold */
  static void require(boolean holds, String otherwise) {
    if (!holds) throw new Declined(otherwise);
  }

  /** An object: few fields, looked up one after the other by their names, each of which is one object (interned). */
  static final class Fields {
    private static final int NAMES_MAX = 64;
    String[] names = new String[8];
    Object[] values = new Object[8];
    int size;

    /** The value of a field; null if it is not there. */
    Object get(String name) {
      for (int i = 0; i < size; i++) if (names[i] == name) return values[i];
      return null;
    }

    /** Another value for a field that is there. */
    void set(String name, Object value) {
      for (int i = 0; i < size; i++) {
        if (names[i] == name) {
          values[i] = value;
          return;
        }
      }
    }

    /** Is every field of this one in the other, with the same value? */
    boolean isIn(Fields other) {
      for (int i = 0; i < size; i++) if (!same(values[i], other.get(names[i]))) return false;
      return true;
    }

    private void put(String name, Object value) {
      if (size == NAMES_MAX || get(name) != null) throw new Declined("a field twice, or too many");
      if (size == names.length) {
        names = java.util.Arrays.copyOf(names, 2 * size);
        values = java.util.Arrays.copyOf(values, 2 * size);
      }
      names[size] = name;
      values[size++] = value;
    }

    /** Equal are objects with the same fields, in whatever order. */
    @Override
    public boolean equals(Object other) {
      if (!(other instanceof Fields) || ((Fields) other).size != size) return false;
      for (int i = 0; i < size; i++) if (!same(values[i], ((Fields) other).get(names[i]))) return false;
      return true;
    }

    @Override
    public int hashCode() {
      return size;
    }
  }

  private static final int DEPTH_MAX = 16;

  private final Words names = new Words(1 << 10, true);
  private final Words texts = new Words(1 << 14, false);
  private byte[] bytes;
  private int at;
  private int end;

  /** The value of a line, of which nothing but space is left. */
  Object parse(byte[] given, int from, int to) {
    bytes = given;
    at = from;
    end = to;
    Object value = value(0);
    space();
    if (at != end) throw new Declined("more than one value");
    return value;
  }

  /** Are two values the same? */
  static boolean same(Object one, Object other) {
    if (one == other) return true;
    if (one instanceof Object[] && other instanceof Object[]) {
      Object[] a = (Object[]) one, b = (Object[]) other;
      if (a.length != b.length) return false;
      for (int i = 0; i < a.length; i++) if (!same(a[i], b[i])) return false;
      return true;
    }
    return one != null && one.equals(other);
  }

  /** The text of a value that was read. */
  static void write(Object value, StringBuilder text) {
    if (value == NULL) text.append("null");
    else if (value instanceof String) text.append('"').append(value).append('"');
    else if (value instanceof Object[]) {
      text.append('[');
      Object[] parts = (Object[]) value;
      for (int i = 0; i < parts.length; i++) {
        if (i > 0) text.append(',');
        write(parts[i], text);
      }
      text.append(']');
    } else if (value instanceof Fields) {
      Fields fields = (Fields) value;
      text.append('{');
      for (int i = 0; i < fields.size; i++) {
        if (i > 0) text.append(',');
        text.append('"').append(fields.names[i]).append("\":");
        write(fields.values[i], text);
      }
      text.append('}');
    } else text.append(value);
  }

  private void space() {
    while (at < end && bytes[at] <= ' ' && isSpace(bytes[at])) at++;
  }

  private static boolean isSpace(byte one) { return one == ' ' || one == '\t' || one == '\n' || one == '\r'; }

  private byte next() {
    if (at == end) throw new Declined("the line stops");
    return bytes[at++];
  }

  private Object value(int depth) {
    if (depth > DEPTH_MAX) throw new Declined("nested deeply");
    space();
    byte first = next();
    switch (first) {
      case '{': return object(depth);
      case '[': return array(depth);
      case '"': return string(texts);
      case 't': return literal("rue", Boolean.TRUE);
      case 'f': return literal("alse", Boolean.FALSE);
      case 'n': return literal("ull", NULL);
      default: return number(first);
    }
  }

  private Object literal(String rest, Object value) {
    for (int i = 0; i < rest.length(); i++) if (next() != rest.charAt(i)) throw new Declined("no value");
    return value;
  }

  private Long number(byte first) {
    boolean negative = first == '-';
    if (negative) first = next();
    if (first < '0' || first > '9') throw new Declined("no value");
    long number = first - '0';
    int from = at, to = at;
    while (to < end && isDigit(bytes[to])) number = 10 * number + (bytes[to++] - '0');
    at = to;
    if (to > from && first == '0') throw new Declined("a number that begins with 0");
    if (to - from > 17) throw new Declined("a large number");
    if (to < end && (bytes[to] == '.' || bytes[to] == 'e' || bytes[to] == 'E')) throw new Declined("a fraction or exponent");
    if (negative && number == 0) throw new Declined("a negative 0");
    return negative ? -number : number;
  }

  private static boolean isDigit(byte one) { return '0' <= one && one <= '9'; }

  private Object[] array(int depth) {
    Object[] found = new Object[4];
    int size = 0;
    space();
    if (at < end && bytes[at] == ']') {
      at++;
      return new Object[0];
    }
    while (true) {
      if (size == found.length) found = java.util.Arrays.copyOf(found, 2 * size);
      found[size++] = value(depth + 1);
      space();
      byte after = next();
      if (after == ']') return java.util.Arrays.copyOf(found, size);
      if (after != ',') throw new Declined("no array");
    }
  }

  private Fields object(int depth) {
    Fields found = new Fields();
    space();
    if (at < end && bytes[at] == '}') {
      at++;
      return found;
    }
    while (true) {
      space();
      if (next() != '"') throw new Declined("no name of a field");
      String name = string(names);
      space();
      if (next() != ':') throw new Declined("no field");
      found.put(name, value(depth + 1));
      space();
      byte after = next();
      if (after == '}') return found;
      if (after != ',') throw new Declined("no object");
    }
  }

  private String string(Words words) {
    int from = at, to = at, hash = 1;
    while (true) {
      if (to == end) throw new Declined("the line stops");
      byte one = bytes[to++];
      if (one == '"') break;
      if (one < ' ' || one == '\\') throw new Declined("an escape, a control character, or a letter that is not ASCII");
      hash = 31 * hash + one;
    }
    at = to;
    return words.word(bytes, from, to - 1, hash);
  }

  /** Strings, most of them made once: the same names and ids come back in every line. */
  private static final class Words {
    private final String[] texts;
    private final byte[][] written;

    private final boolean interned;

    /** {@code size} is a power of 2. */
    Words(int size, boolean interned) {
      this.interned = interned;
      texts = new String[size];
      written = new byte[size][];
    }

    /** The newest word of a place is kept. */
    String word(byte[] bytes, int from, int to, int hash) {
      int place = (hash ^ hash >>> 16) & texts.length - 1;
      if (written[place] != null && isThis(written[place], bytes, from, to)) return texts[place];
      written[place] = java.util.Arrays.copyOfRange(bytes, from, to);
      String text = new String(written[place], StandardCharsets.US_ASCII);
      return texts[place] = interned ? text.intern() : text;
    }

    private static boolean isThis(byte[] word, byte[] bytes, int from, int to) {
      if (word.length != to - from) return false;
      for (int i = 0; i < word.length; i++) if (word[i] != bytes[from + i]) return false;
      return true;
    }
  }
}
