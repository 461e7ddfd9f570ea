package voter;

import adapter.Json;
import adapter.Replica;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * A minimal voter: elections, announcements and replication of a quorum whose voters never change.
 *
 * <p>It is here so that the adapter can be seen working.  Delete this folder when your own replica is in its place.
 */
public final class Voter implements Replica {
    private Member me;
    private Elections elections;
    private Leadership leadership;
    private Replication replication;

    @Override
    public Map<String, Object> hello() {
        return Json.object(
                "implementation", Json.object("name", "minimal-voter-java", "version", "1"),
                "kip_levels", Json.object("KIP-595", "partial", "KIP-996", "full", "KIP-853", "partial"),
                "kraft_versions", List.of(1L),
                "profile", "kip",
                "observability", "state",
                "unsupported", List.of(
                        "observers", "crash-in-step", "snapshots", "disk-replacement", "voter-changes",
                        "append-voters", "auto-join", "kraft-version-upgrade", "quorum-reassignment"));
    }

    @Override
    public void reset(long id, Map<String, Object> cluster) {
        load(new Member(Setup.of(id, cluster), new Disk()));
        restart(null, new Draw(0, 0, 0));
    }

    private void load(Member member) {
        me = member;
        replication = new Replication(me);
        elections = new Elections(me, replication);
        leadership = new Leadership(me);
    }

    @Override
    public Step step(String event, Map<String, Object> message, Map<String, Object> input, Draw draw) {
        me.begin(draw);
        return me.finish(me.role == Role.Stopped ? "NOT_RUNNING" : handled(event, message, input));
    }

    /** Carry out an event; gives the reason if it changes nothing. */
    private String handled(String event, Map<String, Object> message, Map<String, Object> input) {
        return switch (event) {
            case "ElectionTimeout" -> elections.afterElectionTimeout();
            case "FetchTimeout" -> elections.afterFetchTimeout();
            case "CheckQuorumTimeout" -> leadership.afterCheckQuorumTimeout();
            case "BeginQuorumEpochTimeout" -> leadership.afterBeginQuorumEpochTimeout();
            case "RequestTimeout" -> {
                boolean waited = me.awaiting.remove(Json.integer(input, "destination")) != null;
                yield waited ? null : "NOTHING_DUE";
            }
            case "Poll" -> afterPoll();
            case "PollFetch" -> replication.afterPollFetch(Json.integer(input, "destination"));
            case "ClientAppend" -> replication.afterClientAppend(input);
            case "Shutdown" -> leadership.afterShutdown();
            case "HandleVoteRequest" -> elections.afterVoteRequest(message);
            case "HandleVoteResponse" -> elections.afterVoteResponse(message);
            case "HandleBeginQuorumEpochRequest" -> leadership.afterBeginQuorumEpochRequest(message);
            case "HandleEndQuorumEpochRequest" -> leadership.afterEndQuorumEpochRequest(message);
            case "HandleBeginQuorumEpochResponse", "HandleEndQuorumEpochResponse" ->
                leadership.afterAnnouncementResponse(message);
            case "HandleFetchRequest" -> replication.afterFetchRequest(message);
            case "HandleFetchResponse" -> replication.afterFetchResponse(message);
            default -> throw new Unsupported("the event " + event);
        };
    }

    /** One request on each idle connection to a voter that something is due to. */
    private String afterPoll() {
        boolean sent = false;
        for (Key voter : me.otherVoters()) {
            if (me.awaiting.containsKey(voter.id()) || !isDueTo(voter)) {
                continue;
            }
            switch (me.role) {
                case Leader -> leadership.announce(voter);
                case Resigned -> leadership.handOver(voter);
                default -> elections.ask(voter);
            }
            sent = true;
        }
        return sent ? null : "NOTHING_DUE";
    }

    private boolean isDueTo(Key voter) {
        return switch (me.role) {
            case Prospective, Candidate -> elections.isDueTo(voter);
            case Leader, Resigned -> leadership.isDueTo(voter);
            default -> false;
        };
    }

    @Override
    public void crash(long logEndOffset) {
        me.disk.log.truncate(logEndOffset);
        me.disk.log.flush();
        load(new Member(me.setup, me.disk));
    }

    /** The role in which a process starts from its disk.  Rules: durable.restart.*. */
    @Override
    public Step restart(String endpoint, Draw draw) {
        if (endpoint != null) {
            throw new Unsupported("another endpoint after a restart: it needs UpdateVoter");
        }
        me.begin(draw);
        if (me.role != Role.Stopped) {
            return me.finish("RUNNING");
        }
        boolean ledBefore = me.leaderId != null && me.leaderId == me.key.id();
        if (me.log.lastEpoch() > me.epoch) {
            // The file was lost, and with it perhaps a vote.
            me.enter(Role.Unattached, me.log.lastEpoch(), null, null, me.key);
        } else if (ledBefore) {
            me.enter(Role.Resigned, me.epoch, me.leaderId, me.setup.endpoint(), me.votedKey);
        } else if (me.key.equals(me.votedKey) && me.leaderId == null) {
            elections.startCandidacy(me.epoch);
        } else if (me.leaderId != null) {
            me.follow(me.epoch, me.leaderId, null);
        } else {
            me.enter(Role.Unattached, me.epoch, null, null, me.votedKey);
        }
        return me.finish(null);
    }

    @Override
    public Map<String, Object> observe() {
        List<Object> awaiting = me.awaiting.entrySet().stream()
                .map(one -> (Object) List.of(one.getKey(), one.getValue())).toList();
        List<Object> fetchOffsets = me.fetchOffsets.entrySet().stream()
                .sorted(Comparator.comparingLong(one -> one.getKey().id()))
                .map(one -> (Object) List.of(one.getKey().shown(), one.getValue())).toList();
        return Json.object(
                "replica_key", me.key.shown(),
                "role", me.role.name(),
                "epoch", me.epoch,
                "leader_id", me.leaderId,
                "leader_endpoint", me.leaderEndpoint,
                "voted_key", me.votedKey == null ? null : me.votedKey.shown(),
                "log_end_offset", me.log.endOffset(),
                "last_epoch", me.log.lastEpoch(),
                "flushed_offset", me.log.flushed,
                "high_watermark", me.highWatermark,
                "voters", Json.object(
                        "offset", me.log.votersOffset(),
                        "voters", Json.list(me.votersRecord(), "voters"),
                        "target", null),
                "kraft_version", 1L,
                "granted", List.copyOf(me.granted),
                "rejected", List.copyOf(me.rejected),
                "fetched", me.fetched,
                "awaiting", awaiting,
                "acknowledged", List.copyOf(me.acknowledged),
                "fetchers", List.copyOf(me.fetchers),
                "fetch_offsets", fetchOffsets,
                "quorum_state_version", 1L);
    }
}
