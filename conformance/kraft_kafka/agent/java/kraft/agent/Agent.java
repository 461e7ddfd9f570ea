package kraft.agent;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The agent: -javaagent:JAR=FOLDER makes each KafkaRaftClient of the JVM write a file below FOLDER. */
public final class Agent {
    private static final String TABLE = "/kraft/agent/hooks.txt";
    private static final String WEAVER = "kraft.agent.weaving.Weaver";

    private Agent() {}

    /** Start before the host's main method; a failure is one line of the log, and the host runs without the agent. */
    public static void premain(String folder, Instrumentation instrumentation) {
        try {
            start(folder, instrumentation);
        } catch (Throwable failure) {
            log("disabled: " + failure);
        }
    }

    private static void start(String folder, Instrumentation instrumentation) throws Exception {
        List<String> table = table();
        // Javassist is visible to the weaver only, so that it cannot clash with one of the host's.
        Class<?> weaver = Class.forName(WEAVER, true, new Isolated());
        String missing = (String) weaver.getMethod("missing", List.class).invoke(null, table);
        if (missing != null) {
            log("disabled: " + missing);
            return;
        }
        Output.start(Path.of(folder == null || folder.isEmpty() ? "." : folder));
        instrumentation.addTransformer(
                (ClassFileTransformer) weaver.getConstructor(List.class).newInstance(table));
        log("writes to " + Output.folder().toAbsolutePath());
    }

    private static List<String> table() throws IOException {
        List<String> rows = new ArrayList<>();
        try (InputStream file = Agent.class.getResourceAsStream(TABLE);
                BufferedReader lines = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.isBlank() && !line.startsWith("#")) {
                    rows.add(line);
                }
            }
        }
        return rows;
    }

    /** Write one line to the host's standard error, which every way of running Kafka keeps. */
    public static void log(String text) {
        System.err.println("kraft-spec agent: " + text);
    }

    /** Loads the weaver and Javassist from folders of the jar that the host's class loader does not search. */
    private static final class Isolated extends ClassLoader {
        private static final String FOLDER = "/kraft/agent/isolated/";

        Isolated() {
            super(ClassLoader.getPlatformClassLoader());
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            String path = FOLDER + name.replace('.', '/') + ".class";
            try (InputStream file = Agent.class.getResourceAsStream(path)) {
                if (file == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = file.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException error) {
                throw new ClassNotFoundException(name, error);
            }
        }
    }
}
