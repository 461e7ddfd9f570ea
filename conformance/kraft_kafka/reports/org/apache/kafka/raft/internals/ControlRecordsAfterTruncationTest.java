package org.apache.kafka.raft.internals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.raft.ExternalKRaftMetrics;
import org.apache.kafka.raft.MockLog;
import org.apache.kafka.raft.VoterSet;
import org.apache.kafka.raft.VoterSetTest;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.RecordsSnapshotWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** For KRaftControlRecordStateMachineTest: what takes the place of a truncated log has to be read. */
public final class ControlRecordsAfterTruncationTest {
    private static final int BUFFER_BYTES = 512;

    private final Map<Integer, VoterSet.VoterNode> three = VoterSetTest.voterMap(IntStream.of(1, 2, 3), true);
    private final VoterSet first = VoterSetTest.voterSet(three);
    private final VoterSet committed = first.addVoter(VoterSetTest.voterNode(4, true)).orElseThrow();
    private final VoterSet uncommitted = first.removeVoter(three.get(3).voterKey()).orElseThrow();
    private final MockLog log = new MockLog(new TopicPartition("log", 0), Uuid.randomUuid(), new LogContext());
    private final KRaftControlRecordStateMachine records = new KRaftControlRecordStateMachine(
        VoterSet.empty(), log, new StringSerde(), BufferSupplier.NO_CACHING, 1024, new LogContext(),
        new KafkaRaftMetrics(new Metrics(), "raft"), mock(ExternalKRaftMetrics.class));

    @BeforeEach
    public void appendKraftVersionAndVoters() {
        log.appendAsLeader(
            MemoryRecords.withKRaftVersionRecord(
                0, 0, 1, ByteBuffer.allocate(BUFFER_BYTES), new KRaftVersionRecord().setKRaftVersion((short) 1)),
            1);
        appendVoters(first, 1);
    }

    private long end() {
        return log.endOffset().offset();
    }

    private void appendVoters(VoterSet voters, int epoch) {
        log.appendAsLeader(
            MemoryRecords.withVotersRecord(
                end(), 0, epoch, ByteBuffer.allocate(BUFFER_BYTES), voters.toVotersRecord((short) 0)),
            epoch);
    }

    private void appendOthers(int number, int epoch) {
        for (int i = 0; i < number; i++) {
            log.appendAsLeader(
                MemoryRecords.withLeaderChangeMessage(
                    end(), 0, epoch, ByteBuffer.allocate(BUFFER_BYTES), new LeaderChangeMessage()),
                epoch);
        }
    }

    /** A leader appends five records that reach nobody; the next leader has it truncate them, and changes the voters. */
    private void truncateAndAppendVoters() {
        appendOthers(5, 1);
        records.updateState();
        log.truncateTo(3);
        records.truncateNewEntries(3);
        appendVoters(committed, 2);
    }

    @Test
    public void testVotersRecordBelowTheOldEndIsRead() {
        truncateAndAppendVoters();
        records.updateState();
        assertEquals(committed, records.lastVoterSet());
    }

    @Test
    public void testVotersRecordBelowTheOldEndIsReadOnceTheLogIsLonger() {
        truncateAndAppendVoters();
        appendOthers(20, 2);
        records.updateState();
        assertEquals(committed, records.lastVoterSet());
    }

    @Test
    public void testSnapshotAfterTruncationHasTheVotersOfTheLog() {
        truncateAndAppendVoters();
        records.updateState();
        // KafkaRaftClient.createSnapshot writes this set into the snapshot.
        assertEquals(Optional.of(committed), records.voterSetAtOffset(end() - 1));
    }

    /** As KafkaRaftClient.handleFetchSnapshotResponse does, with the snapshot of a newer epoch. */
    private void loadSnapshot(long endOffset) {
        OffsetAndEpoch id = new OffsetAndEpoch(endOffset, 2);
        try (RecordsSnapshotWriter<?> writer = new RecordsSnapshotWriter.Builder()
                .setRawSnapshotWriter(log.createNewSnapshotUnchecked(id).orElseThrow())
                .setKraftVersion(KRaftVersion.KRAFT_VERSION_1)
                .setVoterSet(Optional.of(committed))
                .build(new StringSerde())) {
            writer.freeze();
        }
        assertTrue(log.truncateToLatestSnapshot());
        records.updateState();
    }

    @Test
    public void testSnapshotShorterThanTheLogIsLoaded() {
        appendVoters(uncommitted, 1);
        appendOthers(20, 1);
        records.updateState();
        loadSnapshot(end() - 10);
        assertEquals(committed, records.lastVoterSet());
    }

    @Test
    public void testSnapshotAsLongAsTheLogIsLoaded() {
        appendVoters(uncommitted, 1);
        records.updateState();
        loadSnapshot(end());
        assertEquals(committed, records.lastVoterSet());
    }

    /** The control: a snapshot beyond the log is loaded. */
    @Test
    public void testSnapshotBeyondTheLogIsLoaded() {
        appendVoters(uncommitted, 1);
        records.updateState();
        loadSnapshot(end() + 10);
        assertEquals(committed, records.lastVoterSet());
    }
}
