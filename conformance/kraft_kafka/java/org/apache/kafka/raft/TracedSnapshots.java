package org.apache.kafka.raft;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.protocol.Writable;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.UnalignedMemoryRecords;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.server.common.serialization.RecordSerde;
import org.apache.kafka.snapshot.RawSnapshotReader;
import org.apache.kafka.snapshot.RawSnapshotWriter;
import org.apache.kafka.snapshot.RecordsSnapshotWriter;

/** Snapshots, of the suite and of Kafka: what they hold of the state machine is nothing. */
final class TracedSnapshots {
    /** Data of the suite are numbers. */
    static final RecordSerde<Long> SERDE = new RecordSerde<>() {
        @Override
        public int recordSize(Long data, ObjectSerializationCache cache) {
            return Long.BYTES;
        }

        @Override
        public void write(Long data, ObjectSerializationCache cache, Writable out) {
            out.writeLong(data);
        }

        @Override
        public Long read(Readable input, int size) {
            return input.readLong();
        }
    };

    private TracedSnapshots() {}

    static Map<String, Object> shown(RawSnapshotReader reader, Setup setup) {
        UnalignedMemoryRecords all = (UnalignedMemoryRecords) reader.slice(0, (int) reader.sizeInBytes());
        return shown(reader.snapshotId().offset(), reader.snapshotId().epoch(), all.buffer().duplicate(), setup);
    }

    /** One without voters is of a cluster whose voters are configured, as long as nobody has upgraded it. */
    static Map<String, Object> shown(long endOffset, int epoch, ByteBuffer bytes, Setup setup) {
        VoterSet configured = VoterSet.fromInetSocketAddresses(Names.LISTENER, setup.staticVoters());
        Map<String, Object> snapshot = Json.object(
                "end_offset", endOffset, "epoch", epoch, "kraft_version", 0,
                "voters", TracedRecords.shownKeys(configured), "details", TracedRecords.shownDetails(configured),
                "target", null);
        TracedRecords.shown(MemoryRecords.readableRecords(bytes)).values().forEach(record -> {
            switch (Json.text(record, "kind")) {
                case "KRaftVersion" -> snapshot.put("kraft_version", record.get("value"));
                case "Voters" -> {
                    snapshot.put("voters", record.get("voters"));
                    snapshot.put("details", record.get("details"));
                }
                default -> { }
            }
        });
        return snapshot;
    }

    static ByteBuffer bytes(Map<String, Object> snapshot, Setup setup) {
        OffsetAndEpoch id =
                new OffsetAndEpoch(Json.integer(snapshot, "end_offset"), (int) Json.integer(snapshot, "epoch"));
        MemorySnapshot[] written = new MemorySnapshot[1];
        write(
                new MemorySnapshot.Writer(id, frozen -> written[0] = frozen),
                TracedRecords.voters(Json.list(snapshot, "voters"), Json.list(snapshot, "details"), setup),
                KRaftVersion.fromFeatureLevel((short) Json.integer(snapshot, "kraft_version")));
        return written[0].bytes();
    }

    /** Write a snapshot that holds no more than voters and kraft.version. */
    static void write(RawSnapshotWriter raw, VoterSet voters, KRaftVersion version) {
        RecordsSnapshotWriter.Builder builder =
                new RecordsSnapshotWriter.Builder().setRawSnapshotWriter(raw).setKraftVersion(version);
        if (version.isReconfigSupported()) {
            builder.setVoterSet(Optional.of(voters));
        }
        try (RecordsSnapshotWriter<Long> writer = builder.build(SERDE)) {
            writer.freeze();
        }
    }
}
