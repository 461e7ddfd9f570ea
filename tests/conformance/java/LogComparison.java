package org.apache.kafka.raft;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.record.internal.UnalignedMemoryRecords;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.RawSnapshotReader;
import org.apache.kafka.snapshot.RawSnapshotWriter;

/**
 * Drives the adapter's log and Kafka's MockLog through the same random operations and compares their answers.
 *
 * <p>MockLog takes the offset of its latest snapshot for the end of a log without records, and the adapter's log does
 * not.  So each snapshot is followed by the call that KafkaRaftClient makes next, after which the two agree.
 */
final class LogComparison {
    private final Random random;
    /** How often each operation was done. */
    private final Map<String, Integer> done;
    private final List<String> history = new ArrayList<>();
    private final MemoryLog ours = new MemoryLog() {
        /** MockLog reads two batches at most. */
        @Override
        Collection<MutableRecordBatch> limited(Collection<MutableRecordBatch> batches) {
            return batches.stream().limit(2).toList();
        }
    };
    private final MockLog mock = new MockLog(Names.PARTITION, Names.TOPIC, new LogContext());

    private LogComparison(long seed, Map<String, Integer> done) {
        random = new Random(seed);
        this.done = done;
    }

    /** Arguments: the number of seeds, and of operations in each.  Prints how often each operation was done. */
    public static void main(String[] arguments) throws ReflectiveOperationException {
        checkEndAfterSnapshot();
        Map<String, Integer> done = new TreeMap<>();
        for (int seed = 0; seed < Integer.parseInt(arguments[0]); seed++) {
            LogComparison comparison = new LogComparison(seed, done);
            for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
                comparison.step();
                comparison.compareAll();
            }
        }
        done.forEach((operation, times) -> System.out.println(operation + " " + times));
    }

    /** A log that a snapshot has emptied goes on to a later snapshot of the same epoch; MockLog does not. */
    private static void checkEndAfterSnapshot() {
        MemoryLog log = new MemoryLog();
        log.appendAsLeader(records(0, 1, 1, 2), 1);
        log.updateHighWatermark(log.endOffset());
        OffsetAndEpoch taken = new OffsetAndEpoch(2, 1);
        write(log.createNewSnapshot(taken).get(), new byte[1], true);
        log.deleteBeforeSnapshot(taken);
        write(log.createNewSnapshotUnchecked(new OffsetAndEpoch(5, 1)).get(), new byte[1], true);
        if (log.endOffset().offset() != 2 || !log.truncateToLatestSnapshot() || log.endOffset().offset() != 5) {
            throw new AssertionError("the log ends at " + log.endOffset());
        }
    }

    // ---- Operations. -------------------------------------------------------------------------------------

    private void step() throws ReflectiveOperationException {
        long start = ours.startOffset();
        long end = ours.endOffset().offset();
        long committed = ours.highWatermark().offset();
        int epoch = ours.lastFetchedEpoch();
        switch (random.nextInt(11)) {
            case 0, 1 -> {
                int of = Math.max(1, epoch + random.nextInt(2));
                MemoryRecords records = records(random.nextInt(8) == 0 ? end + 1 : end, of, of, random.nextInt(4));
                int leader = random.nextInt(8) == 0 ? of + 1 : of;
                compare("append as leader", log -> log.appendAsLeader(records, leader));
            }
            case 2, 3 -> {
                int of = Math.max(1, epoch + random.nextInt(3));
                int last = of + random.nextInt(2);
                MemoryRecords records = records(random.nextInt(8) == 0 ? end + 1 : end, of, last, random.nextInt(4));
                int leader = Math.max(1, last - random.nextInt(3));
                compare("append as follower", log -> log.appendAsFollower(records, leader));
            }
            case 4 -> {
                long to = between(start - 1, end + 1);
                compare("truncate", log -> run(() -> log.truncateTo(to)));
            }
            case 5 -> {
                OffsetAndEpoch to = new OffsetAndEpoch(between(committed, end + 1), (int) between(0, epoch + 1));
                compare("truncate to epoch", log -> log.truncateToEndOffset(to));
            }
            case 6 -> compare("initialize epoch", log -> run(() -> log.initializeLeaderEpoch(epoch + 1)));
            case 7 -> {
                LogOffsetMetadata update = new LogOffsetMetadata(between(committed - 1, end + 1));
                compare("high watermark", log -> run(() -> log.updateHighWatermark(update)));
            }
            case 8 -> compare("flush", log -> run(() -> log.flush(true)));
            case 9 -> crash(between(ours.flushedOffset(), end));
            default -> {
                if (random.nextBoolean()) {
                    takeSnapshot(new OffsetAndEpoch(between(start - 1, committed + 1), (int) between(1, epoch + 1)));
                } else if (random.nextBoolean()) {
                    fetchSnapshot(new OffsetAndEpoch(between(committed, end + 3), epoch + 1));
                } else if (start < end) {
                    fetchSnapshot(new OffsetAndEpoch(between(end + 1, end + 3), epoch));
                }
            }
        }
    }

    /** MockLog keeps what is flushed, and starts anew with a high watermark of 0. */
    private void crash(long survives) throws ReflectiveOperationException {
        done.merge("crash", 1, Integer::sum);
        history.add("crash " + survives);
        ours.crash(survives);
        Field flushed = MockLog.class.getDeclaredField("firstUnflushedOffset");
        flushed.setAccessible(true);
        flushed.set(mock, survives);
        mock.reopen();
        mock.updateHighWatermark(new LogOffsetMetadata(mock.startOffset()));
    }

    private void takeSnapshot(OffsetAndEpoch id) {
        byte[] content = content();
        boolean isFinished = random.nextInt(4) > 0;
        compare("take snapshot", log -> log.createNewSnapshot(id).map(writer -> {
            write(writer, content, isFinished);
            return isFinished + " " + log.deleteBeforeSnapshot(id);
        }));
        compare("delete before snapshot", log -> log.deleteBeforeSnapshot(id));
    }

    private void fetchSnapshot(OffsetAndEpoch id) {
        byte[] content = content();
        compare("fetch snapshot", log -> log.createNewSnapshotUnchecked(id).map(writer -> {
            write(writer, content, true);
            return log.truncateToLatestSnapshot();
        }));
        compare("truncate to snapshot", RaftLog::truncateToLatestSnapshot);
    }

    private static void write(RawSnapshotWriter writer, byte[] content, boolean isFinished) {
        writer.append(new UnalignedMemoryRecords(ByteBuffer.wrap(content)));
        writer.append(new UnalignedMemoryRecords(ByteBuffer.wrap(content)));
        if (isFinished) {
            writer.freeze();
        }
        writer.close();
    }

    private byte[] content() {
        byte[] content = new byte[1 + random.nextInt(600)];
        random.nextBytes(content);
        return content;
    }

    /** So many records of an epoch, but for the last one. */
    private static MemoryRecords records(long offset, int epoch, int last, int count) {
        ByteBuffer all = ByteBuffer.allocate(1024);
        for (int i = 0; i < count; i++) {
            int of = i > 0 && i == count - 1 ? last : epoch;
            SimpleRecord record = new SimpleRecord(1, ByteBuffer.allocate(8).putLong(0, 100 * of + offset + i).array());
            all.put(MemoryRecords.withRecords(offset + i, Compression.NONE, of, record).buffer());
        }
        all.flip();
        return TracedRecords.oneByOne(MemoryRecords.readableRecords(all));
    }

    private long between(long first, long last) {
        return first + random.nextInt((int) (last - first) + 1);
    }

    private static String run(Runnable operation) {
        operation.run();
        return "";
    }

    // ---- Comparison. -------------------------------------------------------------------------------------

    private void compareAll() {
        compare("", RaftLog::startOffset);
        compare("", log -> log.endOffset().offset());
        compare("", log -> log.highWatermark().offset());
        compare("", RaftLog::lastFetchedEpoch);
        compare("", RaftLog::latestSnapshotId);
        compare("", RaftLog::earliestSnapshotId);
        compare("", log -> log.latestSnapshot().map(LogComparison::shown));
        compare("", log -> log == mock ? mock.firstUnflushedOffset() : ours.flushedOffset());
        for (long offset = ours.startOffset() - 1; offset <= ours.endOffset().offset() + 1; offset++) {
            long at = offset;
            for (Isolation isolation : Isolation.values()) {
                compare("", log -> shown(log.read(at, isolation, Integer.MAX_VALUE)));
            }
            for (int epoch = 0; epoch <= ours.lastFetchedEpoch() + 1; epoch++) {
                int of = epoch;
                compare("", log -> log.endOffsetForEpoch(of));
                compare("", log -> log.validateOffsetAndEpoch(at, of));
                compare("", log -> log.readSnapshot(new OffsetAndEpoch(at, of)).map(LogComparison::shown));
            }
        }
    }

    /** Ask both logs; an operation has a name. */
    private void compare(String operation, Function<RaftLog, Object> question) {
        String answer = answer(question, ours);
        String wanted = answer(question, mock);
        if (!operation.isEmpty()) {
            history.add(operation + ": " + answer);
            done.merge(answer.startsWith("refused") ? operation + " refused" : operation, 1, Integer::sum);
        }
        if (!answer.equals(wanted)) {
            throw new AssertionError("the log says " + answer + ", MockLog " + wanted + " after " + history);
        }
    }

    /** For a wrong argument the two have other exceptions, and KafkaRaftClient catches neither. */
    private static String answer(Function<RaftLog, Object> question, RaftLog log) {
        try {
            return String.valueOf(question.apply(log));
        } catch (IllegalArgumentException error) {
            return "refused";
        } catch (RuntimeException error) {
            return error.getClass() == RuntimeException.class ? "refused" : "refused: " + error.getClass();
        }
    }

    private static String shown(LogFetchInfo read) {
        StringBuilder shown = new StringBuilder().append(read.startOffsetMetadata.offset());
        for (RecordBatch batch : read.records.batches()) {
            for (Record record : batch) {
                shown.append(" ").append(batch.partitionLeaderEpoch()).append("@").append(record.offset()).append("=")
                        .append(record.value().getLong());
            }
        }
        return shown.toString();
    }

    private static String shown(RawSnapshotReader snapshot) {
        int half = (int) snapshot.sizeInBytes() / 2;
        ByteBuffer second = ((UnalignedMemoryRecords) snapshot.slice(half, Integer.MAX_VALUE / 2)).buffer();
        return snapshot.snapshotId() + ", " + snapshot.sizeInBytes() + " bytes, the second half " + second.remaining()
                + " with the hash " + second.hashCode();
    }
}
