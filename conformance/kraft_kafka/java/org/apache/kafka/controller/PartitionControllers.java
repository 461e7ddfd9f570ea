package org.apache.kafka.controller;

import static org.apache.kafka.metadata.LeaderConstants.NO_LEADER;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignablePartition;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignableTopic;
import org.apache.kafka.common.message.AlterPartitionReassignmentsResponseData;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.message.ListPartitionReassignmentsRequestData.ListPartitionReassignmentsTopics;
import org.apache.kafka.common.message.ListPartitionReassignmentsResponseData.OngoingPartitionReassignment;
import org.apache.kafka.common.message.ListPartitionReassignmentsResponseData.OngoingTopicReassignment;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.Replicas;
import org.apache.kafka.raft.Json;
import org.apache.kafka.raft.Unsupported;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * The controllers of one cluster.  Who is controller and what a client may do is not the ReplicationControlManager's;
 * brokers learn of a partition from the metadata log, so what they are shown to be sent is what it says.
 */
final class PartitionControllers {
    /** A partition, by topic and number. */
    record Name(String topic, int partition) implements Comparable<Name> {
        static Name of(Object named) {
            List<?> pair = (List<?>) named;
            return new Name((String) pair.get(0), ((Long) pair.get(1)).intValue());
        }

        List<Object> shown() {
            return List.of(topic, partition);
        }

        @Override
        public int compareTo(Name other) {
            int byTopic = topic.compareTo(other.topic);
            return byTopic != 0 ? byTopic : Integer.compare(partition, other.partition);
        }
    }

    private final List<Integer> nodes;
    private final List<Integer> brokers;
    private final List<Object> uncleanTopics;
    private final List<Name> names = new ArrayList<>();
    /** Kafka forgets a topic at once; the state shows it as it was. */
    private final Map<Name, Map<String, Object>> deleted = new TreeMap<>();
    private Managers managers;
    private int controller;

    PartitionControllers(Map<String, Object> cluster, Map<String, Object> before) {
        nodes = integers(cluster, "controllers");
        brokers = integers(cluster, "brokers");
        uncleanTopics = Json.list(cluster, "unclean_topics");
        controller = before == null ? nodes.get(0) : (int) Json.integer(before, "controller");
        List<PartitionRecord> partitions = new ArrayList<>();
        if (before == null) {
            for (Object assigned : Json.list(cluster, "assignments")) {
                names.add(Name.of(((List<?>) assigned).get(0)));
                List<Integer> replicas = integers(((List<?>) assigned).get(1));
                partitions.add(new PartitionRecord()
                        .setReplicas(replicas).setIsr(replicas).setLeader(replicas.get(0))
                        .setDirectories(unassigned(replicas)));
            }
        } else {
            for (Object held : Json.list(before, "partitions")) {
                Map<String, Object> partition = Json.asObject(held);
                names.add(Name.of(partition.get("name")));
                List<Integer> replicas = integers(partition, "replicas");
                partitions.add(new PartitionRecord()
                        .setReplicas(replicas)
                        .setIsr(integers(partition, "in_sync"))
                        .setAddingReplicas(integers(partition, "adding"))
                        .setRemovingReplicas(integers(partition, "removing"))
                        .setLeader(partition.get("leader") == null ? NO_LEADER : (int) Json.integer(partition, "leader"))
                        .setLeaderEpoch((int) Json.integer(partition, "leader_epoch"))
                        .setPartitionEpoch((int) Json.integer(partition, "partition_epoch"))
                        .setDirectories(unassigned(replicas)));
            }
        }
        begin(before == null ? brokers : integers(before, "alive"), partitions);
        if (before != null) {
            Json.list(before, "deleting").forEach(topic -> delete((String) topic));
        }
    }

    /** Another controller: it has replayed the log. */
    private void begin(List<Integer> alive, List<PartitionRecord> partitions) {
        managers = new Managers();
        for (int broker : brokers) {
            managers.replay(new RegisterBrokerRecord()
                    .setBrokerId(broker).setBrokerEpoch(broker).setIncarnationId(Uuid.randomUuid())
                    .setLogDirs(List.of(new Uuid(1, broker))).setFenced(!alive.contains(broker)));
        }
        for (Object topic : uncleanTopics) {
            managers.replay(new ConfigRecord()
                    .setResourceType(ConfigResource.Type.TOPIC.id()).setResourceName((String) topic)
                    .setName(TopicConfig.UNCLEAN_LEADER_ELECTION_ENABLE_CONFIG).setValue("true"));
        }
        Map<String, Uuid> ids = new LinkedHashMap<>();
        for (int i = 0; i < names.size(); i++) {
            Name name = names.get(i);
            if (!ids.containsKey(name.topic())) {
                ids.put(name.topic(), Uuid.randomUuid());
                managers.replay(new TopicRecord().setName(name.topic()).setTopicId(ids.get(name.topic())));
            }
            managers.replay(partitions.get(i).setTopicId(ids.get(name.topic())).setPartitionId(name.partition()));
        }
    }

