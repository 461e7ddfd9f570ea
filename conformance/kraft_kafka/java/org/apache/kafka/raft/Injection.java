package org.apache.kafka.raft;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Node;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.snapshot.RawSnapshotWriter;

/**
 * A state that no events lead to: a disk from which Kafka starts into it as far as it can, then Kafka's own transitions,
 * and then field by field what is otherwise.  What Kafka has no place for is unsupported.
 */
final class Injection {
    private static final Set<String> SELF_ELECTED = Set.of("Candidate", "Leader", "Resigned");
    /** Fields that are neither put in place nor shown: they have to be as in a replica that was just started. */
    private static final Map<String, Object> UNTOUCHED = Json.object(
            "searching", false, "acknowledged", List.of(), "fetchers", List.of(), "fetch_offsets", List.of(),
            "pending_change", null, "reports", List.of(), "awaited_targets", List.of(), "moved_to", null);

    private final Setup setup;
    private final Map<String, Object> state;
    private final List<Object> records;
    private final Map<String, Object> checkpoint;

    Injection(Setup setup, Map<String, Object> before) {
        this.setup = setup;
        state = Json.asObject(before.get("state"));
        records = Json.list(before, "records");
        checkpoint = Json.asObject(before.get("snapshot"));
        UNTOUCHED.forEach((name, value) -> {
            if (state.containsKey(name) && !Objects.equals(state.get(name), value)) {
                throw new Unsupported("a state with " + name);
            }
        });
        if (Json.integer(state, "log_start_offset") > 0) {
            throw new Unsupported("a state with a log that stands on a snapshot");
        }
        ReplicaKey own = Names.key(state.get("replica_key"));
        if (SELF_ELECTED.contains(role()) && !voted().map(own::equals).orElse(!role().equals("Candidate"))) {
            throw new Unsupported("a state with another's vote: Kafka's " + role() + " has no field for it");
        }
    }

    boolean isRunning() {
        return !role().equals("Stopped");
    }

    VoterSet formattedVoters() {
        return TracedRecords.voters(Json.list(checkpoint, "voters"), Json.list(checkpoint, "details"), setup);
    }

    private String role() {
        return Json.text(state, "role");
    }

    private Optional<ReplicaKey> voted() {
        return Optional.ofNullable(state.get("voted_key")).map(Names::key);
    }

    /** Write the log, but for what a new leader appends, and the file, unless the replica has none. */
    void fill(Disk disk) {
        int epoch = (int) Json.integer(state, "epoch");
        List<Object> earlier = records.stream()
                .filter(one -> !role().equals("Leader") || Json.integer(Json.asObject(one), "epoch") < epoch).toList();
        if (!earlier.isEmpty()) {
            disk.log().appendAsFollower(
                    TracedRecords.kafkas(0, earlier, setup), (int) Json.integer(state, "last_epoch"));
            disk.log().flush(true);
        }
        if (epoch > 0) {
            short version = (short) Json.integer(state, "kraft_version");
            disk.store().writeElectionState(election(epoch), KRaftVersion.fromFeatureLevel(version));
        }
    }

    /** A file of which Kafka starts into the role, or into the one before it. */
    private ElectionState election(int epoch) {
        Set<Integer> voters = formattedVoters().voterIds();
        boolean stands = role().equals("Candidate") || role().equals("Leader");
        if (state.get("leader_id") != null && !stands) {
            Optional<ReplicaKey> vote = role().equals("Resigned") ? Optional.empty() : voted();
            return Elections.withElectedLeader(epoch, (int) Json.integer(state, "leader_id"), vote, voters);
        }
        Optional<ReplicaKey> vote = stands ? Optional.of(Names.key(state.get("replica_key"))) : voted();
        return vote.map(key -> ElectionState.withVotedCandidate(epoch, key, voters))
                .orElseGet(() -> ElectionState.withUnknownLeader(epoch, voters));
    }

    /** Take a client that has started from that disk the rest of the way. */
    void complete(RunningClient client, Disk disk, Connections connections) {
        if (role().equals("Prospective")) {
            Elections.becomeProspective(client.quorum());
        }
        if (role().equals("Leader")) {
            client.controlRecords().lastVoterSet().voterIds()
                    .forEach(client.quorum().candidateStateOrThrow()::recordGrantedVote);
            Member.BECOME_LEADER.call(client.kafka(), client.nowMs());
            client.settle();
        }
        for (String verdict : List.of("granted", "rejected")) {
            Json.list(state, verdict).forEach(voter ->
                    Elections.recordVote(client.state(), ((Long) voter).intValue(), verdict.equals("granted")));
        }
        if (client.state() instanceof FollowerState follower) {
            if (Member.HAS_FETCHED.isThere()) {
                Member.HAS_FETCHED.set(follower, Json.flag(state, "fetched"));
            }
            follower.setFetchingSnapshot(wantedSnapshot(disk));
        }
        long highWatermark = Json.integer(state, "high_watermark");
        if (highWatermark >= 0) {
            LogOffsetMetadata committed = new LogOffsetMetadata(highWatermark);
            disk.log().updateHighWatermark(committed);
            Member.HIGH_WATERMARK.set(client.state(), Optional.of(committed));
        }
        for (Object one : Json.list(state, "awaiting")) {
            List<?> request = (List<?>) one;
            connections.await(node(client, ((Long) request.get(0)).intValue()), (Long) request.get(1));
        }
    }

    private Optional<RawSnapshotWriter> wantedSnapshot(Disk disk) {
        if (state.get("wanted_snapshot") == null) {
            return Optional.empty();
        }
        Map<String, Object> wanted = Json.asObject(state.get("wanted_snapshot"));
        return disk.log().createNewSnapshotUnchecked(
                new OffsetAndEpoch(Json.integer(wanted, "end_offset"), (int) Json.integer(wanted, "epoch")));
    }

    private Node node(RunningClient client, int replica) {
        return client.controlRecords().lastVoterSet().voterNode(replica, Names.LISTENER).orElseGet(() -> {
            InetSocketAddress address = Names.address(setup.endpointOf(replica));
            return new Node(replica, address.getHostString(), address.getPort());
        });
    }

    /**
     * See that the replica is in the state that was asked for, as far as it is shown.
     *
     * @throws IllegalStateException it is not: of what follows nothing is Kafka's doing
     */
    void check(Map<String, Object> observed, Disk disk) {
        // Read again, so that numbers are of one class.
        Map<String, Object> shown = Json.parse(Json.write(observed));
        expect("records", records, Json.parse(Json.write(Json.object("records", disk.log().records(0)))).get("records"));
        if (SELF_ELECTED.contains(role())) {
            // Who leads has voted for itself, which Kafka keeps of a Candidate alone.
            shown.remove("voted_key");
        }
        shown.forEach((name, value) -> expect(name, state.get(name), value));
    }

    private static void expect(String name, Object wanted, Object actual) {
        if (!Objects.equals(wanted, actual)) {
            throw new IllegalStateException("state to put in place: " + name + " is " + actual + ", wanted " + wanted);
        }
    }
}
