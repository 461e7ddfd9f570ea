package org.apache.kafka.raft;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.message.VoteRequestData;
import org.apache.kafka.common.metrics.Metrics;

/** The part of Kafka that KIP-996 (Pre-Vote) has changed, as 3.9 has it: without Pre-Vote. */
final class Elections {
    /** Level of KIP-996 in `hello`. */
    static final String PRE_VOTE_LEVEL = "none";
    /** The newest version of VoteRequest. */
    static final short VOTE_VERSION = 1;

    private Elections() {}

    /** Also "supported", because a schedule of a finding may need no Pre-Vote; "ignored" is other software. */
    static boolean canPlay(String preVote) {
        return !preVote.equals("ignored");
    }

    static VoteRequestData voteRequest(Map<String, Object> message) {
        if (Json.flag(message, "pre_vote")) {
            throw new Unsupported("a Pre-Vote: Kafka's VoteRequest has no field for it");
        }
        return RaftUtil.singletonVoteRequest(
                Names.PARTITION, Json.textOrNull(message, "cluster_id"), (int) Json.integer(message, "epoch"),
                Names.key(message.get("replica_key")), Names.keyOrNobody(message, "voter_key"),
                (int) Json.integer(message, "last_epoch"), Json.integer(message, "end_offset"));
    }

    static Map<String, Object> shown(VoteRequestData request) {
        VoteRequestData.PartitionData partition = request.topics().get(0).partitions().get(0);
        return Json.object(
                "type", "VoteRequest", "epoch", partition.candidateEpoch(),
                "replica_key", Names.shown(partition.candidateId(), partition.candidateDirectoryId()),
                "voter_key", Names.shown(request.voterId(), partition.voterDirectoryId()),
                "last_epoch", partition.lastOffsetEpoch(), "end_offset", partition.lastOffset(),
                "pre_vote", isPreVote(request), "cluster_id", request.clusterId());
    }

    static boolean isPreVote(VoteRequestData request) {
        return false;
    }

    static ElectionState withElectedLeader(int epoch, int leader, Optional<ReplicaKey> vote, Set<Integer> voters) {
        if (vote.isPresent()) {
            throw new Unsupported("a state with a vote and a leader: Kafka keeps no vote beside a leader");
        }
        return ElectionState.withElectedLeader(epoch, leader, voters);
    }

    static void becomeProspective(QuorumState quorum) {
        throw new Unsupported("a state with the role Prospective");
    }

    /** The replica that this one has voted for in its epoch; Kafka keeps another's as Unattached alone. */
    static Optional<ReplicaKey> votedKey(QuorumState quorum) {
        return quorum.isCandidate()
                ? Optional.of(quorum.localReplicaKeyOrThrow())
                : quorum.maybeUnattachedState().flatMap(UnattachedState::votedKey);
    }

    /** The voters that have granted or rejected the vote; none if the replica does not stand for election. */
    static Set<Integer> voters(EpochState state, boolean granted) {
        if (!(state instanceof CandidateState candidate)) {
            return Set.of();
        }
        return granted ? candidate.grantingVoters() : candidate.rejectingVoters();
    }

    /** Count a vote, if the replica stands for election. */
    static void recordVote(EpochState state, int voter, boolean granted) {
        if (state instanceof CandidateState candidate) {
            if (granted) {
                candidate.recordGrantedVote(voter);
            } else {
                candidate.recordRejectedVote(voter);
            }
        }
    }

    static void initialize(
            KafkaRaftClient<Long> client, Map<Integer, InetSocketAddress> voters, QuorumStateStore store,
            Metrics metrics) {
        client.initialize(voters, store, metrics);
    }
}
