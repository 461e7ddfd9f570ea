package voter;

import adapter.Json;
import adapter.Replica.Draw;
import adapter.Replica.Step;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** One member of a quorum: what it knows, how it enters a role, and how a step ends. */
final class Member {
    final Setup setup;
    final Key key;
    final Disk disk;

    // Also on disk.
    long epoch;
    Long leaderId;
    Key votedKey;
    final Log log = new Log();

    // Lost in a crash.
    Role role = Role.Stopped;
    String leaderEndpoint;
    /** Offset after the last record known to be committed, -1 while unknown. */
    long highWatermark = -1;

    // Of one stay in a role.
    /** Prospective, Candidate: who granted, itself included, and who refused in this round. */
    final Set<Long> granted = new TreeSet<>();
    final Set<Long> rejected = new TreeSet<>();
    /** Follower: whether a fetch succeeded. */
    boolean fetched;
    /** Leader: where its epoch begins, how far each replica has fetched, who fetched in this check-quorum period. */
    long epochStart;
    final Map<Key, Long> fetchOffsets = new HashMap<>();
    final Set<Long> fetchers = new TreeSet<>();
    /** Leader, Resigned: who answered the announcement. */
    final Set<Long> acknowledged = new TreeSet<>();
    /** Resigned: whom it would like to see as the next leader. */
    List<Key> preferredCandidates = List.of();
    /** Outstanding requests: receiver to correlation id. */
    final Map<Long, Long> awaiting = new TreeMap<>();

    // Of one step.
    private final List<Map<String, Object>> sends = new ArrayList<>();
    private final Map<String, Long> timers = new LinkedHashMap<>();
    private Role roleBefore = Role.Stopped;
    private boolean entered;
    Draw draw;

    /** A stopped member with what is on its disk. */
    Member(Setup setup, Disk disk) {
        this.setup = setup;
        this.key = setup.key();
        this.disk = disk;
        epoch = disk.epoch;
        leaderId = disk.leaderId;
        votedKey = disk.votedKey;
        log.append(disk.log.between(0, disk.log.endOffset()));
        log.flushed = disk.log.flushed;
    }

    // ---- Voters. -----------------------------------------------------------------------------------------

    /** The newest voters set in the own log, committed or not, else the one it was formatted with. */
    Map<String, Object> votersRecord() {
        long offset = log.votersOffset();
        return offset < 0 ? setup.formattedVoters() : log.between(offset, offset + 1).get(0);
    }

    List<Key> voters() {
        return Json.list(votersRecord(), "voters").stream().map(Key::of).toList();
    }

    List<Key> otherVoters() {
        return voters().stream().filter(voter -> !voter.equals(key)).toList();
    }

    boolean isVoter() {
        return voters().contains(key);
    }

    boolean isMajority(int number) {
        return 2 * number > voters().size();
    }

    private String endpointOf(long voter) {
        for (Object details : Json.list(votersRecord(), "details")) {
            if (Json.integer(Json.asObject(details), "id") == voter) {
                return Json.text(Json.asObject(details), "endpoint");
            }
        }
        return null;
    }

    // ---- Roles. ------------------------------------------------------------------------------------------

    /** The only way into a role: what belongs to the stay in the last one is forgotten. */
    void enter(Role entering, long inEpoch, Long leader, String endpoint, Key vote) {
        role = entering;
        epoch = inEpoch;
        leaderId = leader;
        leaderEndpoint = endpoint;
        votedKey = vote;
        granted.clear();
        rejected.clear();
        fetched = false;
        epochStart = 0;
        fetchOffsets.clear();
        fetchers.clear();
        acknowledged.clear();
        preferredCandidates = List.of();
        awaiting.clear();
        entered = true;
    }

    /** Follower of a leader, or Unattached that remembers it while nobody says where it listens. */
    void follow(long inEpoch, long leader, String endpoint) {
        String known = endpoint != null ? endpoint : endpointOf(leader);
        Key vote = inEpoch == epoch ? votedKey : null;
        enter(known == null ? Role.Unattached : Role.Follower, inEpoch, leader, known, vote);
    }

    /**
     * What any message teaches: a larger epoch, or the leader of the own one.  True if there was something.
     *
     * <p>Rules: state.learn-higher-epoch.*, state.unattached.leader, state.candidate.leader-equal-epoch.
     */
    boolean learn(long inEpoch, Long leader, String endpoint) {
        boolean named = leader != null && leader != key.id();
        if (inEpoch > epoch) {
            if (named) {
                follow(inEpoch, leader, endpoint);
            } else {
                enter(Role.Unattached, inEpoch, null, null, null);
            }
            return true;
        }
        boolean isNews = leaderId == null
                || (leaderId.equals(leader) && role == Role.Unattached && endpoint != null);
        if (inEpoch == epoch && named && isNews) {
            follow(inEpoch, leader, endpoint);
            return true;
        }
        return false;
    }

    /** Does a message name another leader of the own epoch than the one that is known? */
    boolean namesSecondLeader(long inEpoch, Long leader) {
        return inEpoch == epoch && leader != null && leaderId != null && !leaderId.equals(leader);
    }

    /** What all responses have in common; a refusal if there is nothing to learn from this one. */
    String received(Map<String, Object> response) {
        long source = Json.integer(response, "source");
        if (!Objects.equals(awaiting.get(source), Json.integer(response, "correlation_id"))) {
            return "UNCORRELATED_RESPONSE";
        }
        awaiting.remove(source);
        return null;
    }

