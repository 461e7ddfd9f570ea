package org.apache.kafka.raft;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.message.VoteRequestData;
import org.apache.kafka.common.metrics.Metrics;

/**
 * The part of Kafka that KIP-996 (Pre-Vote) has changed, as releases since 4.0 have it.  Releases without Pre-Vote get
 * the class of this name in the folder `without_pre_vote`.
 */
final class Elections {
    /** Level of KIP-996 in `hello`. */
    static final String PRE_VOTE_LEVEL = "full";
    /** The newest version of VoteRequest. */
    static final short VOTE_VERSION = 2;

    private Elections() {}

    /** True if Kafka can play a replica with this `pre_vote` in the cluster. */
    static boolean canPlay(String preVote) {
        return preVote.equals("supported");
    }

    static VoteRequestData voteRequest(Map<String, Object> message) {
        return RaftUtil.singletonVoteRequest(
                Names.PARTITION, Json.textOrNull(message, "cluster_id"), (int) Json.integer(message, "epoch"),
                Names.key(message.get("replica_key")), Names.keyOrNobody(message, "voter_key"),
                (int) Json.integer(message, "last_epoch"), Json.integer(message, "end_offset"),
                Json.flag(message, "pre_vote"));
    }

    static Map<String, Object> shown(VoteRequestData request) {
        VoteRequestData.PartitionData partition = request.topics().get(0).partitions().get(0);
        return Json.object(
                "type", "VoteRequest", "epoch", partition.replicaEpoch(),
                "replica_key", Names.shown(partition.replicaId(), partition.replicaDirectoryId()),
                "voter_key", Names.shown(request.voterId(), partition.voterDirectoryId()),
                "last_epoch", partition.lastOffsetEpoch(), "end_offset", partition.lastOffset(),
                "pre_vote", isPreVote(request), "cluster_id", request.clusterId());
    }

    static boolean isPreVote(VoteRequestData request) {
        return request.topics().get(0).partitions().get(0).preVote();
    }

    static ElectionState withElectedLeader(int epoch, int leader, Optional<ReplicaKey> vote, Set<Integer> voters) {
        return ElectionState.withElectedLeader(epoch, leader, vote, voters);
    }

    static void becomeProspective(QuorumState quorum) {
        quorum.transitionToProspective();
    }

    /** The replica that this one has voted for in its epoch. */
    static Optional<ReplicaKey> votedKey(QuorumState quorum) {
        return quorum.votedKey();
    }

    /** The voters that have granted or rejected the vote; none if the replica does not stand for election. */
    static Set<Integer> voters(EpochState state, boolean granted) {
        if (!(state instanceof NomineeState nominee)) {
            return Set.of();
        }
        return granted ? nominee.epochElection().grantingVoters() : nominee.epochElection().rejectingVoters();
    }

    /** Count a vote, if the replica stands for election. */
    static void recordVote(EpochState state, int voter, boolean granted) {
        if (state instanceof NomineeState nominee) {
            if (granted) {
                nominee.recordGrantedVote(voter);
            } else {
                nominee.recordRejectedVote(voter);
            }
        }
    }

    static void initialize(
            KafkaRaftClient<Long> client, Map<Integer, InetSocketAddress> voters, QuorumStateStore store,
            Metrics metrics) {
        client.initialize(voters, store, metrics, ignored -> { });
    }
}
