package org.apache.kafka.controller;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.kafka.raft.Json;
import org.apache.kafka.raft.Serving;
import org.apache.kafka.raft.Unsupported;

/**
 * Kafka's ReplicationControlManager as the subject `partitions` of kraft-adapter/1: the name of the release and the
 * observability are the arguments.
 */
public final class PartitionAdapter {
    private final String release;
    private final String observability;
    private PartitionControllers controllers;

    private PartitionAdapter(String release, String observability) {
        this.release = release;
        this.observability = observability;
    }

    public static void main(String[] arguments) throws IOException {
        Serving.serve(new PartitionAdapter(arguments[0], arguments[1])::answer);
    }

    private Map<String, Object> answer(String type, Map<String, Object> request) {
        switch (type) {
            case "hello" -> {
                return Json.object(
                        "schema", "kraft-adapter/1",
                        "implementation", Json.object("name", "apache-kafka", "version", release),
                        "kip_levels", Json.object("KIP-455", "full"),
                        "kraft_versions", List.of(),
                        "profile", "kafka-4",
                        "observability", observability,
                        "state_injection", true,
                        "subjects", List.of("partitions"),
                        "unsupported", List.of("old-znode"));
            }
            case "partition_reset" -> controllers = new PartitionControllers(
                    Json.asObject(request.get("cluster")),
                    request.containsKey("before") ? Json.asObject(request.get("before")) : null);
            case "partition_step" -> {
                return controllers.step(Json.asObject(request.get("event")));
            }
            case "partition_observe" -> {
                return Json.object("state", controllers.observe());
            }
            case "bye" -> { }
            default -> throw new Unsupported("a request of the type " + type);
        }
        return Map.of();
    }
}
