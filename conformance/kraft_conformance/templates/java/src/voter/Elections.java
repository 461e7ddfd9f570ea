package voter;

import adapter.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Pre-Vote and Vote, and the timers that start them. */
final class Elections {
    private final Member me;
    private final Replication replication;

    Elections(Member me, Replication replication) {
        this.me = me;
        this.replication = replication;
    }

    // ---- Timers. -----------------------------------------------------------------------------------------

    String afterElectionTimeout() {
        switch (me.role) {
            case Unattached, Candidate -> nominate();
            case Prospective -> losePreVote();
            case Resigned -> {
                // What is left of a timer that has fired is nothing.  Rule: state.resigned.timer-handover.
                me.enter(Role.Unattached, me.epoch + 1, null, null, null);
                me.startTimer("election", 0);
            }
            default -> {
                return "NOT_IN_ROLE";
            }
        }
        return null;
    }

    String afterFetchTimeout() {
        if (me.role != Role.Follower) {
            return "NOT_IN_ROLE";
        }
        nominate();
        return null;
    }

    /** A new Pre-Vote round with the own grant; a sole voter passes on at once. */
    private void nominate() {
        me.enter(Role.Prospective, me.epoch, me.leaderId, me.leaderEndpoint, me.votedKey);
        me.granted.add(me.key.id());
        if (me.isMajority(1)) {
            toCandidate();
        }
    }

    /** Back to Follower of the known leader, or to Unattached to look for one. */
    private void losePreVote() {
        boolean follows = me.leaderId != null && me.leaderEndpoint != null;
        String endpoint = follows ? me.leaderEndpoint : null;
        me.enter(follows ? Role.Follower : Role.Unattached, me.epoch, me.leaderId, endpoint, me.votedKey);
    }

    /** The next epoch, a vote for itself, and a log that no crash shortens.  Rule: state.candidate.entry. */
    private void toCandidate() {
        me.log.flush();
        startCandidacy(me.epoch + 1);
    }

    void startCandidacy(long inEpoch) {
        me.enter(Role.Candidate, inEpoch, null, null, me.key);
        me.granted.add(me.key.id());
        if (me.isMajority(1)) {
            toLeader();
        }
    }

    /** Leader with the start of its epoch in the log.  Rules: state.candidate.to-leader, state.leader.first-leader. */
    private void toLeader() {
        me.enter(Role.Leader, me.epoch, me.key.id(), me.setup.endpoint(), me.votedKey);
        me.epochStart = me.log.endOffset();
        List<Map<String, Object>> records = new ArrayList<>();
        records.add(Json.object("epoch", me.epoch, "kind", "LeaderChange", "value", me.key.id()));
        if (me.log.votersOffset() < 0) {
            Map<String, Object> voters = Json.object("epoch", me.epoch, "kind", "Voters", "value", 0L);
            voters.putAll(me.setup.formattedVoters());
            records.add(Json.object("epoch", me.epoch, "kind", "KRaftVersion", "value", 1L));
            records.add(voters);
        }
        replication.append(records);
    }

    // ---- Requests. ---------------------------------------------------------------------------------------

    /** The voters that a Vote or Pre-Vote is due to.  Rule: prevote.request.recipients. */
    boolean isDueTo(Key voter) {
        return canStillWin() && !me.granted.contains(voter.id()) && !me.rejected.contains(voter.id());
    }

    void ask(Key voter) {
        me.ask("VoteRequest", voter,
                "epoch", me.epoch,
                "replica_key", me.key.shown(),
                "voter_key", voter.shown(),
                "last_epoch", me.log.lastEpoch(),
                "end_offset", me.log.endOffset(),
                "pre_vote", me.role == Role.Prospective,
                "cluster_id", me.setup.clusterId());
    }

    private boolean canStillWin() {
        return me.isMajority(me.voters().size() - me.rejected.size());
    }

