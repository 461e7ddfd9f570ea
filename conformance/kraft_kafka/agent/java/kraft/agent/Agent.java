package kraft.agent;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The agent: -javaagent:JAR=FOLDER, or the Attach API, makes each KafkaRaftClient of the JVM write files below FOLDER.
 *
 * <p>FOLDER,rotate=256m begins another file when one has that size.
 */
public final class Agent {
    /** System property with what the agent does, for the process that attaches it. */
    static final String STATUS = "kraft.agent.status";
    private static final String TABLE = "/kraft/agent/hooks.txt";
    private static final String WEAVER = "kraft.agent.weaving.Weaver";
    private static final String ROTATE = ",rotate=";
    private static final Set<String> CLIENTS = Set.of("org.apache.kafka.raft.KafkaRaftClient");
    /** True from the first change of a class on: the agent is loaded once. */
    private static boolean isWoven;

    private Agent() {}

    /** Start before the host's main method; a failure is one line of the log, and the host runs without the agent. */
    public static void premain(String argument, Instrumentation instrumentation) {
        start(argument, instrumentation, false);
    }

    /** Start in a host that runs: its classes are changed, and its clients begin with a checkpoint. */
    public static void agentmain(String argument, Instrumentation instrumentation) {
        start(argument, instrumentation, true);
    }

    private static synchronized void start(String argument, Instrumentation instrumentation, boolean isAttached) {
        if (isWoven) {
            return;
        }
        try {
            String status = weave(argument == null ? "" : argument, instrumentation, isAttached);
            if (!Hooks.isDisabled()) {
                report(status);
            }
        } catch (Throwable failure) {
            if (isWoven) {
                Hooks.disable(failure.toString());
            } else {
                report("disabled: " + failure);
            }
        }
    }

    /** Change Kafka's classes, and return the status. */
    private static String weave(String argument, Instrumentation instrumentation, boolean isAttached)
            throws Exception {
        List<String> table = table();
        if (isAttached && loaded(CLIENTS, instrumentation).length == 0) {
            return "disabled: no KafkaRaftClient is loaded; expected a controller or broker of Kafka 3.9 to 4.4";
        }
        // Javassist is visible to the weaver only, so that it cannot clash with one of the host's.
        Class<?> weaver = Class.forName(WEAVER, true, new Isolated());
        String missing = (String) weaver.getMethod("missing", List.class).invoke(null, table);
        if (missing != null) {
            return "disabled: " + missing;
        }
        int end = argument.lastIndexOf(ROTATE);
        String folder = end < 0 ? argument : argument.substring(0, end);
        long rotateAt = end < 0 ? Long.MAX_VALUE : bytes(argument.substring(end + ROTATE.length()));
        try {
            Output.start(Path.of(folder.isEmpty() ? "." : folder), rotateAt);
        } catch (IOException failure) {
            return "disabled: cannot write to " + folder + ": " + failure;
        }
        ClassFileTransformer transformer =
                (ClassFileTransformer) weaver.getConstructor(List.class).newInstance(table);
        isWoven = true;
        instrumentation.addTransformer(transformer, isAttached);
        if (isAttached) {
            Set<String> names = new HashSet<>();
            table.forEach(row -> names.add(row.trim().split("\\s+")[1]));
            change(loaded(names, instrumentation), transformer, instrumentation);
        }
        return "writes to " + Output.folder().toAbsolutePath();
    }

    /** Return the classes with these names that are loaded. */
    private static Class<?>[] loaded(Set<String> names, Instrumentation instrumentation) {
        return Arrays.stream(instrumentation.getAllLoadedClasses())
                .filter(type -> names.contains(type.getName())).toArray(Class<?>[]::new);
    }

    /** Change classes that are loaded already: all of them, or none. */
    private static void change(Class<?>[] loaded, ClassFileTransformer transformer, Instrumentation instrumentation)
            throws UnmodifiableClassException {
        try {
            instrumentation.retransformClasses(loaded);
        } catch (Throwable failure) {
            Hooks.disable("classes cannot be changed: " + failure);
        }
        if (Hooks.isDisabled()) {
            instrumentation.removeTransformer(transformer);
            instrumentation.retransformClasses(loaded);
        } else {
            Hooks.attach();
        }
    }

    /** Return a number of bytes such as 256m. */
    private static long bytes(String size) {
        if (!size.matches("[1-9][0-9]{0,8}[kmg]?")) {
            throw new IllegalArgumentException("rotate=" + size + ": expected a number of bytes such as 256m");
        }
        int unit = "kmg".indexOf(size.charAt(size.length() - 1)) + 1;
        return Long.parseLong(unit > 0 ? size.substring(0, size.length() - 1) : size) << (10 * unit);
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

    /** Log what the agent does, and keep it for a process that attaches. */
    static void report(String status) {
        System.setProperty(STATUS, status);
        log(status);
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
