package org.apache.kafka.raft;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.memory.MemoryPool;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.raft.internals.BlockingMessageQueue;
import org.apache.kafka.raft.internals.KRaftControlRecordStateMachine;

/** The process: one KafkaRaftClient from its start to its death. */
final class RunningClient {
    /** Shorter than the other timers, as in Kafka's defaults, and longer than any run. */
    private static final int REQUEST_TIMEOUT_MS = Timers.NEVER_MS / 5;
    /** A leader that is polled appends, then announces itself or resigns. */
    private static final int POLLS_OF_LEADER = 3;

    /** Kafka threw something that nothing in Kafka catches: its process ends. */
    static final class Died extends RuntimeException {
        private static final long serialVersionUID = 1;

        Died(RuntimeException cause) {
            super(cause);
        }
    }

    /** Chance is the runner's: which bootstrap server is asked, and by how much an election timer is longer. */
    private static final class Chance extends Random {
        private static final long serialVersionUID = 1;
        private int servers;
        private int server;
        private long longerMs;

        @Override
        public int nextInt(int bound) {
            return bound == servers ? server : (int) (longerMs % bound);
        }
    }

    final HeldChannel channel = new HeldChannel();
    private final Clock clock;
    private final Chance chance = new Chance();
    private final Metrics metrics;
    private final KafkaRaftClient<Long> kafka;
    private Long pollAgainMs;

    /** Start a process that listens at `endpoint`; its first election timer is longer than the least by `longerMs`. */
    RunningClient(Setup setup, Disk disk, String endpoint, Clock clock, long longerMs) {
        this.clock = clock;
        chance.servers = setup.bootstrapServers().size();
        chance.longerMs = longerMs;
        metrics = new Metrics(clock);
        ExpirationService nothingExpires = new ExpirationService() {
            @Override
            public <T> CompletableFuture<T> failAfter(long timeoutMs) {
                return new CompletableFuture<>();
            }
        };
        kafka = new KafkaRaftClient<>(
                OptionalInt.of(setup.id()), Names.directory(disk.directoryId()), TracedSnapshots.SERDE, channel,
                new BlockingMessageQueue(), disk.log(), MemoryPool.NONE, clock, nothingExpires, 0, true,
                setup.clusterId(), setup.bootstrapServers(), Names.endpoints(endpoint),
                setup.supportedVersions(setup.id()), new LogContext("[" + setup.id() + "] "), chance, config(setup));
        guarded(() -> Elections.initialize(kafka, setup.staticVoters(), disk.store(), metrics));
        settle();
    }

    private static QuorumConfig config(Setup setup) {
        Map<String, Object> config = new HashMap<>();
        config.put(QuorumConfig.QUORUM_REQUEST_TIMEOUT_MS_CONFIG, REQUEST_TIMEOUT_MS);
        config.put(QuorumConfig.QUORUM_RETRY_BACKOFF_MS_CONFIG, 0);
        config.put(QuorumConfig.QUORUM_ELECTION_TIMEOUT_MS_CONFIG, Timers.NEVER_MS);
        config.put(QuorumConfig.QUORUM_ELECTION_BACKOFF_MAX_MS_CONFIG, 1000);
        config.put(QuorumConfig.QUORUM_FETCH_TIMEOUT_MS_CONFIG, Timers.NEVER_MS);
        config.put(QuorumConfig.QUORUM_LINGER_MS_CONFIG, 0);
        if (setup.autoJoins()) {
            // Since 4.2.
            config.put("controller.quorum.auto.join.enable", true);
        }
        return new QuorumConfig(new AbstractConfig(QuorumConfig.CONFIG_DEF, config));
    }

    private static void guarded(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException error) {
            throw new Died(error);
        }
    }

    /** A step begins: an election timer that it starts is longer than the least by so much. */
    void begin(long longerMs) {
        chance.longerMs = longerMs;
        pollAgainMs = null;
    }

    /** What Kafka's loop does in each round before it takes a message: look at timers, send what is due. */
    void poll() {
        guarded(() -> pollAgainMs = (Long) Member.POLL.call(kafka, nowMs()));
    }

    /** For how long Kafka's loop would wait for a message after the last poll of a step; null if there was none. */
    Long pollAgainMs() {
        return pollAgainMs;
    }

    /** What Kafka's loop does with a message. */
    void deliver(RaftResponse.Inbound response) {
        guarded(() -> Member.HANDLE_MESSAGE.call(kafka, response, new CompletableFuture<RaftMessage>(), nowMs()));
    }

    /** What Kafka's loop does with a request; `answer` takes its response, as soon as there is one. */
    void deliver(RaftRequest.Inbound request, Consumer<ApiMessage> answer) {
        CompletableFuture<RaftMessage> answered = new CompletableFuture<>();
        answered.thenAccept(response -> answer.accept(response.data()));
        guarded(() -> Member.HANDLE_MESSAGE.call(kafka, request, answered, nowMs()));
    }

    /** A leader is polled after each step: it appends what waits and resigns if it has to. */
    void settle() {
        for (int i = 0; i < POLLS_OF_LEADER && quorum().isLeader(); i++) {
            poll();
        }
    }

    /** Poll, with this replica first where Kafka takes any of the bootstrap servers. */
    void pollFetch(int destination, Setup setup) {
        List<?> servers = (List<?>) Member.BOOTSTRAP_SERVERS.get(requests());
        for (int i = 0; i < servers.size(); i++) {
            if (replicaAt((Node) servers.get(i), setup) == destination) {
                chance.server = i;
            }
        }
        poll();
        if (channel.isEmpty() && quorum().isUnattached()) {
            // 4.2: an observer whose fetch timer has fired becomes Unattached first.
            poll();
        }
        chance.server = 0;
    }

    /** A bootstrap server has no id of its own at Kafka's. */
    static int replicaAt(Node node, Setup setup) {
        return node.id() >= 0 ? node.id() : setup.replicaAt(Names.shown(node.host(), node.port()));
    }

    void stop() {
        metrics.close();
    }

    KafkaRaftClient<Long> kafka() {
        return kafka;
    }

    QuorumState quorum() {
        return kafka.quorum();
    }

    EpochState state() {
        return (EpochState) Member.STATE.get(quorum());
    }

    RequestManager requests() {
        return (RequestManager) Member.REQUEST_MANAGER.get(kafka);
    }

    KRaftControlRecordStateMachine controlRecords() {
        return (KRaftControlRecordStateMachine) Member.CONTROL_RECORDS.get(kafka);
    }

    long nowMs() {
        return clock.milliseconds();
    }
}
