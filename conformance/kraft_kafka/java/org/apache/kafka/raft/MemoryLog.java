package org.apache.kafka.raft;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.RawSnapshotReader;
import org.apache.kafka.snapshot.RawSnapshotWriter;

/**
 * A log and its snapshots in memory, with each record in a batch of its own.
 *
 * <p>It answers as the MockLog of Kafka's own tests, with three exceptions.  As in Kafka's log on disk, a log without
 * records keeps its own end when a snapshot arrives, and a crash sets the high watermark to the start offset.  Where a
 * leader appends batches of another epoch than its own, it appends none of them, and MockLog those before.
 */
class MemoryLog implements RaftLog {
    /** Batches by the offset of their record. */
    private final NavigableMap<Long, MutableRecordBatch> batches = new TreeMap<>();
    /** Offset at which each epoch starts. */
    private final NavigableMap<Integer, Long> epochs = new TreeMap<>();
    private final NavigableMap<OffsetAndEpoch, MemorySnapshot> snapshots = new TreeMap<>();
    private long startOffset;
    private long flushedOffset;
    private LogOffsetMetadata highWatermark = new LogOffsetMetadata(0);

    // ---- Records. ----------------------------------------------------------------------------------------

    @Override
    public LogAppendInfo appendAsLeader(Records records, int epoch) {
        for (RecordBatch batch : records.batches()) {
            if (batch.partitionLeaderEpoch() != epoch) {
                throw new IllegalArgumentException(
                        "a leader of epoch " + epoch + " appends a batch of epoch " + batch.partitionLeaderEpoch());
            }
        }
        return appendAsFollower(records, epoch);
    }

    /** Append the batches before the first of an epoch above the leader's. */
    @Override
    public LogAppendInfo appendAsFollower(Records records, int epoch) {
        if (records.sizeInBytes() == 0) {
            throw new IllegalArgumentException("no records to append");
        }
        long first = end();
        for (MutableRecordBatch batch : TracedRecords.oneByOne(records).batches()) {
            if (batch.baseOffset() != end()) {
                throw new IllegalArgumentException("append at offset " + batch.baseOffset() + ", the end is " + end());
            }
            if (batch.partitionLeaderEpoch() > epoch) {
                break;
            }
            if (batch.partitionLeaderEpoch() > lastFetchedEpoch()) {
                epochs.put(batch.partitionLeaderEpoch(), end());
            }
            batches.put(end(), batch);
        }
        if (end() == first) {
            throw new CorruptRecordException("all records are of an epoch above " + epoch);
        }
        return new LogAppendInfo(first, end() - 1);
    }

    /** Read all records, or as many as {@link #limited} leaves. */
    @Override
    public LogFetchInfo read(long startOffset, Isolation isolation, int maxBytes) {
        if (startOffset < startOffset() || startOffset > end()) {
            throw new OffsetOutOfRangeException(
                    "offset " + startOffset + ", the log has " + startOffset() + " to " + end());
        }
        long limit = isolation == Isolation.COMMITTED ? highWatermark.offset() : end();
        MemoryRecords records = startOffset < limit
                ? joined(limited(batches.subMap(startOffset, limit).values())) : MemoryRecords.EMPTY;
        return new LogFetchInfo(records, new LogOffsetMetadata(startOffset));
    }

    /** Those of the batches that a read returns. */
    Collection<MutableRecordBatch> limited(Collection<MutableRecordBatch> batches) {
        return batches;
    }

    private static MemoryRecords joined(Collection<MutableRecordBatch> batches) {
        ByteBuffer all = ByteBuffer.allocate(batches.stream().mapToInt(RecordBatch::sizeInBytes).sum());
        batches.forEach(batch -> batch.writeTo(all));
        all.flip();
        return MemoryRecords.readableRecords(all);
    }

    /** The records from this offset on. */
    MemoryRecords recordsFrom(long offset) {
        return joined(batches.tailMap(offset).values());
    }

    /** The epoch of the record before this offset, or 0. */
    int epochBefore(long offset) {
        Map.Entry<Long, MutableRecordBatch> before = batches.lowerEntry(offset);
        return before == null ? 0 : before.getValue().partitionLeaderEpoch();
    }

    // ---- Offsets and epochs. -----------------------------------------------------------------------------

    @Override
    public long startOffset() {
        return startOffset;
    }

    @Override
    public LogOffsetMetadata endOffset() {
        return new LogOffsetMetadata(end());
    }

    private long end() {
        return batches.isEmpty() ? startOffset : batches.lastKey() + 1;
    }

    @Override
    public LogOffsetMetadata highWatermark() {
        return highWatermark;
    }

    @Override
    public void updateHighWatermark(LogOffsetMetadata update) {
        if (update.offset() < Math.max(highWatermark.offset(), startOffset) || update.offset() > end()) {
            throw new IllegalArgumentException("high watermark " + update.offset() + " after " + highWatermark.offset()
                    + ", the log has " + startOffset + " to " + end());
        }
        highWatermark = update;
    }

    @Override
    public int lastFetchedEpoch() {
        return epochs.isEmpty() ? latestSnapshotId().map(OffsetAndEpoch::epoch).orElse(0) : epochs.lastKey();
    }

