package kraft.agent;

import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Kafka's objects as the values of a line: messages and records are the bytes that Kafka itself makes of them. */
final class Shown {
    /** The messages that are written with their bytes, and the version in which: the newest that readers know. */
    private static final Map<String, Integer> VERSIONS = Map.of(
            "Vote", 2, "BeginQuorumEpoch", 1, "EndQuorumEpoch", 1, "Fetch", 17, "FetchSnapshot", 1,
            "AddRaftVoter", 1, "RemoveRaftVoter", 0, "UpdateRaftVoter", 0, "ApiVersions", 4);
    private static final String PROTOCOL = "org.apache.kafka.common.protocol.";
    private static final String NO_DIRECTORY = "AAAAAAAAAAAAAAAAAAAAAA";
    private static final int LOG_BYTES_MAX = 16 << 20;

    private Shown() {}

    // ---- Messages. ----------------------------------------------------------------------------------------

    static Map<String, Object> message(Object data) throws Exception {
        Map<String, Object> shown = new LinkedHashMap<>();
        String name = data.getClass().getSimpleName().replaceFirst("Data$", "");
        shown.put("name", name);
        Integer version = VERSIONS.get(name.replaceFirst("(Request|Response)$", ""));
        if (version == null) {
            return shown;
        }
        version = Math.min(version, Members.integer(data, "highestSupportedVersion"));
        byte[] bytes = null;
        for (int lowest = Members.integer(data, "lowestSupportedVersion"); bytes == null; version--) {
            try {
                bytes = written(data, version.shortValue());
                shown.put("version", version);
            } catch (Exception failure) {
                // A request of an older version may have a field that newer ones dropped, such as Fetch's replica id.
                if (version == lowest || !isUnsupported(failure)) {
                    throw failure;
                }
            }
        }
        shown.put("bytes", base64(bytes));
        return shown;
    }

