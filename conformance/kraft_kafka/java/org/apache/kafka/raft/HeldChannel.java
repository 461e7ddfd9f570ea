package org.apache.kafka.raft;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.common.network.ListenerName;

/** Keeps what Kafka sends until the runner polls. */
final class HeldChannel implements NetworkChannel {
    private final List<RaftRequest.Outbound> held = new ArrayList<>();
    private int correlationIds;

    @Override
    public int newCorrelationId() {
        return ++correlationIds;
    }

    @Override
    public CompletionStage<RaftResponse.Inbound> send(RaftRequest.Outbound request) {
        held.add(request);
        return new CompletableFuture<>();
    }

    @Override
    public void close() {}

    @Override
    public ListenerName listenerName() {
        return Names.LISTENER;
    }

    boolean isEmpty() {
        return held.isEmpty();
    }

    /** What was sent since the last time. */
    List<RaftRequest.Outbound> take() {
        List<RaftRequest.Outbound> taken = List.copyOf(held);
        held.clear();
        return taken;
    }
}
