package kraft.agent;

import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What one KafkaRaftClient does, from its initialize to its close: a line for each hook. */
final class Recorder {
    /** Weak, because the recorders are kept by client. */
    private final WeakReference<Object> client;
    final Object log;
    final Object channel;
    private final Object store;
    private final Object listener;
    private final Output output;
    /** True from the first line of a pollCurrentState to its end; of the client's own thread. */
    private boolean isPolling;
    private boolean hasPolled;
    private long requests;
    /** True if nothing was written since the last state that may have changed it. */
    private boolean isStateWritten;
    /** The voter set of the last state, and what was written of it: it changes rarely. */
    private Object voterSet;
    private Object voters;

    Recorder(Object client, Object store, int number) {
        this.client = new WeakReference<>(client);
        this.store = store;
        log = Members.get(client, "log");
        channel = Members.get(client, "channel");
        listener = Members.call(channel, "listenerName");
        output = new Output("replica-" + id() + "-" + System.currentTimeMillis() + "-" + number + ".raw.jsonl");
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
        return output.add(line.end());
    }

    /** Write a line that changes no state with the state, or with null for that of the line before. */
    private void writeWithState(Line line) {
        line.put("state", isStateWritten ? null : state());
        isStateWritten = write(line);
    }

    private Map<String, Object> state() {
        Object control = Members.get(client(), "partitionState");
        Object now = control == null ? null : Members.call(control, "lastVoterSet");
        if (now != voterSet) {
            voterSet = now;
            voters = Line.json(Shown.keys(now));
        }
        return Shown.state(client(), log, listener, voters);
    }

    private Object role() {
        Object quorum = Members.get(client(), "quorum");
        return quorum == null ? null : Members.get(quorum, "state");
    }

    // ---- The client's life. -------------------------------------------------------------------------------

    void starting(Object[] arguments) {
        Map<Integer, Object> voters = new TreeMap<>();
        ((Map<?, ?>) arguments[0]).forEach(
                (id, address) -> voters.put((Integer) id, Shown.address((InetSocketAddress) address)));
        Object range = Members.get(client(), "localSupportedKRaftVersion");
        Optional<?> election = (Optional<?>) Members.call(store, "readElectionState");
        write(line("start")
                .put("schema", "kraft-agent/1")
                .put("replica", id())
                .put("directory_id", Members.get(client(), "nodeDirectoryId").toString())
                .put("cluster_id", Members.get(client(), "clusterId"))
                .put("kafka", version())
                .put("endpoint", Shown.address(Members.get(client(), "localListeners"), listener))
                .put("min_version", Members.call(range, "min"))
                .put("max_version", Members.call(range, "max"))
                .put("static_voters", voters)
                .put("election", election.map(Shown::election).orElse(null))
                .put("snapshot", Shown.snapshot(log, true))
                .put("log_start_offset", Members.call(log, "startOffset"))
                .put("log_end_offset", Shown.end(log))
                .put("log", Shown.log(log)));
    }

    private String version() {
        try {
            return (String) client().getClass().getClassLoader()
                    .loadClass("org.apache.kafka.common.utils.AppInfoParser").getMethod("getVersion").invoke(null);
        } catch (ReflectiveOperationException unknown) {
            return null;
        }
    }

    void ended(String kind) {
        writeWithState(line(kind));
    }

    void called(String method) {
        write(line("called").put("method", method));
    }

    void closed() throws InterruptedException {
        write(line("end"));
        Output.drain(1000);
    }

    void polling() {
        isPolling = true;
        hasPolled = false;
    }

    void polled() {
        if (hasPolled) {
            ended("polled");
        }
        isPolling = false;
    }

    // ---- Messages. ----------------------------------------------------------------------------------------

    void received(Object message, Object[] arguments) throws Exception {
        Object data = Members.call(message, "data");
        int correlation = Members.integer(message, "correlationId");
        if (!message.getClass().getName().endsWith("RaftRequest$Inbound")) {
            Object source = Members.call(message, "source");
            Object requests = Members.get(client(), "requestManager");
            write(line("response")
                    .put("correlation_id", correlation)
                    .put("source", Members.call(source, "id"))
                    .put("endpoint", Members.call(source, "host") + ":" + Members.call(source, "port"))
                    .put("expected", Members.call(requests, "isResponseExpected", source, (long) correlation))
                    .put("message", Shown.message(data)));
            return;
        }
        long number = ++requests;
        write(line("request")
                .put("number", number)
                .put("correlation_id", correlation)
                .put("version", Members.call(message, "apiVersion"))
                .put("message", Shown.message(data)));
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
        // A response changes no state.
        output.add(line.put("message", response == null ? null : Shown.message(Members.call(response, "data"))).end());
    }

    void sending(Object request) throws Exception {
        Object node = Members.call(request, "destination");
        Object data = Members.call(request, "data");
        int correlation = Members.integer(request, "correlationId");
        Hooks.remember(data, this, correlation);
        writeWithState(line("send")
                .put("destination", Members.call(node, "id"))
                .put("endpoint", Members.call(node, "host") + ":" + Members.call(node, "port"))
                .put("correlation_id", correlation)
                .put("message", Shown.message(data)));
    }

    /** A request of the client has this correlation id on the wire. */
    void wire(int correlation, int wireId) {
        output.add(line("wire").put("correlation_id", correlation).put("wire_id", wireId).end());
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
                .put("end_offset", Shown.end(log))
                .put("polling", isPolling)
                .put("records", Shown.base64(Shown.bytes(records))));
    }

    void changed(String kind, Object[] arguments, long before, boolean isDone) {
        Line line = line(kind)
                .put("before", before)
                .put("end_offset", Shown.end(log))
                .put("log_start_offset", Members.call(log, "startOffset"))
                .put("done", isDone);
        write(kind.equals("install") || kind.equals("snapshot") ? line.put("snapshot", Shown.snapshot(log, true)) : line);
    }
}