    // -----------------------------------------------------------------------------------------------------------
    // Events.
    // -----------------------------------------------------------------------------------------------------------

    Map<String, Object> step(Map<String, Object> event) {
        return switch (Json.text(event, "name")) {
            case "AlterPartitionReassignments" -> alterReassignments(event);
            case "ListPartitionReassignments" -> listReassignments(event);
            case "AlterPartition" -> alterPartition(event);
            // Kafka completes a reassignment in the change that makes it possible, and looks at no other time.
            case "CompleteReassignment" -> refused("NOTHING_DUE");
            case "BrokerFails" -> fenced((int) Json.integer(event, "broker"), true);
            case "BrokerStarts" -> fenced((int) Json.integer(event, "broker"), false);
            case "ControllerFailover" -> failover((int) Json.integer(event, "node"));
            case "DeleteTopic" -> deleteTopic(Json.text(event, "topic"));
            default -> throw new Unsupported("the event " + Json.text(event, "name"));
        };
    }

    private Map<String, Object> alterReassignments(Map<String, Object> event) {
        asked(event, "may_alter");
        AlterPartitionReassignmentsRequestData request = new AlterPartitionReassignmentsRequestData();
        for (Object target : Json.list(event, "targets")) {
            Name name = Name.of(((List<?>) target).get(0));
            Object replicas = ((List<?>) target).get(1);
            request.topics().add(new ReassignableTopic().setName(name.topic()).setPartitions(List.of(
                    new ReassignablePartition()
                            .setPartitionIndex(name.partition())
                            .setReplicas(replicas == null ? null : integers(replicas)))));
        }
        ControllerResult<AlterPartitionReassignmentsResponseData> done =
                managers.replication.alterPartitionReassignments(request);
        List<Object> results = new ArrayList<>();
        boolean isAccepted = done.response().responses().isEmpty();
        for (var topic : done.response().responses()) {
            for (var partition : topic.partitions()) {
                Errors error = Errors.forCode(partition.errorCode());
                isAccepted |= error == Errors.NONE;
                results.add(List.of(List.of(topic.name(), partition.partitionIndex()), error.name()));
            }
        }
        List<Object> effects = stored(done.records());
        Errors error = Errors.forCode(done.response().errorCode());
        effects.add(Json.object("type", "AlterReassignmentsAnswer", "error", error.name(), "results", results));
        return done(effects, isAccepted ? null : "REQUEST_REFUSED");
    }

    private Map<String, Object> listReassignments(Map<String, Object> event) {
        asked(event, "may_describe");
        List<ListPartitionReassignmentsTopics> topics = null;
        if (event.get("partitions") != null) {
            topics = new ArrayList<>();
            for (Object named : Json.list(event, "partitions")) {
                Name name = Name.of(named);
                topics.add(new ListPartitionReassignmentsTopics()
                        .setName(name.topic()).setPartitionIndexes(List.of(name.partition())));
            }
        }
        List<Object> rows = new ArrayList<>();
        var response = managers.replication.listPartitionReassignments(topics, Long.MAX_VALUE);
        for (OngoingTopicReassignment topic : response.topics()) {
            for (OngoingPartitionReassignment one : topic.partitions()) {
                rows.add(Json.object(
                        "partition", List.of(topic.name(), one.partitionIndex()), "replicas", one.replicas(),
                        "adding", one.addingReplicas(), "removing", one.removingReplicas()));
            }
        }
        Errors error = Errors.forCode(response.errorCode());
        return done(list(Json.object(
                "type", "ListReassignmentsAnswer", "error", error.name(), "reassignments", rows)), null);
    }

