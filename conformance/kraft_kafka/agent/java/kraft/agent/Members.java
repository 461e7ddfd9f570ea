package kraft.agent;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/** Fields and methods of Kafka's objects by name, because one jar serves all releases. */
final class Members {
    private static final int PARAMETERS_MAX = 6;
    private static final Map<Class<?>, Members> OF_CLASSES = new ConcurrentHashMap<>();

    private final Map<String, Optional<Field>> fields = new ConcurrentHashMap<>();
    /** By their number of parameters. */
    private final List<Map<String, Optional<Method>>> methods = new ArrayList<>();

    private Members() {
        for (int parameters = 0; parameters <= PARAMETERS_MAX; parameters++) {
            methods.add(new ConcurrentHashMap<>());
        }
    }

    /** Call a method; of several with the name, one with this number of parameters. */
    static Object call(Object object, String name, Object... arguments) {
        Method method = method(object.getClass(), name, arguments.length)
                .orElseThrow(() -> new IllegalStateException(object.getClass().getName() + " has no method " + name));
        try {
            return method.invoke(object, arguments);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(object.getClass().getName() + "." + name, failure);
        }
    }

    static boolean has(Object object, String method, int parameters) {
        return method(object.getClass(), method, parameters).isPresent();
    }

    static Object get(Object object, String name) {
        Field field = field(object.getClass(), name)
                .orElseThrow(() -> new IllegalStateException(object.getClass().getName() + " has no field " + name));
        try {
            return field.get(object);
        } catch (IllegalAccessException failure) {
            throw new IllegalStateException(object.getClass().getName() + "." + name, failure);
        }
    }

    static boolean hasField(Object object, String name) {
        return field(object.getClass(), name).isPresent();
    }

    static int integer(Object object, String method, Object... arguments) {
        return ((Number) call(object, method, arguments)).intValue();
    }

    static long number(Object object, String method, Object... arguments) {
        return ((Number) call(object, method, arguments)).longValue();
    }

    /** Return the content of an optional, or null. */
    static Object content(Object optional) {
        if (optional instanceof OptionalInt) {
            OptionalInt number = (OptionalInt) optional;
            return number.isPresent() ? (Object) number.getAsInt() : null;
        }
        if (optional instanceof OptionalLong) {
            OptionalLong number = (OptionalLong) optional;
            return number.isPresent() ? (Object) number.getAsLong() : null;
        }
        return ((Optional<?>) optional).orElse(null);
    }

    /** True if a field of the object is this very value. */
    static boolean holds(Object object, Object value) throws IllegalAccessException {
        for (Class<?> at = object.getClass(); at != null && at != Object.class; at = at.getSuperclass()) {
            for (Field declared : at.getDeclaredFields()) {
                Optional<Field> field = declared.getType().isPrimitive() ? Optional.empty() : field(at, declared.getName());
                if (field.isPresent() && !java.lang.reflect.Modifier.isStatic(declared.getModifiers())
                        && field.get().get(object) == value) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Return a copy of a message with empty records for missing ones: a refusal has none, and cannot be written so. */
    static Object copyWithRecords(Object message) throws ReflectiveOperationException {
        Object copy = message.getClass().getConstructor().newInstance();
        for (Field declared : message.getClass().getDeclaredFields()) {
            if (java.lang.reflect.Modifier.isStatic(declared.getModifiers())) {
                continue;
            }
            declared.setAccessible(true);
            Object content = declared.get(message);
            if (content instanceof List) {
                List<Object> copies = new ArrayList<>();
                for (Object element : (List<?>) content) {
                    copies.add(isMessage(element) ? copyWithRecords(element) : element);
                }
                content = copies;
            } else if (content == null && declared.getName().equals("unalignedRecords")) {
                String records = declared.getType().getPackage().getName() + ".MemoryRecords";
                content = declared.getType().getClassLoader().loadClass(records).getField("EMPTY").get(null);
            }
            declared.set(copy, content);
        }
        return copy;
    }

    private static boolean isMessage(Object object) {
        return object.getClass().getName().startsWith("org.apache.kafka.common.message.");
    }

    private static Members of(Class<?> type) {
        Members members = OF_CLASSES.get(type);
        return members != null ? members : OF_CLASSES.computeIfAbsent(type, it -> new Members());
    }

    private static Optional<Method> method(Class<?> type, String name, int parameters) {
        Map<String, Optional<Method>> methods = of(type).methods.get(parameters);
        Optional<Method> method = methods.get(name);
        return method != null ? method : methods.computeIfAbsent(name, it -> findMethod(type, it, parameters));
    }

    private static Optional<Method> findMethod(Class<?> type, String name, int parameters) {
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            for (Method method : at.getDeclaredMethods()) {
                if (method.getName().equals(name) && method.getParameterCount() == parameters && !method.isBridge()) {
                    method.setAccessible(true);
                    return Optional.of(method);
                }
            }
        }
        for (Method method : type.getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == parameters) {
                method.setAccessible(true);
                return Optional.of(method);
            }
        }
        return Optional.empty();
    }

    private static Optional<Field> field(Class<?> type, String name) {
        Map<String, Optional<Field>> fields = of(type).fields;
        Optional<Field> field = fields.get(name);
        return field != null ? field : fields.computeIfAbsent(name, it -> findField(type, it));
    }

    private static Optional<Field> findField(Class<?> type, String name) {
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            for (Field field : at.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return Optional.of(field);
                }
            }
        }
        return Optional.empty();
    }
}
