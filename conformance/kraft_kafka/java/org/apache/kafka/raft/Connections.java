package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.message.VoteRequestData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;

/** The network of a process: what it sends is shown, what arrives is handed to it, and so is that no answer comes. */
final class Connections {
    private final Setup setup;
    private final RunningClient client;
    private final Consumer<Map<String, Object>> effects;
    /** Requests that were shown and may be answered, by their destination and the runner's correlation id. */
    private final Map<String, RaftRequest.Outbound> awaited = new HashMap<>();

    Connections(Setup setup, RunningClient client, Consumer<Map<String, Object>> effects) {
        this.setup = setup;
        this.client = client;
        this.effects = effects;
    }

    /** Show what Kafka has sent, unless it has given the request up already. */
    void send(long correlationId) {
        List<RaftRequest.Outbound> sent = new ArrayList<>(client.channel.take());
        // Kafka's sets have another order in each process; the same seed shall be the same run.
        sent.sort(Comparator.comparing(request -> RunningClient.replicaAt(request.destination(), setup)));
        for (RaftRequest.Outbound request : sent) {
            if (client.requests().isResponseExpected(request.destination(), request.correlationId())) {
                int destination = RunningClient.replicaAt(request.destination(), setup);
                awaited.put(nameOf(destination, correlationId), request);
                effects.accept(sent(Requests.shown(request.data()), destination, correlationId));
            }
        }
    }

    private Map<String, Object> sent(Map<String, Object> message, int destination, long correlationId) {
        message.put("source", setup.id());
        message.put("destination", destination);
        message.put("correlation_id", correlationId);
        return Json.object("kind", "Send", "message", message);
    }

    private static String nameOf(int destination, long correlationId) {
        return destination + "/" + correlationId;
    }

    void handle(String type, Map<String, Object> message) {
        int source = (int) Json.integer(message, "source");
        long correlationId = Json.integer(message, "correlation_id");
        if (type.equals("ApiVersionsRequest")) {
            // Kafka's socket server answers it.
            Map<String, Object> answer = Json.object(
                    "type", "ApiVersionsResponse",
                    "min_version", (int) setup.supportedVersions(setup.id()).min(),
                    "max_version", (int) setup.supportedVersions(setup.id()).max());
            effects.accept(sent(answer, source, correlationId));
        } else if (type.endsWith("Request")) {
            RaftRequest.Inbound request = new RaftRequest.Inbound(
                    Names.LISTENER, (int) correlationId, Requests.version(type, setup.sendsEndpoints(source)),
                    Requests.kafkas(type, message), client.nowMs());
            client.deliver(request, response -> effects.accept(
                    sent(Responses.shown(response, message, setup), source, correlationId)));
        } else {
            receive(type, message, source, awaited.remove(nameOf(source, correlationId)));
        }
    }

    /** Be in wait of an answer to a request that was never sent, of which a state says no more than its number. */
    void await(Node destination, long correlationId) {
        client.requests().onRequestSent(destination, correlationId, client.nowMs());
        awaited.put(
                nameOf(destination.id(), correlationId),
                new RaftRequest.Outbound((int) correlationId, null, destination, client.nowMs()));
    }

    /** `request` is null if the request is not awaited any more: Kafka's network layer drops such an answer. */
    private void receive(String type, Map<String, Object> message, int source, RaftRequest.Outbound request) {
        if (request == null) {
            return;
        }
        if (request.data() instanceof VoteRequestData vote && saysOtherwise(vote, message)) {
            throw new Unsupported("an answer that says of a Pre-Vote that it was a vote: Kafka's VoteResponse says nothing");
        }
        long fetchOffset = request.data() instanceof FetchRequestData fetch
                ? fetch.topics().get(0).partitions().get(0).fetchOffset()
                : client.kafka().logEndOffset();
        client.deliver(new RaftResponse.Inbound(
                request.correlationId(), ReceivedResponses.kafkas(type, message, fetchOffset, setup),
                request.destination()));
    }

    private static boolean saysOtherwise(VoteRequestData request, Map<String, Object> answer) {
        return "NONE".equals(answer.get("error")) && Elections.isPreVote(request) != Json.flag(answer, "pre_vote");
    }

    /** Kafka's network layer answers a request that has timed out itself, and no later answer arrives. */
    void timeOut(int destination) {
        for (String name : List.copyOf(awaited.keySet())) {
            RaftRequest.Outbound request = awaited.get(name);
            Node node = request.destination();
            if (name.startsWith(destination + "/")) {
                awaited.remove(name);
                if (client.requests().isResponseExpected(node, request.correlationId())) {
                    client.deliver(new RaftResponse.Inbound(
                            request.correlationId(),
                            RaftUtil.errorResponse(ApiKeys.forId(request.data().apiKey()), Errors.REQUEST_TIMED_OUT),
                            node));
                }
            }
        }
    }
}
