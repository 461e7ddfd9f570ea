package kraft.agent.weaving;

import java.io.ByteArrayInputStream;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javassist.ClassPool;
import javassist.CtClass;
import javassist.CtMethod;
import javassist.LoaderClassPath;

/** Adds calls of Hooks to Kafka's methods: at their entry, and at their exit with or without an exception. */
public final class Weaver implements ClassFileTransformer {
    /** Rows by class, with slashes. */
    private final Map<String, List<String[]>> rows = new LinkedHashMap<>();

    public Weaver(List<String> table) {
        for (String line : table) {
            String[] row = split(line);
            rows.computeIfAbsent(row[1].replace('.', '/'), name -> new ArrayList<>()).add(row);
        }
    }

    /** Return group, class, method, number of parameters or *, and hook. */
    private static String[] split(String line) {
        String[] row = line.trim().split("\\s+");
        if (row.length != 5) {
            throw new IllegalArgumentException("hooks.txt: expected 5 words: " + line);
        }
        return row;
    }

    /** Return what this JVM lacks, or null: of each group one class must have all methods of its rows. */
    public static String missing(List<String> table) {
        ClassPool pool = pool(ClassLoader.getSystemClassLoader());
        Map<String, Map<String, String>> lackedBy = new TreeMap<>();
        for (String line : table) {
            String[] row = split(line);
            Map<String, String> ofGroup = lackedBy.computeIfAbsent(row[0], name -> new LinkedHashMap<>());
            ofGroup.putIfAbsent(row[1], "");
            CtClass type = pool.getOrNull(row[1]);
            if (type == null) {
                ofGroup.put(row[1], "there is no class " + row[1]);
            } else if (methods(type, row).isEmpty() && ofGroup.get(row[1]).isEmpty()) {
                ofGroup.put(row[1], row[1] + " has no method " + row[2]);
            }
        }
        for (Map.Entry<String, Map<String, String>> group : lackedBy.entrySet()) {
            if (!group.getValue().containsValue("")) {
                return "hook point " + group.getKey() + " is missing: " + String.join(", ", group.getValue().values())
                        + "; expected Kafka 3.9 to 4.4";
            }
        }
        return null;
    }

    private static List<CtMethod> methods(CtClass type, String[] row) {
        List<CtMethod> found = new ArrayList<>();
        for (CtMethod method : type.getDeclaredMethods()) {
            boolean fits = row[3].equals("*") || count(method) == Integer.parseInt(row[3]);
            // Scala and generics give bridge methods of the same name, which call the real one.
            boolean isReal = (method.getModifiers() & (0x0040 | 0x0400 | 0x0100)) == 0;
            if (method.getName().equals(row[2]) && fits && isReal) {
                found.add(method);
            }
        }
        return found;
    }

    private static int count(CtMethod method) {
        return javassist.bytecode.Descriptor.numOfParameters(method.getSignature());
    }

    private static ClassPool pool(ClassLoader loader) {
        ClassPool pool = new ClassPool(false);
        pool.appendClassPath(new LoaderClassPath(loader == null ? ClassLoader.getPlatformClassLoader() : loader));
        pool.appendClassPath(new LoaderClassPath(ClassLoader.getSystemClassLoader()));
        return pool;
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String name, Class<?> loaded, ProtectionDomain domain, byte[] bytes) {
        List<String[]> ofClass = name == null ? null : rows.get(name);
        if (ofClass == null || !reachesAgent(loader)) {
            return null;
        }
        try {
            CtClass type = pool(loader).makeClass(new ByteArrayInputStream(bytes));
            for (String[] row : ofClass) {
                for (CtMethod method : methods(type, row)) {
                    String call = "(\"" + row[4] + "\", \"" + row[2] + "\", $0, $args";
                    method.insertBefore("kraft.agent.Hooks.enter" + call + ");");
                    method.insertAfter("kraft.agent.Hooks.exit" + call + ", ($w) $_);", true);
                }
            }
            return type.toBytecode();
        } catch (Throwable failure) {
            // The class stays as it is; a client without all its hooks would write what is wrong.
            disable(name.replace('/', '.') + " cannot be changed: " + failure);
            return null;
        }
    }

    /** True if classes of a loader find those of the agent, which the system class loader has. */
    private static boolean reachesAgent(ClassLoader loader) {
        ClassLoader at = loader;
        while (at != null && at != ClassLoader.getSystemClassLoader()) {
            at = at.getParent();
        }
        return at != null;
    }

    private static void disable(String reason) {
        try {
            Class.forName("kraft.agent.Hooks", true, ClassLoader.getSystemClassLoader())
                    .getMethod("disable", String.class).invoke(null, reason);
        } catch (ReflectiveOperationException impossible) {
            System.err.println("kraft-spec agent: " + impossible);
        }
    }
}
