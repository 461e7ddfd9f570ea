package kraft.agent;

import java.util.Base64;
import java.util.Map;

/** One line of a file: a JSON object that grows field by field. */
final class Line {
    private final StringBuilder text = new StringBuilder(512);

    Line(String kind) {
        text.append("{\"kind\":\"").append(kind).append('"');
    }

    /** Add a field: text, a number, a boolean, null, or a map or list of these; a name needs no escapes. */
    Line put(String name, Object value) {
        name(name);
        write(value);
        return this;
    }

    /** Add bytes in base64, or null. */
    Line bytes(String name, byte[] value) {
        name(name);
        if (value == null) {
            text.append("null");
        } else {
            text.append('"').append(Base64.getEncoder().encodeToString(value)).append('"');
        }
        return this;
    }

    /** Begin an object, whose fields are added until `close`. */
    Line open(String name) {
        name(name);
        text.append('{');
        return this;
    }

    Line close() {
        text.append('}');
        return this;
    }

    String end() {
        return text.append("}\n").toString();
    }

    private void name(String name) {
        if (text.charAt(text.length() - 1) != '{') {
            text.append(',');
        }
        text.append('"').append(name).append("\":");
    }

    private void write(Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            text.append(value);
        } else if (value instanceof Map) {
            text.append('{');
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                name(entry.getKey().toString());
                write(entry.getValue());
            }
            text.append('}');
        } else if (value instanceof Iterable) {
            char before = '[';
            for (Object item : (Iterable<?>) value) {
                text.append(before);
                write(item);
                before = ',';
            }
            text.append(before == '[' ? "[]" : "]");
        } else if (value instanceof byte[]) {
            text.append('"').append(Base64.getEncoder().encodeToString((byte[]) value)).append('"');
        } else {
            quote(value.toString());
        }
    }

    private void quote(String value) {
        text.append('"');
        for (int index = 0; index < value.length(); index++) {
            char letter = value.charAt(index);
            if (letter == '"' || letter == '\\') {
                text.append('\\').append(letter);
            } else if (letter < ' ') {
                text.append(String.format("\\u%04x", (int) letter));
            } else {
                text.append(letter);
            }
        }
        text.append('"');
    }
}
