package kraft.agent;

import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What one KafkaRaftClient does, from its initialize, or from a checkpoint, to its close: a line for each hook. */
final class Recorder {
    /** Weak, because the recorders are kept by client. */
    private final WeakReference<Object> client;
    final Object log;
    final Object channel;
    private final Object store;
    private final Object listener;
    private final StateFields state;
    private final Output output;
    /** True from the first line of a pollCurrentState to its end; of the client's own thread. */
    private boolean isPolling;
    private boolean hasPolled;
    private long requests;
    /** True if nothing was written since the last state that may have changed it. */
    private boolean isStateWritten;
    /** Records of the Fetch response in progress, which the follower appends. */
    private Object fetched;
    /** True if the first line did not show the whole log, so that a checkpoint has to. */
    private boolean needsCheckpoint;

    Recorder(Object client, Object store, int number) {
        this.client = new WeakReference<>(client);
        this.store = store;
        log = Members.get(client, "log");
        channel = Members.get(client, "channel");
        listener = Members.call(channel, "listenerName");
        state = new StateFields(log, listener);
        output = new Output("replica-" + id(), System.currentTimeMillis() + "-" + number);
    }

    /** Begin with a client that runs already; return null if it cannot be told now what the state is. */
    static Recorder attached(Object client, int number) throws Exception {
        Object quorum = Members.get(client, "quorum");
        if (quorum == null || Members.get(quorum, "state") == null || !Checkpoint.isPossible(client)) {
            return null;
        }
        Recorder recorder = new Recorder(client, Members.get(quorum, "store"), number);
        recorder.writeCheckpoint();
        return recorder;
    }

    Object client() {
        return client.get();
    }

    private int id() {
        Object id = Members.content(Members.get(client(), "nodeId"));
        return id == null ? -1 : (Integer) id;
    }

    private Line line(String kind) {
        Instant now = Instant.now();
        return new Line(kind).put("time_us", now.getEpochSecond() * 1_000_000 + now.getNano() / 1000);
    }

    private boolean write(Line line) {
        hasPolled |= isPolling;
        isStateWritten = false;
        if (output.add(line.end(), false)) {
            return true;
        }
        state.forget();
        return false;
    }

    /** Write a line that changes no state with the fields of the state that differ from the line before. */
    private void writeWithState(Line line) {
        if (!isStateWritten) {
            state.put(line, client());
        }
        isStateWritten = write(line);
    }

    private Object role() {
        Object quorum = Members.get(client(), "quorum");
        return quorum == null ? null : Members.get(quorum, "state");
    }

    // ---- The client's life. -------------------------------------------------------------------------------

    void starting(Object[] arguments) throws Exception {
        Optional<?> election = (Optional<?>) Members.call(store, "readElectionState");
        byte[] whole = Disk.log(log);
        needsCheckpoint = whole == null;
        Line line = line("start");
        putIdentity(line);
        Map<Integer, Object> voters = new TreeMap<>();
        ((Map<?, ?>) arguments[0]).forEach(
                (id, address) -> voters.put((Integer) id, Shown.address((InetSocketAddress) address)));
        write(line.put("static_voters", voters)
                .put("election", election.map(Shown::election).orElse(null))
                .put("snapshot", Disk.snapshot(log))
                .put("log_start_offset", Members.call(log, "startOffset"))
                .put("log_end_offset", Disk.end(log))
                .bytes("log", whole));
    }

    private void putIdentity(Line line) {
        Object range = Members.get(client(), "localSupportedKRaftVersion");
        line.put("replica", id())
                .put("directory_id", Members.get(client(), "nodeDirectoryId").toString())
                .put("cluster_id", Members.get(client(), "clusterId"))
                .put("kafka", version())
                .put("endpoint", Shown.address(Members.get(client(), "localListeners"), listener))
                .put("min_version", Members.call(range, "min"))
                .put("max_version", Members.call(range, "max"));
    }

    private String version() {
        try {
            return (String) client().getClass().getClassLoader()
                    .loadClass("org.apache.kafka.common.utils.AppInfoParser").getMethod("getVersion").invoke(null);
        } catch (ReflectiveOperationException unknown) {
            return null;
        }
    }

    private void writeCheckpoint() throws Exception {
        Line line = line("checkpoint");
        putIdentity(line);
        state.forget();
        state.put(line, client());
        Checkpoint.put(line, client(), log, listener);
        isStateWritten = output.add(line.end(), true);
        if (isStateWritten) {
            needsCheckpoint = false;
        } else {
            state.forget();
        }
    }

    void ended(String kind) {
        fetched = null;
        writeWithState(line(kind));
    }

    void called(String method) {
        write(line("called").put("method", method));
    }

