package org.apache.kafka.raft;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.internals.LogContext;

/** Kafka's MockLog, which shows what is written, has each record in a batch of its own, and reads as much as asked. */
final class ShownLog extends MockLog {
    private static final int READ_BYTES = 1 << 16;

    private final Setup setup;
    private final Consumer<Map<String, Object>> effects;

    ShownLog(Setup setup, Consumer<Map<String, Object>> effects) {
        super(Names.PARTITION, Names.TOPIC, new LogContext());
        this.setup = setup;
        this.effects = effects;
    }

    @Override
    public LogAppendInfo appendAsLeader(Records records, int epoch) {
        return shown(records, one -> super.appendAsLeader(one, epoch));
    }

    @Override
    public LogAppendInfo appendAsFollower(Records records, int epoch) {
        return shown(records, one -> super.appendAsFollower(one, epoch));
    }

    private LogAppendInfo shown(Records records, Function<Records, LogAppendInfo> append) {
        long base = endOffset().offset();
        Records single = TracedRecords.oneByOne(records);
        LogAppendInfo info = append.apply(single);
        // A follower appends no record of an epoch above the leader's.
        effects.accept(Json.object(
                "kind", "AppendRecords", "base_offset", base,
                "records", new ArrayList<>(TracedRecords.shown(single).subMap(base, endOffset().offset()).values())));
        return info;
    }

    @Override
    public void flush(boolean forceFlushActiveSegment) {
        long before = firstUnflushedOffset();
        super.flush(forceFlushActiveSegment);
        if (firstUnflushedOffset() != before) {
            effects.accept(Json.object("kind", "FlushLog", "end_offset", firstUnflushedOffset()));
        }
    }

    @Override
    public void truncateTo(long offset) {
        long before = endOffset().offset();
        super.truncateTo(offset);
        if (endOffset().offset() != before) {
            effects.accept(Json.object("kind", "TruncateLog", "end_offset", endOffset().offset()));
        }
    }

    @Override
    public boolean truncateToLatestSnapshot() {
        boolean truncated = super.truncateToLatestSnapshot();
        if (truncated) {
            showSnapshot(true);
        }
        return truncated;
    }

    /** Show the newest snapshot; `replacesLog` says whether the log begins anew after it. */
    void showSnapshot(boolean replacesLog) {
        effects.accept(Json.object(
                "kind", "WriteSnapshot",
                "snapshot", TracedSnapshots.shown(latestSnapshot().get(), setup),
                "replaces_log", replacesLog));
    }

    /** MockLog reads two batches at most, which are two records here: read up to the cluster's limit instead. */
    @Override
    public LogFetchInfo read(long startOffset, Isolation isolation, int maxBytes) {
        long end = isolation == Isolation.COMMITTED ? highWatermark().offset() : endOffset().offset();
        if (startOffset >= end || startOffset < startOffset()) {
            return super.read(startOffset, isolation, maxBytes);
        }
        ByteBuffer buffer = ByteBuffer.allocate(READ_BYTES);
        List<LogBatch> batches = readBatches(startOffset, OptionalLong.of(end));
        for (int i = 0; i < batches.size(); i++) {
            boolean isFull = setup.fetchMaxRecords() > 0 && i >= setup.fetchMaxRecords();
            if (isFull && !(i > 0 && isOneBatch(batches.get(i - 1), batches.get(i)))) {
                break;
            }
            buffer = batches.get(i).writeTo(buffer);
        }
        buffer.flip();
        return new LogFetchInfo(MemoryRecords.readableRecords(buffer), batches.get(0).first().logOffsetMetadata());
    }

    /** A leader writes KRaftVersion and Voters in one batch, with its LeaderChange before them; no answer cuts that. */
    private static boolean isOneBatch(LogBatch first, LogBatch second) {
        ControlRecordType type = controlType(second);
        return type == ControlRecordType.KRAFT_VERSION && controlType(first) == ControlRecordType.LEADER_CHANGE
                || type == ControlRecordType.KRAFT_VOTERS && controlType(first) == ControlRecordType.KRAFT_VERSION;
    }

    /** Null for data. */
    private static ControlRecordType controlType(LogBatch batch) {
        if (!(boolean) Member.IS_CONTROL_BATCH.get(batch)) {
            return null;
        }
        SimpleRecord record = (SimpleRecord) Member.RECORD.get(batch.first());
        return ControlRecordType.parse(record.key().duplicate());
    }

    /** All records of the log. */
    List<Map<String, Object>> records() {
        ByteBuffer buffer = ByteBuffer.allocate(READ_BYTES);
        for (LogBatch batch : readBatches(startOffset(), OptionalLong.empty())) {
            buffer = batch.writeTo(buffer);
        }
        buffer.flip();
        return List.copyOf(TracedRecords.shown(MemoryRecords.readableRecords(buffer)).values());
    }

    /** The epoch of the record before this offset. */
    int epochBefore(long offset) {
        int epoch = 0;
        for (LogBatch batch : readBatches(startOffset(), OptionalLong.empty())) {
            if (batch.lastOffset() < offset) {
                epoch = (int) Member.BATCH_EPOCH.get(batch);
            }
        }
        return epoch;
    }

    /** The process died: of the log this much survives, and is on disk. */
    void crash(long endOffset) {
        Member.FIRST_UNFLUSHED_OFFSET.set(this, endOffset);
        reopen();
    }
}
