package org.apache.kafka.raft;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.feature.SupportedVersionRange;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.ControlRecordUtils;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;

/** Records and voters, of the suite and of Kafka. */
final class TracedRecords {
    static final long TIMESTAMP_MS = 1000;
    private static final int BATCH_BYTES = 4096;

    private TracedRecords() {}

    // ---- Records. ----------------------------------------------------------------------------------------

    /** Records by their offsets. */
    static TreeMap<Long, Map<String, Object>> shown(Records records) {
        TreeMap<Long, Map<String, Object>> shown = new TreeMap<>();
        for (RecordBatch batch : records.batches()) {
            for (Record record : batch) {
                Map<String, Object> one = shown(batch, record);
                if (one != null) {
                    shown.put(record.offset(), one);
                }
            }
        }
        return shown;
    }

    /** Null for what frames a snapshot. */
    private static Map<String, Object> shown(RecordBatch batch, Record record) {
        int epoch = batch.partitionLeaderEpoch();
        if (!batch.isControlBatch()) {
            return Json.object("epoch", epoch, "kind", "Data", "value", record.value().duplicate().getLong());
        }
        return switch (ControlRecordType.parse(record.key().duplicate())) {
            case LEADER_CHANGE -> Json.object(
                    "epoch", epoch, "kind", "LeaderChange",
                    "value", ControlRecordUtils.deserializeLeaderChangeMessage(record).leaderId());
            case KRAFT_VERSION -> Json.object(
                    "epoch", epoch, "kind", "KRaftVersion",
                    "value", (int) ControlRecordUtils.deserializeKRaftVersionRecord(record).kRaftVersion());
            case KRAFT_VOTERS -> {
                VoterSet voters = VoterSet.fromVotersRecord(ControlRecordUtils.deserializeVotersRecord(record));
                yield Json.object(
                        "epoch", epoch, "kind", "Voters", "value", 0,
                        "voters", shownKeys(voters), "details", shownDetails(voters));
            }
            default -> null;
        };
    }

    /** The records from this offset on, each in a batch of its own. */
    static MemoryRecords kafkas(long offset, List<Object> records, Setup setup) {
        List<ByteBuffer> batches = new ArrayList<>();
        for (Object one : records) {
            Map<String, Object> record = Json.asObject(one);
            boolean isControl = !Json.text(record, "kind").equals("Data");
            long at = offset + batches.size();
            MemoryRecordsBuilder batch = batch(at, isControl, (int) Json.integer(record, "epoch"));
            switch (Json.text(record, "kind")) {
                case "Data" -> batch.append(
                        TIMESTAMP_MS, null, ByteBuffer.allocate(Long.BYTES).putLong(0, Json.integer(record, "value")));
                case "LeaderChange" -> batch.appendLeaderChangeMessage(
                        TIMESTAMP_MS, new LeaderChangeMessage().setLeaderId((int) Json.integer(record, "value")));
                case "KRaftVersion" -> batch.appendKRaftVersionMessage(
                        TIMESTAMP_MS, new KRaftVersionRecord().setKRaftVersion((short) Json.integer(record, "value")));
                case "Voters" -> batch.appendVotersMessage(
                        TIMESTAMP_MS,
                        voters(Json.list(record, "voters"), (List<?>) record.get("details"), setup)
                                .toVotersRecord(ControlRecordUtils.KRAFT_VOTERS_CURRENT_VERSION));
                default -> throw new Unsupported("a record " + record.get("kind"));
            }
            batches.add(batch.build().buffer());
        }
        return joined(batches);
    }

    /** The same records, each in a batch of its own, as the suite has it. */
    static MemoryRecords oneByOne(Records records) {
        List<ByteBuffer> batches = new ArrayList<>();
        for (RecordBatch batch : records.batches()) {
            for (Record record : batch) {
                MemoryRecordsBuilder single =
                        batch(record.offset(), batch.isControlBatch(), batch.partitionLeaderEpoch());
                SimpleRecord content = new SimpleRecord(record.timestamp(), record.key(), record.value());
                if (batch.isControlBatch()) {
                    single.appendControlRecordWithOffset(record.offset(), content);
                } else {
                    single.appendWithOffset(record.offset(), content);
                }
                batches.add(single.build().buffer());
            }
        }
        return joined(batches);
    }

    private static MemoryRecordsBuilder batch(long offset, boolean isControl, int epoch) {
        return new MemoryRecordsBuilder(
                new ByteBufferOutputStream(BATCH_BYTES), RecordBatch.CURRENT_MAGIC_VALUE, Compression.NONE,
                TimestampType.CREATE_TIME, offset, TIMESTAMP_MS, RecordBatch.NO_PRODUCER_ID,
                RecordBatch.NO_PRODUCER_EPOCH, RecordBatch.NO_SEQUENCE, false, isControl, epoch, BATCH_BYTES);
    }

    private static MemoryRecords joined(List<ByteBuffer> batches) {
        ByteBuffer all = ByteBuffer.allocate(batches.stream().mapToInt(ByteBuffer::remaining).sum());
        batches.forEach(batch -> all.put(batch.duplicate()));
        all.flip();
        return MemoryRecords.readableRecords(all);
    }

    // ---- Voters. -----------------------------------------------------------------------------------------

    static List<Object> shownKeys(VoterSet voters) {
        TreeMap<Integer, Object> keys = new TreeMap<>();
        voters.voterKeys().forEach(key -> keys.put(key.id(), Names.shown(key)));
        return new ArrayList<>(keys.values());
    }

    static List<Object> shownDetails(VoterSet voters) {
        TreeMap<Integer, Object> details = new TreeMap<>();
        voters.toVotersRecord(ControlRecordUtils.KRAFT_VOTERS_CURRENT_VERSION).voters().forEach(voter -> details.put(
                voter.voterId(),
                Json.object(
                        "id", voter.voterId(),
                        "endpoint", Names.shown(voters.listeners(voter.voterId())),
                        "min_version", (int) voter.kRaftVersionFeature().minSupportedVersion(),
                        "max_version", (int) voter.kRaftVersionFeature().maxSupportedVersion())));
        return new ArrayList<>(details.values());
    }

    /** Voters with these keys; who has no details is as the operators set it up. */
    static VoterSet voters(List<?> keys, List<?> details, Setup setup) {
        Map<Integer, Map<String, Object>> detailOf = new HashMap<>();
        for (Object one : details == null ? List.of() : details) {
            detailOf.put((int) Json.integer(Json.asObject(one), "id"), Json.asObject(one));
        }
        Map<Integer, VoterSet.VoterNode> nodes = new LinkedHashMap<>();
        for (Object one : keys) {
            ReplicaKey key = Names.key(one);
            Map<String, Object> detail = detailOf.get(key.id());
            nodes.put(key.id(), detail == null
                    ? VoterSet.VoterNode.of(
                            key, Names.endpoints(setup.endpointOf(key.id())), setup.supportedVersions(key.id()))
                    : VoterSet.VoterNode.of(
                            key, Names.endpoints(Json.textOrNull(detail, "endpoint")),
                            new SupportedVersionRange(
                                    (short) Json.integer(detail, "min_version"),
                                    (short) Json.integer(detail, "max_version"))));
        }
        return VoterSet.fromMap(nodes);
    }
}