    /** The checks in their order.  Rules: prevote.request.check-order, vote.decision-order. */
    String afterVoteRequest(Map<String, Object> request) {
        boolean preVote = Json.flag(request, "pre_vote");
        long epoch = Json.integer(request, "epoch");
        if (me.isForeign(request)) {
            answer(request, false, "INCONSISTENT_CLUSTER_ID");
            return "FOREIGN_CLUSTER";
        }
        if (isMalformed(request, preVote)) {
            answer(request, false, "INVALID_REQUEST");
            return "MALFORMED_REQUEST";
        }
        if (epoch < me.epoch) {
            answer(request, false, "FENCED_LEADER_EPOCH");
            return "STALE_EPOCH";
        }
        if (epoch > me.epoch) {
            me.enter(Role.Unattached, epoch, null, null, null);
        }
        if (!me.key.isAddressedBy(request.get("voter_key"))) {
            answer(request, false, "INVALID_REQUEST");
            return null;
        }
        Key requester = Key.of(request.get("replica_key"));
        boolean granted = preVote ? grantsPreVote(request) : grantsVote(request, requester);
        if (granted && !preVote && me.votedKey == null) {
            castVote(requester);
        }
        answer(request, granted, "NONE");
        return null;
    }

    private void answer(Map<String, Object> request, boolean granted, String error) {
        me.answer(request, "VoteResponse", error, "granted", granted, "pre_vote", request.get("pre_vote"));
    }

    private static boolean isMalformed(Map<String, Object> request, boolean preVote) {
        long epoch = Json.integer(request, "epoch");
        long lastEpoch = Json.integer(request, "last_epoch");
        boolean negative = epoch < 0 || lastEpoch < 0 || Json.integer(request, "end_offset") < 0;
        return negative || lastEpoch > epoch || (!preVote && lastEpoch == epoch);
    }

    private boolean grantsPreVote(Map<String, Object> request) {
        if (me.role == Role.Leader || (me.role == Role.Follower && me.fetched)) {
            return false;
        }
        return me.log.isMatchedBy(Json.integer(request, "last_epoch"), Json.integer(request, "end_offset"));
    }

    private boolean grantsVote(Map<String, Object> request, Key requester) {
        if (me.role != Role.Unattached && me.role != Role.Prospective) {
            return false;
        }
        if (me.votedKey != null) {
            return me.votedKey.equals(requester);
        }
        if (me.leaderId != null) {
            return false;
        }
        return me.log.isMatchedBy(Json.integer(request, "last_epoch"), Json.integer(request, "end_offset"));
    }

    /** The one vote of the epoch; a Prospective starts its round over.  Rules: vote.once-per-epoch, vote.grant.*. */
    private void castVote(Key requester) {
        if (me.role == Role.Prospective) {
            me.enter(Role.Prospective, me.epoch, me.leaderId, me.leaderEndpoint, requester);
            me.granted.add(me.key.id());
        }
        me.votedKey = requester;
        me.startTimer("election", me.draw.electionTimeoutMs());
    }

    // ---- Responses. --------------------------------------------------------------------------------------

    /** Correlation, then epoch and leader, then support for Pre-Vote, then the count. */
    String afterVoteResponse(Map<String, Object> response) {
        String refusal = me.received(response);
        if (refusal != null) {
            return refusal;
        }
        if (Member.error(response).equals("UNSUPPORTED_VERSION")) {
            if (me.role != Role.Prospective) {
                return "NO_PRE_VOTE_ROUND";
            }
            toCandidate();
            return null;
        }
        refusal = me.useless(response);
        if (refusal != null) {
            return refusal;
        }
        if (me.learnFrom(response)) {
            return null;
        }
        if (me.role == Role.Prospective && !Json.flag(response, "pre_vote")) {
            toCandidate();
            return null;
        }
        if (!Member.error(response).equals("NONE")) {
            return "ERROR_RESPONSE";
        }
        if (me.role != Role.Prospective && me.role != Role.Candidate) {
            return "ELECTION_IS_OVER";
        }
        count(Json.integer(response, "source"), Json.flag(response, "granted"));
        return null;
    }

    /** Won, lost or still open; each voter counts once.  Rules: prevote.response.majority, vote.response.counting. */
    private void count(long voter, boolean granted) {
        boolean couldWin = canStillWin();
        boolean isVoter = me.voters().stream().anyMatch(known -> known.id() == voter);
        if (isVoter && !me.granted.contains(voter) && !me.rejected.contains(voter)) {
            (granted ? me.granted : me.rejected).add(voter);
        }
        if (me.isMajority(me.granted.size())) {
            if (me.role == Role.Prospective) {
                toCandidate();
            } else {
                toLeader();
            }
        } else if (!canStillWin() && me.role == Role.Prospective) {
            losePreVote();
        } else if (!canStillWin() && couldWin) {
            // Rule: state.candidate.lost.
            me.startTimer("election", me.draw.electionBackoffMs());
        }
    }
}
