package org.apache.kafka.raft;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.Strictness;
import com.google.gson.ToNumberPolicy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON objects as maps in their order, with whole numbers as Longs: a double would lose offsets above 2^53. */
public final class Json {
    private static final Gson GSON = new GsonBuilder()
            .setStrictness(Strictness.STRICT)
            .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE)
            .serializeNulls()
            .disableHtmlEscaping()
            .create();

    private Json() {}

    public static Map<String, Object> parse(String line) {
        return asObject(GSON.fromJson(line, Object.class));
    }

    public static String write(Map<String, Object> object) {
        return GSON.toJson(object);
    }

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
        throw new IllegalArgumentException("expected a JSON object: " + value);
    }

    @SuppressWarnings("unchecked")
    public static List<Object> list(Map<String, Object> object, String name) {
        return field(object, name, List.class, "an array");
    }

    public static long integer(Map<String, Object> object, String name) {
        return field(object, name, Long.class, "a whole number");
    }

    public static String text(Map<String, Object> object, String name) {
        return field(object, name, String.class, "a text");
    }

    /** A text, or null for null and for a field that is not there. */
    public static String textOrNull(Map<String, Object> object, String name) {
        return object.get(name) == null ? null : text(object, name);
    }

    public static boolean flag(Map<String, Object> object, String name) {
        return field(object, name, Boolean.class, "true or false");
    }

    private static <T> T field(Map<String, Object> object, String name, Class<T> type, String expected) {
        if (type.isInstance(object.get(name))) {
            return type.cast(object.get(name));
        }
        throw new IllegalArgumentException(name + ": expected " + expected);
    }
}