    private static boolean isUnsupported(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause.getClass().getSimpleName().equals("UnsupportedVersionException")) {
                return true;
            }
        }
        return false;
    }

    private static byte[] written(Object data, short version) throws Exception {
        ClassLoader loader = data.getClass().getClassLoader();
        if (data.getClass().getSimpleName().equals("FetchSnapshotResponseData")) {
            data = Members.copyWithRecords(data);
        }
        Object cache = loader.loadClass(PROTOCOL + "ObjectSerializationCache").getConstructor().newInstance();
        ByteBuffer buffer = ByteBuffer.allocate(Members.integer(data, "size", cache, version));
        Object writable =
                loader.loadClass(PROTOCOL + "ByteBufferAccessor").getConstructor(ByteBuffer.class).newInstance(buffer);
        boolean hasRecords = data.getClass().getSimpleName().matches("Fetch(Snapshot)?ResponseData");
        Members.call(data, "write", hasRecords ? withRecords(loader, writable, buffer) : writable, cache, version);
        return buffer.array();
    }

    /** Return a Writable that also takes records of a file, as a leader's responses have them. */
    private static Object withRecords(ClassLoader loader, Object writable, ByteBuffer buffer) throws Exception {
        Class<?> type = loader.loadClass(PROTOCOL + "Writable");
        return Proxy.newProxyInstance(loader, new Class<?>[] {type}, (proxy, method, arguments) -> {
            if (!method.getName().equals("writeRecords")) {
                return method.invoke(writable, arguments);
            }
            buffer.put(bytes(arguments[0]));
            return null;
        });
    }

    // ---- Records. -----------------------------------------------------------------------------------------

    /** Return the bytes of records in memory or in a file. */
    static byte[] bytes(Object records) {
        ByteBuffer buffer;
        if (Members.has(records, "readInto", 2)) {
            buffer = ByteBuffer.allocate(Members.integer(records, "sizeInBytes"));
            Members.call(records, "readInto", buffer, 0);
            buffer.rewind();
        } else if (Members.has(records, "buffer", 0)) {
            buffer = ((ByteBuffer) Members.call(records, "buffer")).duplicate();
        } else {
            // A piece of a snapshot's file: its size alone counts.
            buffer = ByteBuffer.allocate(Members.integer(records, "sizeInBytes"));
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    /** Return the bytes of the whole log, or null if there are more than a line should have. */
    static String log(Object log) {
        long offset = Members.number(log, "startOffset");
        long end = end(log);
        java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
        try {
            Class<?> isolation = log.getClass().getClassLoader().loadClass("org.apache.kafka.raft.Isolation");
            Object uncommitted = Members.call(isolation.getEnumConstants()[0], "valueOf", "UNCOMMITTED");
            while (offset < end && all.size() < LOG_BYTES_MAX) {
                Object read = Members.has(log, "read", 3)
                        ? Members.call(log, "read", offset, uncommitted, 1 << 20)
                        : Members.call(log, "read", offset, uncommitted);
                byte[] bytes = bytes(Members.get(read, "records"));
                long next = next(bytes, offset);
                if (next <= offset) {
                    return null;
                }
                all.write(bytes, 0, bytes.length);
                offset = next;
            }
        } catch (ClassNotFoundException impossible) {
            return null;
        }
        return offset < end ? null : base64(all.toByteArray());
    }

    /** Return the offset after the last whole batch: base offset, length and last offset delta are at 0, 8 and 23. */
    private static long next(byte[] bytes, long offset) {
        ByteBuffer batches = ByteBuffer.wrap(bytes);
        long next = offset;
        int at = 0;
        while (at + 27 <= bytes.length && at + 12 + batches.getInt(at + 8) <= bytes.length) {
            next = batches.getLong(at) + batches.getInt(at + 23) + 1;
            at += 12 + batches.getInt(at + 8);
        }
        return next;
    }

    static long end(Object log) {
        Object end = Members.call(log, "endOffset");
        return Members.has(end, "offset", 0) ? Members.number(end, "offset") : (Long) Members.get(end, "offset");
    }

    /** Return the newest snapshot with its bytes, or null. */
    static Map<String, Object> snapshot(Object log, boolean withBytes) {
        Object reader = Members.content(Members.call(log, "latestSnapshot"));
        if (reader == null) {
            return null;
        }
        Map<String, Object> shown = snapshotId(Members.call(reader, "snapshotId"));
        if (withBytes) {
            shown.put("bytes", base64(bytes(Members.call(reader, "records"))));
        }
        return shown;
    }

    static Map<String, Object> snapshotId(Object id) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("end_offset", Members.call(id, "offset"));
        shown.put("epoch", Members.call(id, "epoch"));
        return shown;
    }

    // ---- Identities. --------------------------------------------------------------------------------------

    static Map<String, Object> key(Object key) {
        if (key == null) {
            return null;
        }
        Object directory = Members.content(Members.call(key, "directoryId"));
        return key(Members.integer(key, "id"), directory == null ? NO_DIRECTORY : directory.toString());
    }

    static Map<String, Object> key(int id, String directory) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("id", id);
        shown.put("directory_id", directory.equals(NO_DIRECTORY) ? null : directory);
        return shown;
    }

    static String address(Object endpoints, Object listener) {
        InetSocketAddress address = (InetSocketAddress) Members.content(Members.call(endpoints, "address", listener));
        return address == null ? null : address(address);
    }

    static String address(InetSocketAddress address) {
        return address.getHostString() + ":" + address.getPort();
    }

    static Map<String, Object> election(Object election) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("epoch", Members.call(election, "epoch"));
        boolean hasLeader = (Boolean) Members.call(election, "hasLeader");
        shown.put("leader_id", hasLeader ? Members.call(election, "leaderId") : null);
        shown.put("voted_key", key(Members.content(Members.call(election, "optionalVotedKey"))));
        return shown;
    }

    // ---- State. -------------------------------------------------------------------------------------------

    /** Return the fields of a replica's state with these voters, by the names of kraft-trace/1; null before it has one. */
    static Map<String, Object> state(Object client, Object log, Object listener, Object voterKeys) {
        Object quorum = Members.get(client, "quorum");
        Object role = quorum == null ? null : Members.get(quorum, "state");
        if (role == null) {
            return null;
        }
        Object control = Members.get(client, "partitionState");
        long start = Members.number(log, "startOffset");
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("role", Members.call(role, "name"));
        shown.put("epoch", Members.call(role, "epoch"));
        Object leader = Members.content(Members.call(quorum, "leaderId"));
        shown.put("leader_id", leader);
        shown.put("leader_endpoint", address(Members.call(quorum, "leaderEndpoints"), listener));
        if (Members.has(quorum, "votedKey", 0)) {
            shown.put("voted_key", key(Members.content(Members.call(quorum, "votedKey"))));
        }
        shown.put("log_end_offset", end(log));
        shown.put("last_epoch", Members.call(log, "lastFetchedEpoch"));
        shown.put("log_start_offset", start);
        Object highWatermark = Members.content(Members.call(quorum, "highWatermark"));
        shown.put("high_watermark", highWatermark == null ? -1 : offset(highWatermark));
        Object votersAt = Members.content(Members.call(control, "lastVoterSetOffset"));
        Map<String, Object> voters = new LinkedHashMap<>();
        // A snapshot replaces the record: the voter set then begins at the snapshot's last offset.
        voters.put("offset", Math.max(votersAt == null ? -1 : (Long) votersAt, start - 1));
        voters.put("voters", voterKeys);
        shown.put("voters", voters);
        shown.put("kraft_version", Members.call(Members.call(control, "lastKraftVersion"), "featureLevel"));
        Object votes = Members.has(role, "epochElection", 0) ? Members.call(role, "epochElection") : role;
        for (String kind : new String[] {"granting", "rejecting"}) {
            boolean hasVotes = isNominee(role) && Members.has(votes, kind + "Voters", 0);
            Collection<?> voted = hasVotes ? (Collection<?>) Members.call(votes, kind + "Voters") : List.of();
            shown.put(kind.equals("granting") ? "granted" : "rejected", new TreeSet<Object>(voted));
        }
        if (Members.hasField(role, "hasFetchedFromLeader")) {
            shown.put("fetched", Members.get(role, "hasFetchedFromLeader"));
        }
        return shown;
    }

    private static boolean isNominee(Object role) {
        String name = role.getClass().getSimpleName();
        return name.equals("CandidateState") || name.equals("ProspectiveState");
    }

    private static Object offset(Object metadata) {
        return Members.has(metadata, "offset", 0) ? Members.call(metadata, "offset") : Members.get(metadata, "offset");
    }

    static List<Object> keys(Object voterSet) {
        TreeMap<Integer, Object> keys = new TreeMap<>();
        for (Object key : (Collection<?>) Members.call(voterSet, "voterKeys")) {
            keys.put(Members.integer(key, "id"), key(key));
        }
        return new ArrayList<>(keys.values());
    }
}