    private Map<String, Object> alterPartition(Map<String, Object> event) {
        asked(event, null);
        Name name = Name.of(event.get("partition"));
        int broker = (int) Json.integer(event, "broker");
        PartitionRegistration known = registration(name);
        AlterPartitionRequestData.PartitionData asked = new AlterPartitionRequestData.PartitionData()
                .setPartitionIndex(name.partition())
                .setLeaderEpoch((int) Json.integer(event, "leader_epoch"))
                .setPartitionEpoch((int) Json.integer(event, "partition_epoch"))
                .setNewIsrWithEpochs(integers(event, "in_sync").stream()
                        .map(one -> new AlterPartitionRequestData.BrokerState().setBrokerId(one)).toList());
        if (known != null) {
            // A leader of an unclean election says that it has recovered, as soon as anybody else is in sync.
            asked.setLeaderRecoveryState(
                    asked.newIsrWithEpochs().size() > 1 ? (byte) 0 : known.leaderRecoveryState.value());
        }
        AlterPartitionRequestData request = new AlterPartitionRequestData().setBrokerId(broker).setBrokerEpoch(broker);
        request.topics().add(new AlterPartitionRequestData.TopicData()
                .setTopicId(managers.topicId(name.topic())).setPartitions(List.of(asked)));
        ControllerResult<AlterPartitionResponseData> done =
                managers.replication.alterPartition(context(ApiKeys.ALTER_PARTITION), request);
        List<Object> effects = stored(done.records());
        var answer = done.response().topics().get(0).partitions().get(0);
        Errors error = Errors.forCode(answer.errorCode());
        effects.add(Json.object(
                "type", "AlterPartitionAnswer", "error", error.name(),
                "partition_epoch", error == Errors.NONE ? answer.partitionEpoch() : null));
        boolean isRefused = error != Errors.NONE && error != Errors.NEW_LEADER_ELECTED;
        return done(effects, isRefused ? "REQUEST_REFUSED" : null);
    }

    private Map<String, Object> fenced(int broker, boolean isFenced) {
        if (!managers.brokers().contains(broker)) {
            return refused("UNKNOWN_ID");
        }
        if (managers.cluster.isActive(broker) != isFenced) {
            return refused("ALREADY_SO");
        }
        List<ApiMessageAndVersion> records = new ArrayList<>();
        if (isFenced) {
            managers.replication.handleBrokerFenced(broker, records);
            return done(stored(records), null);
        }
        managers.replication.handleBrokerUnfenced(broker, broker, records);
        List<Object> effects = stored(records);
        for (Name name : names) {
            // It reads the log from where it stopped, if not from the beginning.
            boolean isShown = effects.stream().anyMatch(one -> isSent(one, broker, name));
            if (!isShown && holds(name, broker)) {
                effects.add(leaderAndIsr(broker, name));
            }
        }
        return done(effects, null);
    }

    private boolean isSent(Object effect, int broker, Name name) {
        Map<String, Object> shown = Json.asObject(effect);
        return Integer.valueOf(broker).equals(shown.get("broker")) && name.shown().equals(shown.get("partition"));
    }

    private boolean holds(Name name, int broker) {
        PartitionRegistration partition = registration(name);
        return partition != null && Replicas.contains(partition.replicas, broker);
    }

    private Map<String, Object> failover(int node) {
        if (node == controller || !nodes.contains(node)) {
            return refused(nodes.contains(node) ? "ALREADY_SO" : "UNKNOWN_ID");
        }
        controller = node;
        List<PartitionRecord> partitions = new ArrayList<>();
        names.removeIf(name -> registration(name) == null);
        for (Name name : names) {
            PartitionRegistration held = registration(name);
            partitions.add(new PartitionRecord()
                    .setReplicas(Replicas.toList(held.replicas)).setIsr(Replicas.toList(held.isr))
                    .setAddingReplicas(Replicas.toList(held.addingReplicas))
                    .setRemovingReplicas(Replicas.toList(held.removingReplicas))
                    .setLeader(held.leader).setLeaderEpoch(held.leaderEpoch).setPartitionEpoch(held.partitionEpoch)
                    .setLeaderRecoveryState(held.leaderRecoveryState.value())
                    .setDirectories(Arrays.asList(held.directories)));
        }
        begin(alive(), partitions);
        List<Object> effects = new ArrayList<>();
        names.forEach(name -> alive().stream().filter(broker -> holds(name, broker))
                .forEach(broker -> effects.add(leaderAndIsr(broker, name))));
        return done(effects, null);
    }

    private Map<String, Object> deleteTopic(String topic) {
        if (deleted.keySet().stream().anyMatch(name -> name.topic().equals(topic))) {
            return refused("ALREADY_SO");
        }
        if (managers.replication.getTopicId(topic) == null) {
            return refused("UNKNOWN_ID");
        }
        delete(topic);
        return done(List.of(), null);
    }

    private void delete(String topic) {
        names.stream().filter(name -> name.topic().equals(topic)).forEach(name -> deleted.put(name, shown(name)));
        managers.replayAll(managers.replication.deleteTopics(
                context(ApiKeys.DELETE_TOPICS), List.of(managers.topicId(topic))).records());
    }

