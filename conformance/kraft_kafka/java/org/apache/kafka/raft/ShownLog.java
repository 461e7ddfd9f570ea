package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Records;

/** A log that shows each write, and from which a read returns up to the limit of the cluster. */
final class ShownLog extends MemoryLog {
    private final Setup setup;
    private final Consumer<Map<String, Object>> effects;

    ShownLog(Setup setup, Consumer<Map<String, Object>> effects) {
        this.setup = setup;
        this.effects = effects;
    }

    @Override
    public LogAppendInfo appendAsFollower(Records records, int epoch) {
        long base = endOffset().offset();
        LogAppendInfo info = super.appendAsFollower(records, epoch);
        effects.accept(Json.object("kind", "AppendRecords", "base_offset", base, "records", records(base)));
        return info;
    }

    @Override
    public void flush(boolean forceFlushActiveSegment) {
        long before = flushedOffset();
        super.flush(forceFlushActiveSegment);
        if (flushedOffset() != before) {
            effects.accept(Json.object("kind", "FlushLog", "end_offset", flushedOffset()));
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

    @Override
    Collection<MutableRecordBatch> limited(Collection<MutableRecordBatch> batches) {
        List<MutableRecordBatch> read = new ArrayList<>();
        for (MutableRecordBatch batch : batches) {
            boolean isFull = setup.fetchMaxRecords() > 0 && read.size() >= setup.fetchMaxRecords();
            if (isFull && !isOneBatch(read.get(read.size() - 1), batch)) {
                break;
            }
            read.add(batch);
        }
        return read;
    }

    /** A leader writes KRaftVersion and Voters in one batch, with its LeaderChange before them; no answer cuts that. */
    private static boolean isOneBatch(MutableRecordBatch first, MutableRecordBatch second) {
        ControlRecordType type = controlType(second);
        return type == ControlRecordType.KRAFT_VERSION && controlType(first) == ControlRecordType.LEADER_CHANGE
                || type == ControlRecordType.KRAFT_VOTERS && controlType(first) == ControlRecordType.KRAFT_VERSION;
    }

    /** Null for data. */
    private static ControlRecordType controlType(MutableRecordBatch batch) {
        return batch.isControlBatch() ? ControlRecordType.parse(batch.iterator().next().key()) : null;
    }

    /** The records from this offset on. */
    List<Map<String, Object>> records(long offset) {
        return List.copyOf(TracedRecords.shown(recordsFrom(offset)).values());
    }
}
