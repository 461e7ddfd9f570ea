package kraft.agent;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Map;

/** Kafka's messages as fields of a line: those of the quorum are the bytes that Kafka itself makes of them. */
final class Messages {
    /** The messages that are written with their bytes, and the version in which: the newest that readers know. */
    private static final Map<String, Integer> VERSIONS = Map.of(
            "Vote", 2, "BeginQuorumEpoch", 1, "EndQuorumEpoch", 1, "Fetch", 17, "FetchSnapshot", 1,
            "AddRaftVoter", 1, "RemoveRaftVoter", 0, "UpdateRaftVoter", 0, "ApiVersions", 4);
    private static final String PROTOCOL = "org.apache.kafka.common.protocol.";
    private static final ClassValue<Messages> OF_CLASSES = new ClassValue<>() {
        @Override
        protected Messages computeValue(Class<?> type) {
            try {
                return new Messages(type);
            } catch (ReflectiveOperationException failure) {
                throw new IllegalStateException(type.getName(), failure);
            }
        }
    };

    private final String name;
    /** Null for a message outside the quorum's protocol. */
    private final Integer newest;
    private final boolean hasRecords;
    private final Class<?> writable;
    private final Class<?> accessor;
    private final Class<?> cache;

    private Messages(Class<?> type) throws ReflectiveOperationException {
        ClassLoader loader = type.getClassLoader();
        name = type.getSimpleName().replaceFirst("Data$", "");
        newest = VERSIONS.get(name.replaceFirst("(Request|Response)$", ""));
        hasRecords = name.equals("FetchResponse") || name.equals("FetchSnapshotResponse");
        writable = loader.loadClass(PROTOCOL + "Writable");
        accessor = loader.loadClass(PROTOCOL + "ByteBufferAccessor");
        cache = loader.loadClass(PROTOCOL + "ObjectSerializationCache");
    }

    /** Add a message to a line. */
    static void put(Line line, Object data) throws Exception {
        OF_CLASSES.get(data.getClass()).putMessage(line, data);
    }

    private void putMessage(Line line, Object data) throws Exception {
        line.open("message").put("name", name);
        if (newest != null) {
            int version = Math.min(newest, Members.integer(data, "highestSupportedVersion"));
            putBytes(line, data, version);
        }
        line.close();
    }

    private void putBytes(Line line, Object data, int newestVersion) throws Exception {
        for (int version = newestVersion, lowest = Members.integer(data, "lowestSupportedVersion"); ; version--) {
            try {
                Body body = body(data, (short) version);
                line.put("version", version).bytes("bytes", body.bytes());
                if (body.skipped > 0) {
                    line.put("skipped_at", body.skippedAt).put("skipped", body.skipped);
                }
                return;
            } catch (Exception failure) {
                // A request of an older version may have a field that newer ones dropped, such as Fetch's replica id.
                if (version == lowest || !isUnsupported(failure)) {
                    throw failure;
                }
            }
        }
    }

    private static boolean isUnsupported(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause.getClass().getSimpleName().equals("UnsupportedVersionException")) {
                return true;
            }
        }
        return false;
    }

    private Body body(Object data, short version) throws Exception {
        Object written = name.equals("FetchSnapshotResponse") ? Members.copyWithRecords(data) : data;
        Object sizes = cache.getConstructor().newInstance();
        ByteBuffer buffer = ByteBuffer.allocate(Members.integer(written, "size", sizes, version));
        Body body = new Body(buffer, accessor.getConstructor(ByteBuffer.class).newInstance(buffer));
        Object to = hasRecords
                ? Proxy.newProxyInstance(writable.getClassLoader(), new Class<?>[] {writable}, body)
                : body.accessor;
        Members.call(written, "write", to, sizes, version);
        return body;
    }

    /** The bytes of a message, a Writable of Kafka that leaves out records in a file: the log has them, or a snapshot. */
    private static final class Body implements InvocationHandler {
        final ByteBuffer buffer;
        final Object accessor;
        int skippedAt;
        int skipped;

        Body(ByteBuffer buffer, Object accessor) {
            this.buffer = buffer;
            this.accessor = accessor;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            if (!method.getName().equals("writeRecords")) {
                try {
                    return method.invoke(accessor, arguments);
                } catch (InvocationTargetException failure) {
                    throw failure.getCause();
                }
            }
            ByteBuffer records = Disk.buffer(arguments[0]);
            if (records != null) {
                buffer.put(records);
            } else {
                skippedAt = buffer.position();
                skipped = Members.integer(arguments[0], "sizeInBytes");
            }
            return null;
        }

        byte[] bytes() {
            return java.util.Arrays.copyOf(buffer.array(), buffer.position());
        }
    }
}
