package voter;

import static adapter.Adapter.object;

import adapter.Replica.Cluster;
import adapter.Replica.Draw;
import adapter.Replica.Key;
import adapter.Replica.Message;
import adapter.Replica.Software;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** One member of a quorum: what it knows, how it enters a role, and how a step ends. */
final class Member {
    final Key key;
    final Cluster cluster;

    // On disk at the end of the step, and what of it was there at its beginning.
    QuorumState quorum = new QuorumState(0, null, null);
    final List<Map<String, Object>> log = new ArrayList<>();
    int flushed; // the records before it are synced
    private QuorumState saved;
    private int written;
    private int synced;

    Role role = Role.Stopped;
    long highWatermark = -1;

    // Of one stay in a role.
    final Set<Long> answered = new HashSet<>(); // voters: in this round; at a Leader: to its announcement
    int granted; // how many of the voters, in this round
    int rejected; // likewise
    final Map<Long, Long> awaiting = new TreeMap<>(); // receiver of a request to its correlation id
    boolean fetched; // a Fetch of the Follower succeeded

    // Of one step.
    Draw draw;
    private final List<Map<String, Object>> sends = new ArrayList<>();
    final Map<String, Long> timers = new TreeMap<>();

    Member(Key key, Cluster cluster) {
        this.key = key;
        this.cluster = cluster;
    }

    boolean isMajority(int number) {
        return 2 * number > cluster.voters().size();
    }

    /** Is a key that of this member, as far as it says? */
    boolean isNamed(Key named) {
        return named == null
                || named.id() == key.id() && (named.directoryId() == null || named.equals(key));
    }

    private String endpointOf(Long id) {
        return cluster.replicas().stream()
                .filter(one -> id != null && one.id() == id).map(Software::endpoint).findFirst().orElse(null);
    }

    String leaderEndpoint() {
        return endpointOf(quorum.leader());
    }

    long lastEpoch() {
        return log.isEmpty() ? 0 : (Long) log.get(log.size() - 1).get("epoch");
    }

    /** What this voter cannot take: a log that has to be cut, or a leader that has moved. */
    boolean isBeyond(Message message) {
        Long leader = message.leaderId() == null ? (Long) message.source() : message.leaderId();
        boolean hasMoved = message.leaderEndpoint() != null && !message.leaderEndpoint().equals(endpointOf(leader));
        return hasMoved || message.divergingEpoch() != null && message.divergingEpoch() >= 0;
    }

    /** The error that a request is refused with, in the order of prevote.request.check-order, or NONE. */
    String refusal(Message request, boolean isMalformed) {
        if (request.clusterId() != null && !request.clusterId().equals(cluster.clusterId())) {
            return "INCONSISTENT_CLUSTER_ID";
        }
        return isMalformed ? "INVALID_REQUEST" : request.epoch() < quorum.epoch() ? "FENCED_LEADER_EPOCH" : "NONE";
    }

    void begin(Draw drawn) {
        draw = drawn;
        sends.clear();
        timers.clear();
        saved = quorum;
        written = log.size();
        synced = flushed;
    }

    /** The only way into a role: what belongs to the stay in the last one is forgotten. */
    void enter(Role entered) {
        // The election timer.
        boolean runsOn = entered == Role.Unattached && (role == Role.Unattached || role == Role.Resigned);
        role = entered;
        answered.clear();
        granted = 0;
        rejected = 0;
        awaiting.clear();
        fetched = false;
        timers.clear();
        long fetchMs = cluster.timeouts().fetchTimeoutMs();
        if (role == Role.Follower) {
            timers.put("fetch", fetchMs);
        } else if (role == Role.Leader && !isMajority(1)) {
            timers.putAll(Map.of("check-quorum", fetchMs * 3 / 2, "begin-quorum-epoch", fetchMs / 2));
        } else if (role != Role.Leader && !runsOn) {
            timers.put("election", draw.electionTimeoutMs());
        }
    }

    /** Follower of the known leader, or Unattached, which looks for one. */
    void followOrSearch() {
        enter(quorum.leader() == null ? Role.Unattached : Role.Follower);
    }

    /**
     * What any message teaches: a larger epoch, or the leader of the own one.  True if there was something.
     *
     * <p>Rules: state.learn-higher-epoch.*, state.unattached.leader, state.candidate.leader-equal-epoch.
     */
    boolean learn(long epoch, Long leader) {
        boolean isLater = epoch > quorum.epoch();
        if (isLater) {
            quorum = new QuorumState(epoch, null, null);
        }
        boolean isOther = leader != null && leader != key.id();
        boolean isNews = isOther && epoch == quorum.epoch() && quorum.leader() == null;
        if (isNews) {
            quorum = new QuorumState(epoch, leader, quorum.voted());
        }
        if (isLater || isNews) {
            followOrSearch();
        }
        return isLater || isNews;
    }

    /** Is there nothing more in a response: nobody waits for it, or it taught an epoch or a leader? */
    boolean isOver(Message response) {
        if (!Objects.equals(awaiting.get(response.source()), response.correlationId())) {
            return true;
        }
        awaiting.remove(response.source());
        return response.error().equals("INCONSISTENT_CLUSTER_ID")
                || response.epoch() < quorum.epoch()
                || learn(response.epoch(), response.leaderId());
    }

    private void send(String type, long destination, long correlationId, Map<String, Object> message) {
        message.putAll(object("type", type, "source", key.id(), "destination", destination,
                "correlation_id", correlationId, "epoch", quorum.epoch()));
        sends.add(object("kind", "Send", "message", message));
    }

    /** A request of its own, which awaits its answer. */
    void ask(String type, long receiver, Map<String, Object> request) {
        request.put("cluster_id", cluster.clusterId());
        awaiting.put(receiver, draw.correlationId());
        send(type, receiver, draw.correlationId(), request);
    }

    /** The answer to a request, with what this voter knows after it. */
    void answer(Message request, String type, String error, Map<String, Object> response) {
        response.putAll(object("error", error, "leader_id", quorum.leader(), "leader_endpoint", leaderEndpoint()));
        send(type, request.source(), request.correlationId(), response);
    }

    /**
     * The effects of a step: first what has to be on disk, then what is sent, then the timers.
     *
     * <p>THE POINT OF IT: nothing leaves before what it depends on is written and synced.  Rules:
     * durable.write-before-act, vote.persist-before-reply, durable.flush-before-fetch.
     */
    List<Map<String, Object>> effects() {
        List<Map<String, Object>> effects = new ArrayList<>();
        if (!quorum.equals(saved)) {
            effects.add(object("kind", "PersistQuorumState", "epoch", quorum.epoch(), "leader_id", quorum.leader(),
                    "voted_key", quorum.voted(), "version", 1));
        }
        if (log.size() > written) {
            List<Map<String, Object>> records = List.copyOf(log.subList(written, log.size()));
            effects.add(object("kind", "AppendRecords", "base_offset", written, "records", records));
        }
        if (flushed > synced) {
            effects.add(object("kind", "FlushLog", "end_offset", flushed));
        }
        effects.addAll(sends);
        timers.forEach((timer, ms) -> effects.add(object("kind", "StartTimer", "timer", timer, "duration_ms", ms)));
        return effects;
    }
}
