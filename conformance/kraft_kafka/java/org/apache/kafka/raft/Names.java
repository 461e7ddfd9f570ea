package org.apache.kafka.raft;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.network.ListenerName;

/** What the suite names with a text or a number, as Kafka has it: directory ids, replica keys, endpoints. */
final class Names {
    static final ListenerName LISTENER = ListenerName.normalised("CONTROLLER");
    static final TopicPartition PARTITION = new TopicPartition("__cluster_metadata", 0);
    static final Uuid TOPIC = Uuid.METADATA_TOPIC_ID;
    /** In a message of Kafka's: no replica. */
    static final ReplicaKey NOBODY = ReplicaKey.of(-1, Uuid.ZERO_UUID);

    private static final Map<Uuid, String> DIRECTORIES = new HashMap<>();

    private Names() {}

    /** The suite's directory ids are any texts: each gets a UUID of its own, the same in every process. */
    static Uuid directory(String name) {
        if (name == null) {
            return Uuid.ZERO_UUID;
        }
        java.util.UUID hashed = java.util.UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
        Uuid directory = new Uuid(hashed.getMostSignificantBits(), hashed.getLeastSignificantBits());
        DIRECTORIES.put(directory, name);
        return directory;
    }

    static Map<String, Object> shown(int id, Uuid directory) {
        boolean isKnown = !directory.equals(Uuid.ZERO_UUID);
        String name = isKnown ? DIRECTORIES.getOrDefault(directory, directory.toString()) : null;
        return Json.object("id", id, "directory_id", name);
    }

    static Map<String, Object> shown(ReplicaKey key) {
        return shown(key.id(), directory(key));
    }

    static Uuid directory(ReplicaKey key) {
        return key.directoryId().orElse(Uuid.ZERO_UUID);
    }

    static ReplicaKey key(Object shown) {
        Map<String, Object> key = Json.asObject(shown);
        return ReplicaKey.of((int) Json.integer(key, "id"), directory(Json.textOrNull(key, "directory_id")));
    }

    /** The key in a field of a message, or nobody if the field is null or missing. */
    static ReplicaKey keyOrNobody(Map<String, Object> message, String name) {
        return message.get(name) == null ? NOBODY : key(message.get(name));
    }

    static InetSocketAddress address(String endpoint) {
        int colon = endpoint.lastIndexOf(':');
        int port = Integer.parseInt(endpoint.substring(colon + 1));
        return InetSocketAddress.createUnresolved(endpoint.substring(0, colon), port);
    }

    static Endpoints endpoints(String endpoint) {
        return endpoint == null
                ? Endpoints.empty()
                : Endpoints.fromInetSocketAddresses(Map.of(LISTENER, address(endpoint)));
    }

    /** Null for none. */
    static String shown(Endpoints endpoints) {
        return endpoints.address(LISTENER).map(one -> shown(one.getHostString(), one.getPort())).orElse(null);
    }

    static String shown(String host, int port) {
        return host + ":" + port;
    }

    /** Null for Kafka's -1. */
    static Integer leader(int id) {
        return id < 0 ? null : id;
    }
}