    void closed() {
        output.end(line("end").end());
    }

    void polling() {
        isPolling = true;
        hasPolled = false;
    }

    void polled() throws Exception {
        if (hasPolled) {
            ended("polled");
        }
        isPolling = false;
        if ((needsCheckpoint || output.needsCheckpoint()) && Checkpoint.isPossible(client())) {
            writeCheckpoint();
        }
    }

    // ---- Messages. ----------------------------------------------------------------------------------------

    void received(Object message, Object[] arguments) throws Exception {
        Object data = Members.call(message, "data");
        int correlation = Members.integer(message, "correlationId");
        if (!message.getClass().getName().endsWith("RaftRequest$Inbound")) {
            Object source = Members.call(message, "source");
            Object requests = Members.get(client(), "requestManager");
            fetched = Checkpoint.records(data);
            Line line = line("response")
                    .put("correlation_id", correlation)
                    .put("source", Members.call(source, "id"))
                    .put("endpoint", Members.call(source, "host") + ":" + Members.call(source, "port"))
                    .put("expected", Members.call(requests, "isResponseExpected", source, (long) correlation));
            Messages.put(line, data);
            write(line);
            return;
        }
        long number = ++requests;
        Line line = line("request")
                .put("number", number)
                .put("correlation_id", correlation)
                .put("version", Members.call(message, "apiVersion"));
        Messages.put(line, data);
        write(line);
        CompletionStage<?> completion = null;
        for (Object argument : arguments) {
            if (argument instanceof CompletableFuture) {
                completion = (CompletionStage<?>) argument;
            }
        }
        if (completion == null) {
            completion = (CompletionStage<?>) Members.get(message, "completion");
        }
        completion.whenComplete((response, failure) -> Hooks.answered(this, number, response));
    }

    void answered(long number, Object response) throws Exception {
        Line line = line("answer").put("number", number);
        hasPolled |= isPolling;
        if (response == null) {
            line.put("message", null);
        } else {
            Messages.put(line, Members.call(response, "data"));
        }
        // A response changes no state.
        output.add(line.end(), false);
    }

    void sending(Object request) throws Exception {
        Object node = Members.call(request, "destination");
        Object data = Members.call(request, "data");
        int correlation = Members.integer(request, "correlationId");
        Hooks.remember(data, this, correlation);
        Line line = line("send")
                .put("destination", Members.call(node, "id"))
                .put("endpoint", Members.call(node, "host") + ":" + Members.call(node, "port"))
                .put("correlation_id", correlation);
        Messages.put(line, data);
        writeWithState(line);
    }

    /** A request of the client has this correlation id on the wire. */
    void wire(int correlation, int wireId) {
        output.add(line("wire").put("correlation_id", correlation).put("wire_id", wireId).end(), false);
    }

    // ---- Timers and roles. --------------------------------------------------------------------------------

    void transition(Object next) {
        Object role = role();
        boolean isLeader = role != null && role.getClass().getSimpleName().equals("LeaderState");
        write(line("transition")
                .put("role", Members.call(next, "name"))
                .put("epoch", Members.call(next, "epoch"))
                .put("from", role == null ? null : Members.call(role, "name"))
                .put("polling", isPolling)
                .put("shutdown", Members.call(client(), "isShuttingDown"))
                .put("resigning", isLeader && (Boolean) Members.call(role, "isResignRequested")));
    }

    void expiring(Object pending, Object nowMs) {
        for (String change : List.of("addVoterHandlerState", "removeVoterHandlerState")) {
            Object state = Members.content(Members.call(pending, change));
            if (state != null && Members.number(state, "timeUntilOperationExpiration", nowMs) == 0) {
                writeWithState(line("expire"));
            }
        }
    }

    // ---- The disk. ----------------------------------------------------------------------------------------

    void persisted(Object[] arguments) {
        write(line("persist")
                .put("election", Shown.election(arguments[0]))
                .put("version", Members.call(arguments[1], "quorumStateVersion")));
    }

    boolean hasStore(Object object) {
        return object == store;
    }

    void appended(String method, Object records, long before) {
        write(line("append")
                .put("leads", method.equals("appendAsLeader"))
                .put("base_offset", before)
                .put("end_offset", Disk.end(log))
                .put("polling", isPolling)
                .bytes("records", records == fetched ? null : Disk.bytes(records)));
    }

    void changed(String kind, Object[] arguments, long before, boolean isDone) {
        Line line = line(kind)
                .put("before", before)
                .put("end_offset", Disk.end(log))
                .put("log_start_offset", Members.call(log, "startOffset"))
                .put("done", isDone);
        write(kind.equals("install") || kind.equals("snapshot") ? line.put("snapshot", Disk.snapshot(log)) : line);
    }
}
