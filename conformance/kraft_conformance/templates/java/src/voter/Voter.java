package voter;

import static adapter.Adapter.object;

import adapter.Replica;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A minimal voter, there so that the adapter can be seen working: elections, the announcement of a leader, and the
 * Fetch of a Follower, with voters that never change.
 */
public final class Voter implements Replica {
    private Member me;
    private Elections elections;
    private Replication replication;

    @Override
    public Map<String, Object> hello() {
        return object(
                "implementation", object("name", "minimal-voter-java", "version", "2"),
                "kip_levels", object("KIP-595", "partial", "KIP-996", "full", "KIP-853", "partial"),
                "kraft_versions", List.of(1),
                "profile", "kip",
                "observability", "state",
                "unsupported", List.of(
                        "observers", "crash-in-step", "snapshots", "disk-replacement", "voter-changes",
                        "voters-records", "append-voters", "auto-join", "kraft-version-upgrade",
                        "quorum-reassignment", "fetch-limit"));
    }

    @Override
    public void reset(long id, Cluster cluster) {
        Software own = cluster.replicas().stream().filter(one -> one.id() == id).findFirst().orElseThrow();
        if (!cluster.profile().equals("kip") || !own.preVote().equals("supported") || !own.endpoints()) {
            throw new Unsupported("another profile than kip, or software without Pre-Vote or without endpoints");
        }
        me = new Member(new Key(id, own.directoryId()), cluster);
        replication = new Replication(me);
        elections = new Elections(me, replication);
        restart(null, new Draw(0, 0, 0));
    }

    @Override
    public List<Map<String, Object>> step(String event, Message message, Input input, Draw draw) {
        me.begin(draw);
        if (message != null && me.isBeyond(message)) {
            throw new Unsupported("a log that has to be cut, or a leader that has moved");
        }
        switch (event) {
            case "ElectionTimeout" -> elections.onElectionTimeout();
            case "FetchTimeout" -> elections.onFetchTimeout();
            case "RequestTimeout" -> me.awaiting.remove(input.destination());
            case "Poll" -> elections.onPoll();
            case "PollFetch" -> replication.onPollFetch(input.destination());
            case "HandleVoteRequest" -> elections.onVoteRequest(message);
            case "HandleVoteResponse" -> elections.onVoteResponse(message);
            case "HandleBeginQuorumEpochRequest" -> replication.onBeginQuorumEpochRequest(message);
            case "HandleBeginQuorumEpochResponse" -> replication.onBeginQuorumEpochResponse(message);
            case "HandleFetchResponse" -> replication.onFetchResponse(message);
            default -> throw new Unsupported("the event " + event);
        }
        return me.effects();
    }

    @Override
    public Map<String, Object> observe() {
        List<Object> awaiting = new ArrayList<>();
        me.awaiting.forEach((receiver, correlationId) -> awaiting.add(List.of(receiver, correlationId)));
        return object(
                "role", me.role,
                "epoch", me.quorum.epoch(),
                "leader_id", me.quorum.leader(),
                "leader_endpoint", me.role == Role.Stopped ? null : me.leaderEndpoint(),
                "voted_key", me.quorum.voted(),
                "log_end_offset", me.log.size(),
                "high_watermark", me.highWatermark,
                "fetched", me.fetched,
                "awaiting", awaiting);
    }

    @Override
    public void crash(long logEndOffset) {
        me.enter(Role.Stopped);
        me.log.subList((int) logEndOffset, me.log.size()).clear();
        me.flushed = me.log.size();
        me.highWatermark = -1;
    }

    /** The role in which a process starts from its disk.  Rules: durable.restart.*. */
    @Override
    public List<Map<String, Object>> restart(String endpoint, Draw draw) {
        if (endpoint != null) {
            throw new Unsupported("another endpoint after a restart: it needs UpdateVoter");
        }
        me.begin(draw);
        if (me.quorum.isLedBy(me.key.id())) {
            me.enter(Role.Resigned);
        } else if (me.quorum.leader() == null && me.key.equals(me.quorum.voted())) {
            elections.campaign();
        } else {
            me.followOrSearch();
        }
        return me.effects();
    }
}