    @Override
    public OffsetAndEpoch endOffsetForEpoch(int epoch) {
        Map.Entry<Integer, Long> next = epochs.higherEntry(epoch);
        if (next == null) {
            return new OffsetAndEpoch(end(), lastFetchedEpoch());
        }
        Integer last = epochs.lowerKey(next.getKey());
        int ofSnapshot = earliestSnapshotId().map(OffsetAndEpoch::epoch).orElse(0);
        return new OffsetAndEpoch(next.getValue(), last == null ? ofSnapshot : last);
    }

    @Override
    public void initializeLeaderEpoch(int epoch) {
        epochs.values().removeIf(start -> start >= end());
        epochs.tailMap(epoch, true).clear();
        epochs.put(epoch, end());
    }

    // ---- Truncation and the disk. ------------------------------------------------------------------------

    @Override
    public void truncateTo(long offset) {
        if (offset < highWatermark.offset()) {
            throw new IllegalArgumentException(
                    "truncate to offset " + offset + " below the high watermark " + highWatermark.offset());
        }
        removeFrom(offset);
        flushedOffset = Math.min(flushedOffset, end());
    }

    private void removeFrom(long offset) {
        batches.tailMap(offset).clear();
        epochs.values().removeIf(start -> start >= offset);
    }

    @Override
    public boolean truncateToLatestSnapshot() {
        OffsetAndEpoch snapshot = latestSnapshotId().orElse(null);
        OffsetAndEpoch log = new OffsetAndEpoch(end(), epochs.isEmpty() ? 0 : epochs.lastKey());
        if (snapshot == null || snapshot.compareTo(log) <= 0) {
            return false;
        }
        batches.clear();
        epochs.clear();
        snapshots.headMap(snapshot).clear();
        startOffset = snapshot.offset();
        updateHighWatermark(new LogOffsetMetadata(startOffset));
        flush(false);
        return true;
    }

    @Override
    public void flush(boolean forceFlushActiveSegment) {
        flushedOffset = end();
    }

    /** All records before it survive a crash. */
    long flushedOffset() {
        return flushedOffset;
    }

    /** Lose the records from `endOffset` on, and the high watermark: the process died.  What is left is flushed. */
    void crash(long endOffset) {
        highWatermark = new LogOffsetMetadata(startOffset);
        removeFrom(endOffset);
        flushedOffset = end();
    }

    @Override
    public boolean maybeClean() {
        return false;
    }

    // ---- Snapshots. --------------------------------------------------------------------------------------

    @Override
    public Optional<RawSnapshotWriter> createNewSnapshot(OffsetAndEpoch id) {
        if (id.offset() < startOffset) {
            return Optional.empty();
        }
        if (id.offset() > highWatermark.offset()) {
            throw new IllegalArgumentException(
                    "snapshot " + id + " above the high watermark " + highWatermark.offset());
        }
        ValidOffsetAndEpoch valid = validateOffsetAndEpoch(id.offset(), id.epoch());
        if (valid.kind() != ValidOffsetAndEpoch.Kind.VALID) {
            throw new IllegalArgumentException("snapshot " + id + " is not in the log: " + valid);
        }
        return createNewSnapshotUnchecked(id);
    }

    @Override
    public Optional<RawSnapshotWriter> createNewSnapshotUnchecked(OffsetAndEpoch id) {
        return snapshots.containsKey(id)
                ? Optional.empty()
                : Optional.of(new MemorySnapshot.Writer(id, snapshot -> snapshots.putIfAbsent(id, snapshot)));
    }

    @Override
    public Optional<RawSnapshotReader> readSnapshot(OffsetAndEpoch id) {
        return Optional.ofNullable(snapshots.get(id));
    }

    @Override
    public Optional<RawSnapshotReader> latestSnapshot() {
        return latestSnapshotId().flatMap(this::readSnapshot);
    }

    @Override
    public Optional<OffsetAndEpoch> latestSnapshotId() {
        return snapshots.isEmpty() ? Optional.empty() : Optional.of(snapshots.lastKey());
    }

    @Override
    public Optional<OffsetAndEpoch> earliestSnapshotId() {
        return snapshots.isEmpty() ? Optional.empty() : Optional.of(snapshots.firstKey());
    }

    @Override
    public boolean deleteBeforeSnapshot(OffsetAndEpoch id) {
        if (id.offset() < startOffset || id.offset() > highWatermark.offset()) {
            throw new OffsetOutOfRangeException("snapshot " + id + ", the log has " + startOffset + " to "
                    + highWatermark.offset() + ", its high watermark");
        }
        if (!snapshots.containsKey(id)) {
            return false;
        }
        snapshots.headMap(id).clear();
        batches.headMap(id.offset()).clear();
        startOffset = id.offset();
        // Of the epochs that start up to here the last one goes on.
        epochs.entrySet().stream().filter(one -> one.getValue() <= startOffset).map(Map.Entry::getKey)
                .max(Integer::compare).ifPresent(last -> {
                    epochs.headMap(last).clear();
                    epochs.put(last, startOffset);
                });
        return true;
    }

    @Override
    public void onSnapshotFrozen(OffsetAndEpoch id) {
        // Only a log on disk has something to do then.
    }

    @Override
    public TopicPartition topicPartition() {
        return Names.PARTITION;
    }

    @Override
    public Uuid topicId() {
        return Names.TOPIC;
    }
}
