package kraft.tests;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * Runs the properties of Kafka's RaftEventSimulationTest in place of jqwik, one property for each seed.
 *
 * <p>The seed decides all arguments, so that a run can be repeated.  Arguments: first seed, and the seed after the last.
 */
public final class Simulation {
    private static final String TEST = "org.apache.kafka.raft.RaftEventSimulationTest";

    private Simulation() {
    }

    public static void main(String[] arguments) throws Exception {
        Class<?> type = Class.forName(TEST);
        List<Method> properties = new ArrayList<>();
        for (Method method : type.getDeclaredMethods()) {
            if (method.isAnnotationPresent(Property.class) && !Modifier.isStatic(method.getModifiers())) {
                properties.add(method);
            }
        }
        properties.sort(Comparator.comparing(Method::getName));
        TestLog log = new TestLog();
        for (int seed = Integer.parseInt(arguments[0]); seed < Integer.parseInt(arguments[1]); seed++) {
            run(type, properties.get(seed % properties.size()), seed, log);
        }
    }

    private static void run(Class<?> type, Method property, int seed, TestLog log) throws Exception {
        Random random = new Random(seed);
        Parameter[] parameters = property.getParameters();
        Object[] values = new Object[parameters.length];
        for (int index = 0; index < values.length; index++) {
            values[index] = index == 0 ? Integer.valueOf(seed) : value(parameters[index], random);
        }
        String name = TEST + "." + property.getName();
        String shown = Arrays.toString(values);
        property.setAccessible(true);
        var constructor = type.getDeclaredConstructor();
        log.write("started", name, shown, "");
        try {
            property.invoke(constructor.newInstance(), values);
            log.write("successful", name, shown, "");
        } catch (InvocationTargetException failure) {
            log.write("failed", name, shown, String.valueOf(failure.getCause()));
        }
    }

    private static Object value(Parameter parameter, Random random) {
        if (parameter.getType() == boolean.class) {
            return random.nextBoolean();
        }
        IntRange range = parameter.getAnnotation(IntRange.class);
        return range.min() + random.nextInt(range.max() - range.min() + 1);
    }
}
