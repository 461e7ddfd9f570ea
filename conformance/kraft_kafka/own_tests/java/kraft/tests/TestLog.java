package kraft.tests;

import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** The file of the property kraft.tests.file: begin and end of each test, one line each, in tabs. */
final class TestLog {
    private final PrintWriter file;

    TestLog() throws IOException {
        String name = System.getProperty("kraft.tests.file");
        file = name == null ? null : new PrintWriter(new FileWriter(name, StandardCharsets.UTF_8), true);
    }

    void write(String event, String method, String parameters, String detail) {
        if (file != null) {
            Instant now = Instant.now();
            String time = String.valueOf(now.getEpochSecond() * 1_000_000 + now.getNano() / 1000);
            file.println(String.join("\t", time, event, method, oneLine(parameters), oneLine(detail)));
        }
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\s+", " ");
    }
}