    // -----------------------------------------------------------------------------------------------------------
    // What is shown.
    // -----------------------------------------------------------------------------------------------------------

    Map<String, Object> observe() {
        Map<Name, Map<String, Object>> partitions = new TreeMap<>(deleted);
        names.stream().filter(name -> registration(name) != null).forEach(name -> partitions.put(name, shown(name)));
        TreeSet<String> deleting = new TreeSet<>();
        deleted.keySet().forEach(name -> deleting.add(name.topic()));
        return Json.object(
                "controller", controller, "alive", alive(), "deleting", deleting, "legacy", List.of(),
                "partitions", partitions.values());
    }

    /** Replay records, and show what they change: stored, learnt by the replicas, and last who is to stop. */
    private List<Object> stored(List<ApiMessageAndVersion> records) {
        Map<Name, PartitionRegistration> before = new TreeMap<>();
        names.stream().filter(name -> registration(name) != null).forEach(name -> before.put(name, registration(name)));
        managers.replayAll(records);
        List<Object> changed = new ArrayList<>();
        List<Object> learnt = new ArrayList<>();
        List<Object> stopped = new ArrayList<>();
        before.forEach((name, held) -> {
            PartitionRegistration now = registration(name);
            if (now.equals(held)) {
                return;
            }
            changed.add(shown(name));
            for (int broker : alive()) {
                if (Replicas.contains(now.replicas, broker)) {
                    learnt.add(leaderAndIsr(broker, name));
                } else if (Replicas.contains(held.replicas, broker)) {
                    stopped.add(Json.object("type", "StopReplica", "broker", broker, "partition", name.shown()));
                }
            }
        });
        List<Object> effects = new ArrayList<>();
        if (!changed.isEmpty()) {
            effects.add(Json.object("type", "StorePartitions", "partitions", changed));
        }
        effects.addAll(learnt);
        effects.addAll(stopped);
        return effects;
    }

    private Map<String, Object> leaderAndIsr(int broker, Name name) {
        Map<String, Object> shown = Json.object("type", "LeaderAndIsr", "broker", broker, "partition", name.shown());
        shown.putAll(shown(name));
        shown.remove("name");
        return shown;
    }

    private Map<String, Object> shown(Name name) {
        PartitionRegistration held = registration(name);
        return Json.object(
                "name", name.shown(), "replicas", held.replicas, "in_sync", held.isr, "adding", held.addingReplicas,
                "removing", held.removingReplicas, "leader", held.leader == NO_LEADER ? null : held.leader,
                "leader_epoch", held.leaderEpoch, "partition_epoch", held.partitionEpoch);
    }

    private List<Integer> alive() {
        return brokers.stream().filter(managers.cluster::isActive).toList();
    }

    private PartitionRegistration registration(Name name) {
        Uuid id = managers.replication.getTopicId(name.topic());
        return id == null ? null : managers.replication.getPartition(id, name.partition());
    }

    // -----------------------------------------------------------------------------------------------------------
    // Requests and values.
    // -----------------------------------------------------------------------------------------------------------

    /** What ControllerApis and QuorumController decide before a request comes here is not this Kafka's to say. */
    private void asked(Map<String, Object> event, String permission) {
        if (Json.integer(event, "node") != controller) {
            throw new Unsupported("a request to a node that is not controller, which QuorumController answers");
        }
        if (permission != null && !Json.flag(event, permission)) {
            throw new Unsupported("authorization, which ControllerApis decides");
        }
    }

    private static ControllerRequestContext context(ApiKeys api) {
        RequestHeaderData header = new RequestHeaderData()
                .setRequestApiKey(api.id).setRequestApiVersion(api.latestVersion());
        return new ControllerRequestContext(header, KafkaPrincipal.ANONYMOUS, OptionalLong.empty());
    }

    private static Map<String, Object> done(List<Object> effects, String refusal) {
        return Json.object("effects", effects, "refusal", refusal);
    }

    private static Map<String, Object> refused(String why) {
        return done(List.of(), why);
    }

    private static List<Object> list(Object only) {
        return new ArrayList<>(List.of(only));
    }

    private static List<Uuid> unassigned(List<Integer> replicas) {
        return replicas.stream().map(replica -> new Uuid(1, replica)).toList();
    }

    private static List<Integer> integers(Map<String, Object> object, String name) {
        return integers(Json.list(object, name));
    }

    private static List<Integer> integers(Object values) {
        return ((List<?>) values).stream().map(value -> ((Long) value).intValue()).toList();
    }
}
