package kraft.agent;

import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.AgentLoadException;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Loads the agent into a JVM that runs: java -cp JAR kraft.agent.Attach PID JAR FOLDER[,rotate=SIZE].
 *
 * <p>The one line of standard output is the agent's status, or the reason why it has none; the exit code says which.
 */
public final class Attach {
    private static final int ALREADY = 10;
    private static final int NOT_ATTACHED = 11;
    private static final int NOT_LOADED = 12;

    private Attach() {}

    public static void main(String[] arguments) throws IOException {
        String id = arguments[0];
        // The Attach API sends SIGQUIT, which ends a process that is no JVM.  Where there is /proc, the caller has looked.
        if (!Files.isDirectory(Path.of("/proc"))
                && VirtualMachine.list().stream().noneMatch(found -> found.id().equals(id))) {
            end(NOT_ATTACHED, "it is no JVM of this user");
        }
        VirtualMachine machine = null;
        try {
            machine = VirtualMachine.attach(id);
        } catch (AttachNotSupportedException | IOException failure) {
            end(NOT_ATTACHED, failure.getMessage());
        }
        String status = status(machine);
        if (status.startsWith("writes to ")) {
            end(ALREADY, status);
        }
        try {
            machine.loadAgent(arguments[1], arguments[2]);
        } catch (AgentLoadException | AgentInitializationException | IOException failure) {
            end(NOT_LOADED, failure.getMessage());
        }
        end(0, status(machine));
    }

    private static String status(VirtualMachine machine) throws IOException {
        return machine.getSystemProperties().getProperty(Agent.STATUS, "");
    }

    private static void end(int code, String line) {
        System.out.println(line);
        System.exit(code);
    }
}
