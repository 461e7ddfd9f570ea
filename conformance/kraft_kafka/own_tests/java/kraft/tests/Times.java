package kraft.tests;

import java.io.IOException;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/** JUnit's listener that writes the begin and end of each test. */
public final class Times implements TestExecutionListener {
    private final TestLog log;

    public Times() throws IOException {
        log = new TestLog();
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
        if (test.isTest()) {
            String method = test.getSource().filter(MethodSource.class::isInstance).map(MethodSource.class::cast)
                    .map(source -> source.getClassName() + "." + source.getMethodName()).orElse(test.getUniqueId());
            log.write(event, method, test.getDisplayName(), detail);
        }
    }
}
