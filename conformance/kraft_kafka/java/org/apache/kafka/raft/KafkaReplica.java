package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.utils.Timer;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.SnapshotWriter;

/** One replica of Kafka's: its process if it runs, its disk, and what the runner asks of them. */
final class KafkaReplica {
    private static final Set<String> ON_THE_WIRE = Set.of("Send", "Answer");

    private final String release;
    private final String observability;
    private final Clock clock = new Clock();

    private Setup setup;
    private Disk disk;
    private String endpoint;
    /** Null while the process does not run. */
    private RunningClient client;
    private Timers timers;
    private ClientRequests requests;
    private Connections connections;
    private List<Map<String, Object>> effects = new ArrayList<>();
    /** What killed the process in this step, or null. */
    private String died;

    KafkaReplica(String release, String observability) {
        this.release = release;
        this.observability = observability;
    }

    /** Which of the newer members its release has says what Kafka can, for a build that is no release too. */
    Map<String, Object> hello() {
        Map<String, Object> kips = Json.object("KIP-595", "full", "KIP-853", "full", "KIP-996", Elections.PRE_VOTE_LEVEL);
        if (Requests.answersBeforeCommit()) {
            kips.put("KIP-1186", "full");
        }
        List<String> unsupported = new ArrayList<>(List.of("crash-in-step", "append-voters", "quorum-reassignment"));
        if (!ClientRequests.canUpgrade()) {
            unsupported.add("kraft-version-upgrade");
        }
        if (!canJoin()) {
            unsupported.add("auto-join");
        }
        return Json.object(
                "schema", "kraft-adapter/1",
                "implementation", Json.object("name", "apache-kafka", "version", release),
                "kip_levels", kips,
                "kraft_versions", List.of(0, 1),
                "profile", profile(),
                "observability", observability,
                "state_injection", "constructed",
                "unsupported", unsupported);
    }

    /** The suite's name for what this Kafka does: that of the newest release which it is not older than. */
    private static String profile() {
        return canJoin() ? "kafka-4" : ClientRequests.canUpgrade() ? "kafka-4.1" : "kafka-4.0";
    }

    private static boolean canJoin() {
        return Member.AUTO_JOIN.isThere();
    }

    /** `before` is the state to put in place; null for a replica that is formatted and started. */
    void reset(long id, Map<String, Object> cluster, Map<String, Object> before) {
        stop();
        setup = Setup.of((int) id, cluster);
        if (setup.autoJoins() && !canJoin()) {
            throw new Unsupported("auto join");
        }
        endpoint = setup.endpointOf(setup.id());
        String directoryId = Json.text(setup.own(), "directory_id");
        if (before == null) {
            disk = Disk.formatted(setup, directoryId, setup.formattedVoters(), this::show);
            start(0);
            return;
        }
        Injection injection = new Injection(setup, before);
        disk = Disk.formatted(setup, directoryId, injection.formattedVoters(), this::show);
        injection.fill(disk);
        if (injection.isRunning()) {
            start(0);
            injection.complete(client, disk, connections);
            timers.holdExpired();
        }
        injection.check(observe(), disk);
    }

    private void start(long longerMs) {
        client = new RunningClient(setup, disk, endpoint, clock, longerMs);
        timers = new Timers(client);
        effects.addAll(timers.started());
        timers.holdExpired();
        requests = new ClientRequests(client, () -> effects.size());
        connections = new Connections(setup, client, this::show);
    }

    private void stop() {
        if (client != null) {
            client.stop();
        }
        client = null;
    }

    private void show(Map<String, Object> effect) {
        effects.add(effect);
    }

    // ---- Steps. ------------------------------------------------------------------------------------------

    Map<String, Object> step(Map<String, Object> request) {
        String event = Json.text(request, "event");
        Map<String, Object> input = request.containsKey("input") ? Json.asObject(request.get("input")) : Map.of();
        clock.tick();
        effects = new ArrayList<>();
        died = null;
        if (event.equals("ReplaceDisk")) {
            replaceDisk(Json.text(input, "directory_id"));
        } else if (client != null) {
            try {
                timers.begin();
                client.begin(KafkaAdapter.draw(request, "election_timeout_ms"));
                if (event.startsWith("Handle")) {
                    connections.handle(event.substring("Handle".length()), Json.asObject(request.get("message")));
                } else {
                    happen(event, input, KafkaAdapter.draw(request, "correlation_id"));
                }
                client.settle();
                requests.addTo(effects);
                effects.addAll(timers.started());
                timers.holdExpired();
            } catch (RunningClient.Died death) {
                die(death);
            }
        }
        return shown();
    }

    /** The fields of the reply. */
    private Map<String, Object> shown() {
        if (observability.equals("wire")) {
            effects.removeIf(effect -> !ON_THE_WIRE.contains((String) effect.get("kind")));
        }
        Map<String, Object> reply = Json.object("effects", effects);
        if (died != null) {
            reply.put("died", died);
        } else if (client != null && client.pollAgainMs() != null) {
            reply.put("poll_again_ms", client.pollAgainMs());
        }
        return reply;
    }

