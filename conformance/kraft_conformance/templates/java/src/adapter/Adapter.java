package adapter;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** kraft-adapter/1: a request on each line of standard input, one reply to each.  Nothing here needs a change. */
public final class Adapter {
    private static final String SCHEMA = "kraft-adapter/1";

    private final Replica replica;
    private boolean ended;

    public Adapter(Replica replica) {
        this.replica = replica;
    }

    /** Answer requests until bye or the end of the input. */
    public void serve(InputStream requests, OutputStream replies) throws IOException {
        eachLine(requests, replies, (line, number) -> ended ? null : Json.write(reply(line, number)));
    }

    private Map<String, Object> reply(String line, long number) {
        Object id = number;
        try {
            Map<String, Object> request = Json.asObject(Json.parse(line));
            id = request.getOrDefault("id", id);
            String type = Json.text(request, "type");
            Map<String, Object> reply = Json.object("type", type, "id", id);
            reply.putAll(answer(type, request));
            return reply;
        } catch (Replica.Unsupported unsupported) {
            return Json.object("type", "error", "id", id, "code", "unsupported", "detail", unsupported.getMessage());
        } catch (RuntimeException failure) {
            // The runner shows standard error beside the failure.
            failure.printStackTrace();
            return Json.object("type", "error", "id", id, "code", "failed", "detail", failure.toString());
        }
    }

    private Map<String, Object> answer(String type, Map<String, Object> request) {
        switch (type) {
            case "hello" -> {
                // To a runner of another version as well: it refuses by the name that it is told here.
                Map<String, Object> reply = Json.object("schema", SCHEMA);
                reply.putAll(replica.hello());
                return reply;
            }
            case "reset" -> {
                replica.reset(Json.integer(request, "replica"), Json.asObject(request.get("cluster")));
                return Map.of();
            }
            case "step" -> {
                if (request.containsKey("crash")) {
                    throw new Replica.Unsupported("a crash between two effects of one step");
                }
                Map<String, Object> message =
                        request.containsKey("message") ? Json.asObject(request.get("message")) : null;
                Map<String, Object> input =
                        request.containsKey("input") ? Json.asObject(request.get("input")) : Map.of();
                return shown(replica.step(Json.text(request, "event"), message, input, draw(request)));
            }
            case "observe" -> {
                return Json.object("state", replica.observe());
            }
            case "crash" -> {
                replica.crash(Json.integer(request, "log_end_offset"));
                return Map.of();
            }
            case "restart" -> {
                return shown(replica.restart(Json.text(request, "endpoint"), draw(request)));
            }
            case "bye" -> {
                ended = true;
                return Map.of();
            }
            default -> throw new Replica.Unsupported("a request of the type " + type);
        }
    }

    private static Map<String, Object> shown(Replica.Step step) {
        if (Replica.Step.UNSAID.equals(step.refusal())) {
            return Json.object("effects", step.effects());
        }
        return Json.object("effects", step.effects(), "refusal", step.refusal());
    }

    private static Replica.Draw draw(Map<String, Object> request) {
        Map<String, Object> draw = Json.asObject(request.get("draw"));
        return new Replica.Draw(
                Json.integer(draw, "correlation_id"),
                Json.integer(draw, "election_timeout_ms"),
                Json.integer(draw, "election_backoff_ms"));
    }

    /** Says what to write for a line; null to stop. */
    @FunctionalInterface
    public interface Line {
        String answer(String line, long number);
    }

    /** Answer each line of a stream, in UTF-8 whatever the locale says. */
    public static void eachLine(InputStream lines, OutputStream answers, Line line) throws IOException {
        InputStream input = new BufferedInputStream(lines);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        long number = 0;
        for (int next = input.read(); next >= 0; next = input.read()) {
            if (next != '\n') {
                bytes.write(next);
                continue;
            }
            number++;
            String answer = line.answer(decoded(bytes.toByteArray()), number);
            bytes.reset();
            if (answer == null) {
                return;
            }
            answers.write((answer + "\n").getBytes(StandardCharsets.UTF_8));
            answers.flush();
        }
    }

    /** The text of a line; one that is no UTF-8 is no JSON either, and is refused where that is read. */
    private static String decoded(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException error) {
            return "";
        }
    }
}
