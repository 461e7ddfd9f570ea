package org.apache.kafka.raft;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Fields and methods of Kafka's that are private, or that only some releases have. */
final class Fields {
    private Fields() {}

    /** The value of the first of these fields that there is, in a class or above it; null if there is none. */
    static Object get(Object object, String... names) {
        for (String name : names) {
            Field field = find(object.getClass(), name);
            if (field != null) {
                try {
                    return field.get(object);
                } catch (IllegalAccessException error) {
                    throw new IllegalStateException(error);
                }
            }
        }
        return null;
    }

    static void set(Object object, String name, Object value) {
        try {
            find(object.getClass(), name).set(object, value);
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
        }
    }

    private static Field find(Class<?> type, String name) {
        for (Class<?> one = type; one != null; one = one.getSuperclass()) {
            for (Field field : one.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field;
                }
            }
        }
        return null;
    }

    static boolean hasMethod(Class<?> type, String name) {
        return method(type, name) != null;
    }

    /**
     * Call a method that no other method of the class shares its name with.
     *
     * @throws RuntimeException what the method throws
     */
    static Object call(Object object, String name, Object... arguments) {
        try {
            return method(object.getClass(), name).invoke(object, arguments);
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof RuntimeException error) {
                throw error;
            }
            throw new IllegalStateException(thrown.getCause());
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
        }
    }

    private static Method method(Class<?> type, String name) {
        for (Method method : type.getDeclaredMethods()) {
            if (method.getName().equals(name) && !method.isBridge()) {
                method.setAccessible(true);
                return method;
            }
        }
        return null;
    }
}
