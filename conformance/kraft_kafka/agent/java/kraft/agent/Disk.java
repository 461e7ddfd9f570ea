package kraft.agent;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/** The log and the snapshots of a replica as values of a line, each of a bounded size. */
final class Disk {
    private static final int LOG_BYTES_MAX = 1 << 20;
    /** Most offsets in the log of a checkpoint. */
    private static final long TAIL_MAX = 1024;
    /** A snapshot begins with the voters; the rest of it is the controller's. */
    private static final int SNAPSHOT_BYTES_MAX = 64 << 10;

    private Disk() {}

    /** The end of a log: its batches from an offset on, and the epoch of the record before them. */
    static final class Tail {
        long offset;
        int epoch;
        byte[] batches;
    }

    /** Return the bytes of records in memory or in a file. */
    static byte[] bytes(Object records) {
        return bytes(records, Integer.MAX_VALUE);
    }

    private static byte[] bytes(Object records, int max) {
        ByteBuffer buffer = buffer(records);
        if (buffer == null) {
            buffer = ByteBuffer.allocate(Math.min(max, Members.integer(records, "sizeInBytes")));
            Members.call(records, "readInto", buffer, 0);
            buffer.rewind();
        }
        byte[] bytes = new byte[Math.min(max, buffer.remaining())];
        buffer.get(bytes);
        return bytes;
    }

    /** Return the buffer of records in memory; null for records in a file. */
    static ByteBuffer buffer(Object records) {
        return Members.has(records, "buffer", 0) ? ((ByteBuffer) Members.call(records, "buffer")).duplicate() : null;
    }

    static long end(Object log) {
        return (Long) Shown.offset(Members.call(log, "endOffset"));
    }

    /** Return the bytes of the whole log, or null if there are more than a line should have. */
    static byte[] log(Object log) throws ClassNotFoundException {
        return read(log, Members.number(log, "startOffset"));
    }

    /** Return the end of the log: not more than 1,024 offsets and a mebibyte, unless more is not committed. */
    static Tail tail(Object log, long highWatermark) throws ClassNotFoundException {
        long start = Members.number(log, "startOffset");
        long end = end(log);
        for (long offsets = TAIL_MAX; ; offsets /= 4) {
            long first = highWatermark < 0 ? end - offsets : Math.min(end - offsets, highWatermark);
            byte[] batches = read(log, Math.max(start, first - 1));
            if (batches == null && offsets > 0) {
                continue;
            }
            Tail tail = new Tail();
            tail.offset = start;
            tail.batches = batches == null ? new byte[0] : batches;
            if (first - 1 > start && tail.batches.length > 0) {
                // The batch before the tail has its epoch.
                ByteBuffer before = ByteBuffer.wrap(tail.batches);
                int size = 12 + before.getInt(8);
                tail.offset = before.getLong(0) + before.getInt(23) + 1;
                tail.epoch = before.getInt(12);
                tail.batches = java.util.Arrays.copyOfRange(tail.batches, size, tail.batches.length);
            } else {
                Object oldest = Members.content(Members.call(log, "earliestSnapshotId"));
                tail.epoch = oldest != null && (Long) Members.call(oldest, "offset") == start
                        ? (Integer) Members.call(oldest, "epoch") : 0;
            }
            return tail;
        }
    }

    /** Return the batches from an offset to the end of the log, or null if there are more than a line should have. */
    private static byte[] read(Object log, long from) throws ClassNotFoundException {
        long offset = from;
        long end = end(log);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        Class<?> isolation = log.getClass().getClassLoader().loadClass("org.apache.kafka.raft.Isolation");
        Object uncommitted = Members.call(isolation.getEnumConstants()[0], "valueOf", "UNCOMMITTED");
        while (offset < end) {
            Object read = Members.has(log, "read", 3)
                    ? Members.call(log, "read", offset, uncommitted, LOG_BYTES_MAX)
                    : Members.call(log, "read", offset, uncommitted);
            byte[] bytes = bytes(Members.get(read, "records"));
            int whole = 0;
            // Base offset, length and last offset delta of a batch are at 0, 8 and 23.
            ByteBuffer batches = ByteBuffer.wrap(bytes);
            while (whole + 27 <= bytes.length && whole + 12 + batches.getInt(whole + 8) <= bytes.length) {
                offset = batches.getLong(whole) + batches.getInt(whole + 23) + 1;
                whole += 12 + batches.getInt(whole + 8);
            }
            all.write(bytes, 0, whole);
            if (whole == 0 || all.size() > LOG_BYTES_MAX) {
                return null;
            }
        }
        return all.toByteArray();
    }

    /** Return the newest snapshot with the beginning of its bytes, or null. */
    static Map<String, Object> snapshot(Object log) {
        Object reader = Members.content(Members.call(log, "latestSnapshot"));
        if (reader == null) {
            return null;
        }
        Object id = Members.call(reader, "snapshotId");
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("end_offset", Members.call(id, "offset"));
        shown.put("epoch", Members.call(id, "epoch"));
        shown.put("bytes", bytes(Members.call(reader, "records"), SNAPSHOT_BYTES_MAX));
        return shown;
    }
}
