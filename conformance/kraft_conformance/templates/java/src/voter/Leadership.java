package voter;

import adapter.Json;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** The announcement of a leader, check quorum, and the hand-over. */
final class Leadership {
    private final Member me;

    Leadership(Member me) {
        this.me = me;
    }

    private boolean leadsOthers() {
        return me.role == Role.Leader && !me.otherVoters().isEmpty();
    }

    /** No majority fetched within the period: the Leader gives up.  Rule: check-quorum.resign. */
    String afterCheckQuorumTimeout() {
        return leadsOthers() ? resigned() : "NOT_IN_ROLE";
    }

    String afterShutdown() {
        return me.role == Role.Leader ? resigned() : "NOT_IN_ROLE";
    }

    private String resigned() {
        List<Key> preferred = me.otherVoters().stream()
                .sorted(Comparator.comparingLong((Key voter) -> -me.fetchOffsets.getOrDefault(voter, 0L))
                        .thenComparing(Key::id))
                .toList();
        me.enter(Role.Resigned, me.epoch, me.leaderId, me.leaderEndpoint, me.votedKey);
        me.preferredCandidates = preferred;
        return null;
    }

    /** The announcement is due again at every voter that does not fetch.  Rule: begin-quorum.resend. */
    String afterBeginQuorumEpochTimeout() {
        if (!leadsOthers()) {
            return "NOT_IN_ROLE";
        }
        me.acknowledged.clear();
        me.startTimer("begin-quorum-epoch", me.setup.beginQuorumEpochIntervalMs());
        return null;
    }

    boolean isDueTo(Key voter) {
        return !me.acknowledged.contains(voter.id()) && !me.fetchers.contains(voter.id());
    }

    void announce(Key voter) {
        me.ask("BeginQuorumEpochRequest", voter,
                "epoch", me.epoch,
                "voter_key", voter.shown(),
                "leader_endpoint", me.leaderEndpoint,
                "cluster_id", me.setup.clusterId());
    }

    void handOver(Key voter) {
        me.ask("EndQuorumEpochRequest", voter,
                "epoch", me.epoch,
                "preferred_candidates", me.preferredCandidates.stream().map(Key::shown).toList(),
                "cluster_id", me.setup.clusterId());
    }

    /** The sender leads the epoch: learn it, then answer; the addressed key only decides the answer. */
    String afterBeginQuorumEpochRequest(Map<String, Object> request) {
        String refusal = refused(request, "BeginQuorumEpochResponse");
        if (refusal != null) {
            return refusal;
        }
        long epoch = Json.integer(request, "epoch");
        Long leader = (Long) request.get("source");
        String endpoint = Json.textOrNull(request, "leader_endpoint");
        if (epoch == me.epoch && leader.equals(me.leaderId) && me.role == Role.Prospective) {
            // The leader that it gave up on is there after all.  Rule: state.prospective.discovers-leader.
            me.follow(epoch, leader, endpoint == null ? me.leaderEndpoint : endpoint);
        } else {
            me.learn(epoch, leader, endpoint);
        }
        boolean addressed = me.key.isAddressedBy(request.get("voter_key"));
        me.answer(request, "BeginQuorumEpochResponse", addressed ? "NONE" : "INVALID_REQUEST");
        return null;
    }

    /** The leader of the epoch is gone: a Follower of it hurries, and refuses no Pre-Vote any more. */
    String afterEndQuorumEpochRequest(Map<String, Object> request) {
        String refusal = refused(request, "EndQuorumEpochResponse");
        if (refusal != null) {
            return refusal;
        }
        me.learn(Json.integer(request, "epoch"), (Long) request.get("source"), null);
        if (me.role == Role.Follower) {
            me.fetched = false;
            me.startTimer("fetch", handOverDelayMs(Json.list(request, "preferred_candidates")));
        }
        me.answer(request, "EndQuorumEpochResponse", "NONE");
        return null;
    }

    /** None for the first of the preferred candidates, then doubling.  Rule: end-quorum.handle. */
    private long handOverDelayMs(List<Object> candidates) {
        long longestMs = me.setup.electionBackoffMaxMs();
        for (int place = 0; place < candidates.size(); place++) {
            if (me.key.isAddressedBy(candidates.get(place))) {
                return place == 0 ? 0 : Math.min(longestMs / 8 * (1L << Math.min(place - 1, 30)), longestMs);
            }
        }
        return longestMs;
    }

    /** What both requests of a leader are refused for. */
    private String refused(Map<String, Object> request, String response) {
        if (me.isForeign(request)) {
            me.answer(request, response, "INCONSISTENT_CLUSTER_ID");
            return "FOREIGN_CLUSTER";
        }
        long epoch = Json.integer(request, "epoch");
        if (epoch < me.epoch) {
            me.answer(request, response, "FENCED_LEADER_EPOCH");
            return "STALE_EPOCH";
        }
        if (me.namesSecondLeader(epoch, (Long) request.get("source"))) {
            me.answer(request, response, "INVALID_REQUEST");
            return "SECOND_LEADER_IN_EPOCH";
        }
        return null;
    }

    /** The answer to BeginQuorumEpoch at a Leader, to EndQuorumEpoch at a Resigned replica. */
    String afterAnnouncementResponse(Map<String, Object> response) {
        String refusal = me.received(response);
        refusal = refusal == null ? me.useless(response) : refusal;
        if (refusal != null) {
            return refusal;
        }
        if (me.learnFrom(response)) {
            return null;
        }
        if (!Member.error(response).equals("NONE")) {
            return "ERROR_RESPONSE";
        }
        me.acknowledged.add(Json.integer(response, "source"));
        return null;
    }
}
