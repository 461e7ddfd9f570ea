package kraft.tests;

import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/** Writes begin and end of each test to the file of the property kraft.tests.file, one line each, in tabs. */
public final class Times implements TestExecutionListener {
    private final PrintWriter file;

    public Times() throws IOException {
        String name = System.getProperty("kraft.tests.file");
        file = name == null ? null : new PrintWriter(new FileWriter(name, StandardCharsets.UTF_8), true);
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        write(test, "started", "");
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        write(test, result.getStatus().name().toLowerCase(), result.getThrowable().map(Throwable::toString).orElse(""));
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        write(test, "skipped", reason);
    }

    private void write(TestIdentifier test, String event, String detail) {
        if (file == null || !test.isTest()) {
            return;
        }
        Instant now = Instant.now();
        String method = test.getSource().filter(MethodSource.class::isInstance).map(MethodSource.class::cast)
                .map(source -> source.getClassName() + "." + source.getMethodName()).orElse(test.getUniqueId());
        file.println(String.join("\t", String.valueOf(now.getEpochSecond() * 1_000_000 + now.getNano() / 1000), event,
                method, oneLine(test.getDisplayName()), oneLine(detail)));
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\s+", " ");
    }
}
