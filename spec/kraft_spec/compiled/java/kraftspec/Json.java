package kraftspec;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

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

  /** An object: few fields, looked up by name one after the other. */
  static final class Fields {
    private static final int NAMES_MAX = 64;
    String[] names = new String[8];
    Object[] values = new Object[8];
    int size;

    /** The value of a field; null if it is not there. */
    Object get(String name) {
      for (int i = 0; i < size; i++) if (names[i].equals(name)) return values[i];
      return null;
    }

    /** Another value for a field that is there. */
    void set(String name, Object value) {
      for (int i = 0; i < size; i++) {
        if (names[i].equals(name)) {
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
  private static final int WORDS_MAX = 50_000;

  private final Map<Word, String> words = new HashMap<>();
  private final Word looked = new Word();
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
    while (at < end && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\n' || bytes[at] == '\r')) at++;
  }

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
      case '"': return string();
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
    int digits = 1;
    while (at < end && bytes[at] >= '0' && bytes[at] <= '9') {
      if (number == 0 && digits == 1) throw new Declined("a number that begins with 0");
      number = 10 * number + (bytes[at++] - '0');
      if (++digits > 18) throw new Declined("a large number");
    }
    if (at < end && (bytes[at] == '.' || bytes[at] == 'e' || bytes[at] == 'E')) throw new Declined("a fraction or exponent");
    if (negative && number == 0) throw new Declined("a negative 0");
    return negative ? -number : number;
  }

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
      String name = string();
      space();
      if (next() != ':') throw new Declined("no field");
      found.put(name, value(depth + 1));
      space();
      byte after = next();
      if (after == '}') return found;
      if (after != ',') throw new Declined("no object");
    }
  }

  /** A string, each word once: the same names and ids come back in every line. */
  private String string() {
    int from = at;
    while (true) {
      byte one = next();
      if (one == '"') break;
      if (one == '\\' || (one >= 0 && one < ' ')) throw new Declined("an escape or a control character");
      if (one < 0) throw new Declined("a letter that is not ASCII");
    }
    looked.set(bytes, from, at - 1);
    String known = words.get(looked);
    if (known == null) {
      known = new String(bytes, from, at - 1 - from, StandardCharsets.US_ASCII);
      if (words.size() < WORDS_MAX) words.put(new Word(looked), known);
    }
    return known;
  }

  /** Some bytes, as a key. */
  private static final class Word {
    private byte[] bytes;
    private int from;
    private int to;
    private int hash;

    Word() {}

    Word(Word other) {
      bytes = java.util.Arrays.copyOfRange(other.bytes, other.from, other.to);
      to = bytes.length;
      hash = other.hash;
    }

    void set(byte[] given, int begin, int end) {
      bytes = given;
      from = begin;
      to = end;
      int made = 1;
      for (int i = begin; i < end; i++) made = 31 * made + given[i];
      hash = made;
    }

    @Override
    public int hashCode() {
      return hash;
    }

    @Override
    public boolean equals(Object other) {
      Word word = (Word) other;
      return hash == word.hash && java.util.Arrays.equals(bytes, from, to, word.bytes, word.from, word.to);
    }
  }
}
