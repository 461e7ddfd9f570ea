package org.apache.kafka.raft;

import java.io.IOException;
import java.util.Map;

/**
 * Kafka's KafkaRaftClient behind kraft-adapter/1, a request and a reply on each line: the name of the release and the
 * observability are the arguments.  It ends with 69 before the first reply if it does not fit the release.
 */
public final class KafkaAdapter {
    private final KafkaReplica replica;

    private KafkaAdapter(KafkaReplica replica) {
        this.replica = replica;
    }

    public static void main(String[] arguments) throws IOException {
        Member.require(arguments[0]);
        Serving.serve(new KafkaAdapter(new KafkaReplica(arguments[0], arguments[1]))::answer);
    }

    private Map<String, Object> answer(String type, Map<String, Object> request) {
        switch (type) {
            case "hello" -> {
                return replica.hello();
            }
            case "reset" -> replica.reset(
                    Json.integer(request, "replica"), Json.asObject(request.get("cluster")),
                    request.containsKey("before") ? Json.asObject(request.get("before")) : null);
            case "step" -> {
                if (request.containsKey("crash")) {
                    throw new Unsupported("a crash between two effects of one step");
                }
                return replica.step(request);
            }
            case "observe" -> {
                return Json.object("state", replica.observe());
            }
            case "crash" -> replica.crash(Json.integer(request, "log_end_offset"));
            case "restart" -> {
                return replica.restart(Json.textOrNull(request, "endpoint"), draw(request, "election_timeout_ms"));
            }
            case "bye" -> { }
            default -> throw new Unsupported("a request of the type " + type);
        }
        return Map.of();
    }

    /** What the runner owns, because it is chance. */
    static long draw(Map<String, Object> request, String name) {
        return Json.integer(Json.asObject(request.get("draw")), name);
    }
}
