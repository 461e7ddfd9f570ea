package adapter;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A small JSON reader and writer.
 *
 * <p>An object is a Map in its order, an array a List, a whole number of 64 bits a Long, any other number a
 * BigDecimal; nothing goes through a double, which would lose offsets above 2^53.
 */
public final class Json {
    private static final int DEPTH_MAX = 500;

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    // ---- Building and taking apart. ----------------------------------------------------------------------

    /** An object of names and values in turn. */
    public static Map<String, Object> object(Object... namesAndValues) {
        Map<String, Object> made = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            made.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return made;
    }

    @SuppressWarnings("unchecked")
    public static Map<String, Object> asObject(Object value) {
        if (value instanceof Map) {
            return (Map<String, Object>) value;
        }
        throw new IllegalArgumentException("expected a JSON object: " + write(value));
    }

    @SuppressWarnings("unchecked")
    public static List<Object> list(Map<String, Object> object, String name) {
        if (object.get(name) instanceof List) {
            return (List<Object>) object.get(name);
        }
        throw new IllegalArgumentException(name + ": expected an array");
    }

    public static long integer(Map<String, Object> object, String name) {
        if (object.get(name) instanceof Long number) {
            return number;
        }
        throw new IllegalArgumentException(name + ": expected a whole number");
    }

    /** A text, or null for null and for a field that is not there. */
    public static String text(Map<String, Object> object, String name) {
        Object value = object.get(name);
        if (value == null || value instanceof String) {
            return (String) value;
        }
        throw new IllegalArgumentException(name + ": expected a text");
    }

    public static boolean flag(Map<String, Object> object, String name) {
        if (object.get(name) instanceof Boolean flag) {
            return flag;
        }
        throw new IllegalArgumentException(name + ": expected true or false");
    }

    // ---- Reading. ----------------------------------------------------------------------------------------

    /** Raises IllegalArgumentException, which names the place, for anything that is not one JSON value. */
    public static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.skipSpaces();
        if (json.at < text.length()) {
            throw json.wrong("nothing more");
        }
        return value;
    }

    private IllegalArgumentException wrong(String expected) {
        return new IllegalArgumentException("column " + (at + 1) + ": expected " + expected);
    }

    private char peek() {
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private void skipSpaces() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') {
            at++;
        }
    }

    private boolean took(String word) {
        if (!text.startsWith(word, at)) {
            return false;
        }
        at += word.length();
        return true;
    }

    private void take(String word) {
        if (!took(word)) {
            throw wrong(word);
        }
    }

    private Object value() {
        skipSpaces();
        if (peek() == '{' || peek() == '[') {
            if (++depth > DEPTH_MAX) {
                throw wrong("at most " + DEPTH_MAX + " values inside of each other");
            }
            Object nested = peek() == '{' ? members() : elements();
            depth--;
            return nested;
        }
        if (peek() == '"') {
            return string();
        }
        if (took("true")) {
            return true;
        }
        if (took("false")) {
            return false;
        }
        if (took("null")) {
            return null;
        }
        return number();
    }

    private Map<String, Object> members() {
        Map<String, Object> members = new LinkedHashMap<>();
        take("{");
        skipSpaces();
        if (took("}")) {
            return members;
        }
        do {
            skipSpaces();
            String name = string();
            skipSpaces();
            take(":");
            members.put(name, value());
            skipSpaces();
        } while (took(","));
        take("}");
        return members;
    }

    private List<Object> elements() {
        List<Object> elements = new ArrayList<>();
        take("[");
        skipSpaces();
        if (took("]")) {
            return elements;
        }
        do {
            elements.add(value());
            skipSpaces();
        } while (took(","));
        take("]");
        return elements;
    }

    private String string() {
        take("\"");
        StringBuilder read = new StringBuilder();
        while (peek() != '"') {
            if (at >= text.length() || peek() < ' ') {
                throw wrong("the end of a text");
            }
            read.append(peek() == '\\' ? escaped() : text.charAt(at++));
        }
        at++;
        for (int i = 0; i < read.length(); i += Character.charCount(read.codePointAt(i))) {
            int point = read.codePointAt(i);
            if (point <= 0xffff && Character.isSurrogate((char) point)) {
                throw wrong("both halves of a surrogate pair");
            }
        }
        return read.toString();
    }

    private char escaped() {
        at++;
        char letter = peek();
        at++;
        return switch (letter) {
            case '"', '\\', '/' -> letter;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                int unit = 0;
                for (int i = 0; i < 4; i++) {
                    int digit = peek() < 128 ? Character.digit(peek(), 16) : -1;
                    if (digit < 0) {
                        throw wrong("four hexadecimal digits");
                    }
                    unit = unit * 16 + digit;
                    at++;
                }
                yield (char) unit;
            }
            default -> throw wrong("an escape of JSON");
        };
    }

    private Object number() {
        int start = at;
        took("-");
        if (!took("0")) {
            digits();
        }
        int whole = at;
        if (took(".")) {
            digits();
        }
        if (took("e") || took("E")) {
            if (!took("+")) {
                took("-");
            }
            digits();
        }
        String shown = text.substring(start, at);
        try {
            return at == whole && shown.length() < 20 ? (Object) Long.valueOf(shown) : new BigDecimal(shown);
        } catch (NumberFormatException outOfRange) {
            return new BigDecimal(shown);
        }
    }

    private void digits() {
        if (peek() < '0' || peek() > '9') {
            throw wrong("a value");
        }
        while (peek() >= '0' && peek() <= '9') {
            at++;
        }
    }

    // ---- Writing. ----------------------------------------------------------------------------------------

    /** The value on one line, without spaces. */
    public static String write(Object value) {
        StringBuilder written = new StringBuilder();
        write(value, written);
        return written.toString();
    }

    private static void write(Object value, StringBuilder written) {
        if (value instanceof String string) {
            quote(string, written);
        } else if (value instanceof Map<?, ?> members) {
            char before = '{';
            for (Map.Entry<?, ?> member : members.entrySet()) {
                written.append(before);
                quote((String) member.getKey(), written);
                written.append(':');
                write(member.getValue(), written);
                before = ',';
            }
            written.append(members.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> elements) {
            char before = '[';
            for (Object element : elements) {
                written.append(before);
                write(element, written);
                before = ',';
            }
            written.append(elements.isEmpty() ? "[]" : "]");
        } else if (value == null || value instanceof Boolean || value instanceof Number) {
            written.append(value);
        } else {
            throw new IllegalArgumentException("no JSON value: " + value.getClass());
        }
    }

    private static void quote(String string, StringBuilder written) {
        written.append('"');
        for (int i = 0; i < string.length(); i++) {
            char letter = string.charAt(i);
            if (letter == '"' || letter == '\\') {
                written.append('\\').append(letter);
            } else if (letter < ' ') {
                written.append(String.format("\\u%04x", (int) letter));
            } else {
                written.append(letter);
            }
        }
        written.append('"');
    }
}
