package voter;

import static adapter.Adapter.object;

import adapter.Replica.Key;
import adapter.Replica.Message;

/** Pre-Vote and Vote, and the timers that start them. */
final class Elections {
    private final Member me;
    private final Replication replication;

    Elections(Member me, Replication replication) {
        this.me = me;
        this.replication = replication;
    }

    void onElectionTimeout() {
        switch (me.role) {
            case Unattached, Candidate -> nominate();
            case Prospective -> me.followOrSearch();
            case Resigned -> {
                // What is left of a timer that has fired is nothing.  Rule: state.resigned.timer-handover.
                me.learn(me.quorum.epoch() + 1, null);
                me.timers.put("election", 0L);
            }
            default -> { }
        }
    }

    void onFetchTimeout() {
        if (me.role == Role.Follower) {
            nominate();
        }
    }

    /** A new Pre-Vote round with the own grant; a sole voter passes on at once. */
    private void nominate() {
        me.enter(Role.Prospective);
        count(me.key.id(), true);
    }

    /** The next epoch, a vote for itself, and a log that no crash shortens.  Rule: state.candidate.entry. */
    private void becomeCandidate() {
        me.flushed = me.log.size();
        me.quorum = new QuorumState(me.quorum.epoch() + 1, null, me.key);
        campaign();
    }

    void campaign() {
        me.enter(Role.Candidate);
        count(me.key.id(), true);
    }

    private boolean canStillWin() {
        return me.isMajority(me.cluster.voters().size() - me.rejected);
    }

    /** Won, lost or still open; each voter counts once.  Rules: prevote.response.majority, vote.response.counting. */
    private void count(long voter, boolean grants) {
        if (!me.answered.add(voter)) {
            return;
        }
        boolean couldWin = canStillWin();
        me.granted += grants ? 1 : 0;
        me.rejected += grants ? 0 : 1;
        boolean isPreVote = me.role == Role.Prospective;
        boolean isWon = me.isMajority(me.granted);
        if (isWon && isPreVote) {
            becomeCandidate();
        } else if (isWon) {
            replication.becomeLeader();
        } else if (!canStillWin() && isPreVote) {
            me.followOrSearch();
        } else if (!canStillWin() && couldWin) {
            me.timers.put("election", me.draw.electionBackoffMs()); // rule: state.candidate.lost
        }
    }

    /** One request on each idle connection to a voter that has not answered yet. */
    void onPoll() {
        for (Key voter : me.cluster.voters()) {
            long id = voter.id();
            if (voter.equals(me.key) || me.awaiting.containsKey(id) || me.answered.contains(id)) {
                continue;
            }
            boolean isPreVote = me.role == Role.Prospective;
            if (me.role == Role.Leader) {
                me.ask("BeginQuorumEpochRequest", id,
                        object("voter_key", voter, "leader_endpoint", me.leaderEndpoint()));
            } else if ((isPreVote || me.role == Role.Candidate) && canStillWin()) {
                me.ask("VoteRequest", id, object("replica_key", me.key, "voter_key", voter,
                        "last_epoch", me.lastEpoch(), "end_offset", me.log.size(), "pre_vote", isPreVote));
            }
        }
    }

    void onVoteRequest(Message request) {
        long epoch = request.epoch();
        long lastEpoch = request.lastEpoch();
        boolean isNegative = epoch < 0 || lastEpoch < 0 || request.endOffset() < 0;
        boolean isMalformed = isNegative || lastEpoch > epoch || !request.preVote() && lastEpoch == epoch;
        String error = me.refusal(request, isMalformed);
        boolean granted = false;
        if (error.equals("NONE")) {
            me.learn(epoch, null);
            if (me.isNamed(request.voterKey())) {
                granted = grants(request);
            } else {
                error = "INVALID_REQUEST";
            }
        }
        me.answer(request, "VoteResponse", error, object("granted", granted, "pre_vote", request.preVote()));
    }

    /**
     * The one vote of the epoch is cast, if that is asked for.
     *
     * <p>Rules: vote.decision-order, vote.once-per-epoch, vote.grant.*.
     */
    private boolean grants(Message request) {
        boolean isGood = request.lastEpoch() > me.lastEpoch()
                || request.lastEpoch() == me.lastEpoch() && request.endOffset() >= me.log.size();
        if (request.preVote()) {
            return isGood && me.role != Role.Leader && !me.fetched;
        }
        if (me.role != Role.Unattached && me.role != Role.Prospective) {
            return false;
        }
        if (me.quorum.voted() != null) {
            return me.quorum.voted().equals(request.replicaKey());
        }
        if (!isGood || me.quorum.leader() != null) {
            return false;
        }
        if (me.role == Role.Prospective) {
            nominate(); // it starts its round over
        }
        me.quorum = new QuorumState(me.quorum.epoch(), null, request.replicaKey());
        me.timers.put("election", me.draw.electionTimeoutMs());
        return true;
    }

    /** Counts; who knows no Pre-Vote answers as if asked for a vote, or not at all. */
    void onVoteResponse(Message response) {
        boolean isPreVote = me.role == Role.Prospective;
        if (response.error().equals("UNSUPPORTED_VERSION")) {
            if (me.awaiting.remove(response.source(), response.correlationId()) && isPreVote) {
                becomeCandidate();
            }
        } else if (!me.isOver(response)) {
            if (isPreVote && !response.preVote()) {
                becomeCandidate();
            } else if (response.error().equals("NONE") && (isPreVote || me.role == Role.Candidate)) {
                count(response.source(), response.granted());
            }
        }
    }
}
