package kraft.agent;

import java.util.Map;

/** One line of a file: a JSON object that grows field by field. */
final class Line {
    private final StringBuilder text = new StringBuilder(256).append('{');

    Line(String kind) {
        put("kind", kind);
    }

    /** Add a field: text, a number, a boolean, null, or a map or list of these. */
    Line put(String name, Object value) {
        if (text.length() > 1) {
            text.append(',');
        }
        write(name);
        text.append(':');
        write(value);
        return this;
    }

    /** Return a value as the text of JSON, which `put` then writes as it is. */
    static Object json(Object value) {
        Line line = new Line("");
        line.text.setLength(0);
        line.write(value);
        return new Ready(line.text.toString());
    }

    private static final class Ready {
        final String text;

        Ready(String text) {
            this.text = text;
        }
    }

    String end() {
        return text.append("}\n").toString();
    }

    private void write(Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            text.append(value);
        } else if (value instanceof Ready) {
            text.append(((Ready) value).text);
        } else if (value instanceof Map) {
            char before = '{';
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                text.append(before);
                write(entry.getKey().toString());
                text.append(':');
                write(entry.getValue());
                before = ',';
            }
            text.append(before == '{' ? "{}" : "}");
        } else if (value instanceof Iterable) {
            char before = '[';
            for (Object item : (Iterable<?>) value) {
                text.append(before);
                write(item);
                before = ',';
            }
            text.append(before == '[' ? "[]" : "]");
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