    /** The runner finds the replica Stopped, and the stack in what the adapter wrote to standard error. */
    private void die(RunningClient.Died death) {
        death.getCause().printStackTrace();
        died = death.getCause().toString();
        stop();
    }

    private void happen(String event, Map<String, Object> input, long correlationId) {
        switch (event) {
            case "ElectionTimeout" -> fireSearching("election");
            case "FetchTimeout" -> fireSearching("fetch");
            case "CheckQuorumTimeout" -> fire("check-quorum");
            case "BeginQuorumEpochTimeout" -> fire("begin-quorum-epoch");
            case "VoterChangeTimeout" -> fire("voter-change");
            case "RequestTimeout" -> connections.timeOut((int) Json.integer(input, "destination"));
            case "Poll" -> {
                poll();
                connections.send(correlationId);
            }
            case "PollFetch" -> {
                if (client.quorum().isFollower() || client.quorum().isUnattached()) {
                    client.pollFetch((int) Json.integer(input, "destination"), setup);
                }
                connections.send(correlationId);
            }
            case "ClientAppend" -> append(Json.integer(input, "value"));
            case "TakeSnapshot" -> takeSnapshot(Json.integer(input, "end_offset"));
            case "Shutdown" -> resign();
            case "AddVoter" -> requests.addVoter(input);
            case "RemoveVoter" -> requests.removeVoter(input);
            case "UpdateFeatures" -> requests.updateFeatures(input);
            default -> throw new Unsupported("the event " + event);
        }
    }

    private void fire(String timer) {
        if (timers.fire(timer)) {
            client.poll();
        }
    }

    /** An observer that follows or looks for a leader acts on it, if at all, with its next Fetch. */
    private void fireSearching(String timer) {
        boolean fetches = client.quorum().isFollower() || client.quorum().isUnattached();
        if (timers.fire(timer) && (client.quorum().isVoter() || !fetches)) {
            do {
                client.poll();
            } while (timers.fireBackoff());
        }
    }

    /** Send all that is due but a Fetch. */
    private void poll() {
        if (client.state() instanceof FollowerState follower) {
            Timer update = (Timer) Member.UPDATE_VOTER_TIMER.get(follower);
            if (changesVoters(follower)) {
                // How often it asks is up to the runner.
                update.reset(0);
                client.poll();
                timers.hold(update);
            }
        } else if (!client.quorum().isUnattached()) {
            client.poll();
        }
    }

    /** Whether a Follower has to tell its leader of itself: where a voter listens, or that it wants to join. */
    private boolean changesVoters(FollowerState follower) {
        boolean isDynamic = client.controlRecords().lastKraftVersion().isReconfigSupported();
        if (!client.quorum().isVoter()) {
            return setup.autoJoins() && isDynamic;
        }
        if (Member.SENDS_UPDATE_VOTER.isThere()) {
            return (boolean) Member.SENDS_UPDATE_VOTER.call(client.kafka(), follower);
        }
        // 4.0 decides it in the midst of its poll.
        return isDynamic
                && client.controlRecords().lastVoterSet().voterNodeNeedsUpdate(client.quorum().localVoterNodeOrThrow());
    }

    private void append(long value) {
        if (client.quorum().isLeader()) {
            client.kafka().prepareAppend(client.quorum().epoch(), List.of(value));
            client.kafka().schedulePreparedAppend();
        }
    }

    private void takeSnapshot(long endOffset) {
        ShownLog log = disk.log();
        if (endOffset > log.highWatermark().offset() || endOffset <= log.startOffset()) {
            return;
        }
        OffsetAndEpoch id = new OffsetAndEpoch(endOffset, log.epochBefore(endOffset));
        Optional<SnapshotWriter<Long>> snapshot = client.kafka().createSnapshot(id, TracedRecords.TIMESTAMP_MS);
        if (snapshot.isPresent()) {
            snapshot.get().freeze();
            snapshot.get().close();
            log.deleteBeforeSnapshot(id);
            log.showSnapshot(log.endOffset().offset() == endOffset);
        }
    }

    /** Not by Kafka's shutdown, after which a replica that has resigned never leaves its epoch. */
    private void resign() {
        if (client.quorum().isLeader()) {
            client.kafka().resign(client.quorum().epoch());
            client.poll();
        }
    }

    // ---- Faults and the state. ---------------------------------------------------------------------------

    void crash(long logEndOffset) {
        stop();
        disk.log().crash(logEndOffset);
    }

    Map<String, Object> restart(String newEndpoint, long electionTimeoutMs) {
        clock.tick();
        effects = new ArrayList<>();
        died = null;
        endpoint = newEndpoint == null ? setup.endpointOf(setup.id()) : newEndpoint;
        try {
            start(electionTimeoutMs);
        } catch (RunningClient.Died death) {
            die(death);
        }
        return shown();
    }

    private void replaceDisk(String directoryId) {
        if (client != null) {
            throw new Unsupported("another disk under a running process");
        }
        disk = Disk.formatted(setup, directoryId, VoterSet.empty(), this::show);
        effects.clear();
    }

    Map<String, Object> observe() {
        return Observation.of(setup, disk, client);
    }
}
