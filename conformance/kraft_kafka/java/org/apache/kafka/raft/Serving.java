package org.apache.kafka.raft;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** kraft-adapter/1 on standard input and output: a request and a reply on each line. */
public final class Serving {
    private Serving() {}

    /** The fields of the reply to a request, beside its type and id. */
    public interface Answers {
        Map<String, Object> answer(String type, Map<String, Object> request);
    }

    public static void serve(Answers answers) throws IOException {
        PrintStream replies = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        // Standard output is for replies alone.
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, Object> reply = Map.of();
        while (!"bye".equals(reply.get("type"))) {
            String line = requests.readLine();
            if (line == null) {
                return;
            }
            reply = reply(answers, line);
            replies.print(Json.write(reply) + "\n");
            replies.flush();
        }
    }

    private static Map<String, Object> reply(Answers answers, String line) {
        Object id = 0;
        try {
            Map<String, Object> request = Json.parse(line);
            id = request.getOrDefault("id", id);
            String type = Json.text(request, "type");
            Map<String, Object> reply = Json.object("type", type, "id", id);
            reply.putAll(answers.answer(type, request));
            return reply;
        } catch (Unsupported unsupported) {
            return Json.object("type", "error", "id", id, "code", "unsupported", "detail", unsupported.getMessage());
        } catch (RuntimeException failure) {
            // The runner shows standard error beside the failure.
            failure.printStackTrace();
            return Json.object("type", "error", "id", id, "code", "failed", "detail", failure.toString());
        }
    }
}