    /** Why a correlated response is of no use: another cluster, an older epoch, a second leader; null if it is. */
    String useless(Map<String, Object> response) {
        if (error(response).equals("INCONSISTENT_CLUSTER_ID")) {
            return "ERROR_RESPONSE";
        }
        if (Json.integer(response, "epoch") < epoch) {
            return "STALE_EPOCH";
        }
        return namesSecondLeader(Json.integer(response, "epoch"), leaderIn(response)) ? "SECOND_LEADER_IN_EPOCH" : null;
    }

    /** True if a response taught this member an epoch or a leader. */
    boolean learnFrom(Map<String, Object> response) {
        String endpoint = Json.textOrNull(response, "leader_endpoint");
        return learn(Json.integer(response, "epoch"), leaderIn(response), endpoint);
    }

    static Long leaderIn(Map<String, Object> message) {
        return (Long) message.get("leader_id");
    }

    static String error(Map<String, Object> response) {
        return Json.text(response, "error");
    }

    boolean isForeign(Map<String, Object> request) {
        String cluster = Json.textOrNull(request, "cluster_id");
        return cluster != null && !cluster.equals(setup.clusterId());
    }

    // ---- A step. -----------------------------------------------------------------------------------------

    void begin(Draw drawn) {
        draw = drawn;
        roleBefore = role;
        entered = false;
        sends.clear();
        timers.clear();
    }

    void send(String type, long destination, long correlationId, Object... fields) {
        Map<String, Object> message = Json.object(
                "type", type, "source", key.id(), "destination", destination, "correlation_id", correlationId);
        message.putAll(Json.object(fields));
        sends.add(Json.object("kind", "Send", "message", message));
    }

    /** A request of its own, which awaits its answer. */
    void ask(String type, Key receiver, Object... fields) {
        awaiting.put(receiver.id(), draw.correlationId());
        send(type, receiver.id(), draw.correlationId(), fields);
    }

    /** The answer to a request, with what this member knows after it. */
    void answer(Map<String, Object> request, String type, String error, Object... fields) {
        Map<String, Object> common = Json.object(
                "error", error, "epoch", epoch, "leader_id", leaderId, "leader_endpoint", leaderEndpoint);
        common.putAll(Json.object(fields));
        List<Object> all = new ArrayList<>();
        common.forEach((name, value) -> all.addAll(java.util.Arrays.asList(name, value)));
        send(type, Json.integer(request, "source"), Json.integer(request, "correlation_id"), all.toArray());
    }

    void startTimer(String timer, long durationMs) {
        timers.put(timer, durationMs);
    }

    /**
     * The effects of a step: first what has to be on disk, then what is sent, then the timers.
     *
     * <p>THE POINT OF IT: nothing leaves before what it depends on is written and synced.  Rules:
     * durable.write-before-act, vote.persist-before-reply, durable.flush-before-fetch.
     */
    Step finish(String refusal) {
        List<Map<String, Object>> effects = new ArrayList<>();
        boolean isSaved = disk.epoch == epoch
                && Objects.equals(disk.leaderId, leaderId)
                && Objects.equals(disk.votedKey, votedKey);
        if (!isSaved) {
            disk.epoch = epoch;
            disk.leaderId = leaderId;
            disk.votedKey = votedKey;
            Object vote = votedKey == null ? null : votedKey.shown();
            effects.add(Json.object(
                    "kind", "PersistQuorumState", "epoch", epoch, "leader_id", leaderId, "voted_key", vote,
                    "version", 1L));
        }
        long written = disk.log.endOffset();
        if (log.endOffset() < written) {
            disk.log.truncate(log.endOffset());
            effects.add(Json.object("kind", "TruncateLog", "end_offset", log.endOffset()));
        } else if (log.endOffset() > written) {
            List<Map<String, Object>> appended = log.between(written, log.endOffset());
            disk.log.append(appended);
            effects.add(Json.object("kind", "AppendRecords", "base_offset", written, "records", appended));
        }
        if (log.flushed > disk.log.flushed) {
            disk.log.flushed = log.flushed;
            effects.add(Json.object("kind", "FlushLog", "end_offset", log.flushed));
        }
        effects.addAll(sends);
        if (entered) {
            startTimersOfRole();
        }
        timers.forEach((timer, durationMs) ->
                effects.add(Json.object("kind", "StartTimer", "timer", timer, "duration_ms", durationMs)));
        return new Step(effects, refusal);
    }

    /** The timers that a role begins with, unless the step has started them; one that runs on is not started. */
    private void startTimersOfRole() {
        switch (role) {
            case Unattached -> {
                if (roleBefore != Role.Unattached && roleBefore != Role.Resigned) {
                    timers.putIfAbsent("election", draw.electionTimeoutMs());
                }
            }
            case Prospective, Candidate, Resigned -> timers.putIfAbsent("election", draw.electionTimeoutMs());
            case Follower -> timers.putIfAbsent("fetch", setup.fetchTimeoutMs());
            case Leader -> {
                if (!otherVoters().isEmpty()) {
                    timers.putIfAbsent("check-quorum", setup.checkQuorumPeriodMs());
                    timers.putIfAbsent("begin-quorum-epoch", setup.beginQuorumEpochIntervalMs());
                }
            }
            case Stopped -> { }
        }
    }
}
