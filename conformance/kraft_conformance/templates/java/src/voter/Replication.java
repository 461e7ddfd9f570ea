package voter;

import static adapter.Adapter.object;

import adapter.Replica.Message;
import java.util.List;

/** The announcement of a leader, and the Fetch of a Follower. */
final class Replication {
    private final Member me;

    Replication(Member me) {
        this.me = me;
    }

    /** The start of its epoch is in the log.  Rules: state.candidate.to-leader, state.leader.first-leader. */
    void becomeLeader() {
        long epoch = me.quorum.epoch();
        me.quorum = new QuorumState(epoch, me.key.id(), me.quorum.voted());
        me.enter(Role.Leader);
        me.log.add(object("epoch", epoch, "kind", "LeaderChange", "value", me.key.id()));
        if (me.log.size() == 1) { // rule: bootstrap.first-leader-writes-records
            me.log.add(object("epoch", epoch, "kind", "KRaftVersion", "value", 1));
            me.log.add(object("epoch", epoch, "kind", "Voters", "value", 0, "voters", me.cluster.voters()));
        }
        me.flushed = me.log.size();
        if (me.isMajority(1)) {
            me.highWatermark = me.log.size();
        }
    }

    /** The sender leads: learn it, then answer; the key only decides the answer. */
    void onBeginQuorumEpochRequest(Message request) {
        String error = me.refusal(request, false);
        if (error.equals("NONE")) {
            me.learn(request.epoch(), request.source());
            if (me.role == Role.Prospective) {
                // The leader that it gave up on is there after all.  Rule: state.prospective.discovers-leader.
                me.enter(Role.Follower);
            }
            error = me.isNamed(request.voterKey()) ? "NONE" : "INVALID_REQUEST";
        }
        me.answer(request, "BeginQuorumEpochResponse", error, object());
    }

    void onBeginQuorumEpochResponse(Message response) {
        if (!me.isOver(response) && response.error().equals("NONE")) {
            me.answered.add(response.source());
        }
    }

    /** Asks for everything after the own log, which is synced first.  Rule: durable.flush-before-fetch. */
    void onPollFetch(long destination) {
        List<Long> servers = me.cluster.bootstrapServers();
        boolean isServer = destination != me.key.id() && (servers.isEmpty() || servers.contains(destination));
        boolean isDue = me.role == Role.Follower && me.quorum.isLedBy(destination)
                || me.role == Role.Unattached && isServer;
        if (isDue && me.awaiting.isEmpty()) {
            me.flushed = me.log.size();
            me.ask("FetchRequest", destination, object("replica_key", me.key, "fetch_offset", me.log.size(),
                    "last_epoch", me.lastEpoch()));
        }
    }

    /** Data is taken only as Follower of that leader in that epoch.  Rule: fetch.response.common. */
    void onFetchResponse(Message response) {
        boolean isOver = me.isOver(response) || !response.error().equals("NONE");
        if (isOver || me.role != Role.Follower || !me.quorum.isLedBy(response.source())) {
            return;
        }
        me.log.addAll(response.records());
        long published = Math.min(response.highWatermark(), me.log.size());
        me.highWatermark = Math.max(me.highWatermark, published);
        me.fetched = true;
        me.timers.put("fetch", me.cluster.timeouts().fetchTimeoutMs());
    }
}
