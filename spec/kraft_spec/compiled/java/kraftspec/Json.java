package kraftspec;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
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

  /** @throws Declined it does not hold */
  static void require(boolean holds, String otherwise) {
    if (!holds) throw new Declined(otherwise);
  }

  /** An object: few fields, looked up one after the other by their names, each of which is one object (interned). */
  static final class Fields {
    final String[] names;
    final Object[] values;
    final int size;
    /** Where the search begins: mostly the fields are asked for in their order. */
    private int next;

    private Fields(String[] names, Object[] values) {
      this.names = names;
      this.values = values;
      size = names.length;
    }

    /** An object with these fields; the names are literals. */
    static Fields of(String[] names, Object... values) { return new Fields(names, values); }

    /** The value of a field; null if it is not there. */
    Object get(String name) {
      for (int i = next; i < size; i++) if (names[i] == name) return values[(next = i + 1) - 1];
      for (int i = 0; i < next; i++) if (names[i] == name) return values[(next = i + 1) - 1];
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

    /** An object with another value for a field that is there. */
    Fields with(String name, Object value) {
      Fields copy = new Fields(names, values.clone());
      copy.set(name, value);
      return copy;
    }

    /** Is every field of this one in the other, with the same value? */
    boolean isIn(Fields other) {
      for (int i = 0; i < size; i++) if (!same(values[i], other.get(names[i]))) return false;
      return true;
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

  /** The names of an object up to one of its fields, which objects in the same place of lines have in common. */
  private final class Names {
    final String[] names;
    /** The last of them as it is written, with the mark that ends it. */
    final byte[] written;
    private final Map<String, Names> longer = new HashMap<>();
    /** Of these the one that was there last. */
    Names usual = this;
    private Names within;

    Names(String... names) {
      this.names = names;
      written = names.length == 0 ? new byte[0] : (names[names.length - 1] + '"').getBytes(StandardCharsets.US_ASCII);
      objects++;
    }

    /** With one more field. */
    Names with(String name) {
      Names found = longer.get(name);
      if (found == null) {
        if (names.length == NAMES_MAX || Arrays.asList(names).contains(name)) {
          throw new Declined("a field twice, or too many");
        }
        String[] more = Arrays.copyOf(names, names.length + 1);
        more[names.length] = name.intern();
        longer.put(more[names.length], found = new Names(more));
      }
      return usual = found;
    }

    /** No names yet: of objects that are the value of the last field, or in it. */
    Names within() { return within == null ? within = new Names() : within; }
  }

  private static final int DEPTH_MAX = 16;
  private static final int NAMES_MAX = 64;
  private static final int OBJECTS_MAX = 1 << 14;

  private final Words texts = new Words(1 << 14);
  private Names first = new Names();
  private int objects;
  private byte[] bytes;
  private int at;
  private int end;

  /** The value of a line, after which nothing but space is left. */
  Object parse(byte[] given, int from, int to) {
    bytes = given;
    at = from;
    end = to;
    if (objects > OBJECTS_MAX) {
      objects = 0;
      first = new Names();
    }
    Object value = value(0, first);
    space();
    if (at != end && bytes[at] != '\n') throw new Declined("more than one value");
    return value;
  }

  /** Where that line ends. */
  int end() { return at; }

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

  private static boolean isSpace(byte one) { return one == ' ' || one == '\t' || one == '\r'; }

  private byte next() {
    if (at == end) throw new Declined("the line stops");
    return bytes[at++];
  }

  private Object value(int depth, Names within) {
    if (depth > DEPTH_MAX) throw new Declined("nested deeply");
    space();
    byte first = next();
    switch (first) {
      case '{': return object(depth, within);
      case '[': return array(depth, within);
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

  private Object[] array(int depth, Names within) {
    Object[] found = new Object[4];
    int size = 0;
    space();
    if (at < end && bytes[at] == ']') {
      at++;
      return new Object[0];
    }
    while (true) {
      if (size == found.length) found = Arrays.copyOf(found, 2 * size);
      found[size++] = value(depth + 1, within);
      space();
      byte after = next();
      if (after == ']') return Arrays.copyOf(found, size);
      if (after != ',') throw new Declined("no array");
    }
  }

  private Fields object(int depth, Names names) {
    Object[] found = new Object[8];
    space();
    if (at < end && bytes[at] == '}') {
      at++;
      return new Fields(names.names, found);
    }
    while (true) {
      space();
      if (next() != '"') throw new Declined("no name of a field");
      int size = names.names.length, to = at + names.usual.written.length;
      if (names.usual != names && to <= end && Arrays.equals(names.usual.written, 0, to - at, bytes, at, to)) {
        names = names.usual;
        at = to;
      } else names = names.with(string());
      space();
      if (next() != ':') throw new Declined("no field");
      if (size == found.length) found = Arrays.copyOf(found, 2 * size);
      found[size] = value(depth + 1, names.within());
      space();
      byte after = next();
      if (after == '}') return new Fields(names.names, found);
      if (after != ',') throw new Declined("no object");
    }
  }

  private String string() {
    int from = at, to = at, hash = 1;
    while (true) {
      if (to == end) throw new Declined("the line stops");
      byte one = bytes[to++];
      if (one == '"') break;
      if (one < ' ' || one == '\\') throw new Declined("an escape, a control character, or a letter that is not ASCII");
      hash = 31 * hash + one;
    }
    at = to;
    return texts.word(bytes, from, to - 1, hash);
  }

  /** Strings, most of them made once: the same names and ids come back in every line. */
  private static final class Words {
    private final String[] texts;
    private final byte[][] written;

    /** {@code size} is a power of 2. */
    Words(int size) {
      texts = new String[size];
      written = new byte[size][];
    }

    /** The newest word of a place is kept. */
    String word(byte[] bytes, int from, int to, int hash) {
      int place = (hash ^ hash >>> 16) & texts.length - 1;
      byte[] word = written[place];
      if (word != null && Arrays.equals(word, 0, word.length, bytes, from, to)) return texts[place];
      written[place] = Arrays.copyOfRange(bytes, from, to);
      return texts[place] = new String(written[place], StandardCharsets.US_ASCII);
    }
  }
}
