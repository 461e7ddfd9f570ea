package org.apache.kafka.raft;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.UnalignedMemoryRecords;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.RawSnapshotReader;
import org.apache.kafka.snapshot.RawSnapshotWriter;

/** A snapshot in memory. */
record MemorySnapshot(OffsetAndEpoch snapshotId, ByteBuffer bytes) implements RawSnapshotReader {
    private static final int FIRST_BYTES = 512;

    @Override
    public long sizeInBytes() {
        return bytes.remaining();
    }

    @Override
    public UnalignedMemoryRecords slice(long position, int size) {
        return new UnalignedMemoryRecords(
                bytes.slice((int) position, (int) Math.min(size, sizeInBytes() - position)));
    }

    @Override
    public MemoryRecords records() {
        return MemoryRecords.readableRecords(bytes.duplicate());
    }

    /** Collects the bytes of a snapshot, which exists once it is frozen. */
    static final class Writer implements RawSnapshotWriter {
        private final OffsetAndEpoch id;
        private final Consumer<MemorySnapshot> whenFrozen;
        private final ByteBufferOutputStream bytes = new ByteBufferOutputStream(FIRST_BYTES);
        private boolean isFrozen;

        Writer(OffsetAndEpoch id, Consumer<MemorySnapshot> whenFrozen) {
            this.id = id;
            this.whenFrozen = whenFrozen;
        }

        @Override
        public OffsetAndEpoch snapshotId() {
            return id;
        }

        @Override
        public long sizeInBytes() {
            return bytes.position();
        }

        @Override
        public void append(UnalignedMemoryRecords records) {
            append(records.buffer());
        }

        @Override
        public void append(MemoryRecords records) {
            append(records.buffer());
        }

        private void append(ByteBuffer more) {
            if (isFrozen) {
                throw new IllegalStateException("append to snapshot " + id + ", which is frozen");
            }
            bytes.write(more.duplicate());
        }

        @Override
        public boolean isFrozen() {
            return isFrozen;
        }

        @Override
        public void freeze() {
            isFrozen = true;
            whenFrozen.accept(new MemorySnapshot(id, bytes.buffer().duplicate().flip().slice()));
        }

        @Override
        public void close() {
            // Memory needs no closing; a snapshot that is not frozen is gone.
        }
    }
}
