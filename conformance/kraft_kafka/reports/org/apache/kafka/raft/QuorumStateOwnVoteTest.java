package org.apache.kafka.raft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.MockTime;
import org.apache.kafka.raft.internals.KRaftControlRecordStateMachine;
import org.apache.kafka.raft.internals.KafkaRaftMetrics;
import org.apache.kafka.server.common.Feature;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A replica that has voted for itself, has lost, and follows the leader of the epoch, restarts.
 *
 * <p>For QuorumStateTest: its quorum-state names a leader, so it must not start as a Candidate of that epoch.
 */
public final class QuorumStateOwnVoteTest {
    private static final int EPOCH = 5;
    private static final int LOCAL = 1;
    private static final int LEADER = 2;

    private final Uuid localDirectory = Uuid.randomUuid();
    private final Uuid leaderDirectory = Uuid.randomUuid();
    private final MockQuorumStateStore store = new MockQuorumStateStore();

    private QuorumState restarted(VoterSet voters, KRaftVersion version) {
        KRaftControlRecordStateMachine records = mock(KRaftControlRecordStateMachine.class);
        when(records.lastVoterSet()).thenReturn(voters);
        when(records.lastVoterSetOffset())
            .thenReturn(version == KRaftVersion.KRAFT_VERSION_0 ? OptionalLong.empty() : OptionalLong.of(0));
        when(records.lastKraftVersion()).thenReturn(version);
        QuorumState state = new QuorumState(
            OptionalInt.of(LOCAL), localDirectory, records, voters.listeners(LOCAL),
            Feature.KRAFT_VERSION.supportedVersionRange(), 5000, 10000, store, new MockTime(), new LogContext(),
            new MockableRandom(1L), new KafkaRaftMetrics(new Metrics(), "raft"));
        state.initialize(new OffsetAndEpoch(0L, 0));
        return state;
    }

    private static ReplicaKey voter(int id, Uuid directory, KRaftVersion version) {
        return ReplicaKey.of(id, version == KRaftVersion.KRAFT_VERSION_0 ? ReplicaKey.NO_DIRECTORY_ID : directory);
    }

    private void writeLeaderAndOwnVote(VoterSet voters, KRaftVersion version) {
        ReplicaKey local = ReplicaKey.of(LOCAL, localDirectory);
        store.writeElectionState(
            ElectionState.withElectedLeader(EPOCH, LEADER, Optional.of(local), voters.voterIds()), version);
    }

    @ParameterizedTest
    @EnumSource(KRaftVersion.class)
    public void testInitializeFollowsKnownLeaderAndKeepsOwnVote(KRaftVersion version) {
        VoterSet voters = VoterSetTest.voterSet(
            Stream.of(voter(LOCAL, localDirectory, version), voter(LEADER, leaderDirectory, version)));
        writeLeaderAndOwnVote(voters, version);

        QuorumState state = restarted(voters, version);

        assertFalse(state.isCandidate(), "the leader of epoch " + EPOCH + " is known");
        assertTrue(state.isFollower());
        assertEquals(OptionalInt.of(LEADER), state.leaderId());
        assertEquals(OptionalInt.of(LOCAL), state.votedKey().stream().mapToInt(ReplicaKey::id).findFirst());
    }

    @Test
    public void testInitializeAsOnlyVoterIsNotCandidateOfTheEpochOfAnotherLeader() {
        KRaftVersion version = KRaftVersion.KRAFT_VERSION_1;
        VoterSet voters = VoterSetTest.voterSet(Stream.of(ReplicaKey.of(LOCAL, localDirectory)));
        writeLeaderAndOwnVote(voters, version);

        QuorumState state = restarted(voters, version);

        assertFalse(state.isCandidate() && state.epoch() == EPOCH,
            "its own vote is a majority: it would lead epoch " + EPOCH + ", which replica " + LEADER + " leads");
    }
}
