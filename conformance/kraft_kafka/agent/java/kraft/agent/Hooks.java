package kraft.agent;

import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** What the woven calls reach.  Nothing that goes wrong here reaches Kafka: the agent then stops, with one line. */
public final class Hooks {
    private static final int REMEMBERED = 512;
    /** By client, whose equals is that of its identity. */
    private static final Map<Object, Recorder> RECORDERS = Collections.synchronizedMap(new WeakHashMap<>());
    /** The client that the thread runs: every other hook but those of clients is in its thread. */
    private static final ThreadLocal<WeakReference<Recorder>> CURRENT = new ThreadLocal<>();
    private static final ThreadLocal<Long> LOG_END = new ThreadLocal<>();
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final Deque<Sent> SENT = new ArrayDeque<>();
    private static volatile boolean isDisabled;
    /** True if clients may run already, which then begin with a checkpoint. */
    private static volatile boolean isAttached;

    private Hooks() {}

    /** A request that the network thread has not sent yet. */
    private static final class Sent {
        final Object data;
        final Recorder recorder;
        final int correlation;

        Sent(Object data, Recorder recorder, int correlation) {
            this.data = data;
            this.recorder = recorder;
            this.correlation = correlation;
        }
    }

    static void attach() {
        isAttached = true;
    }

    /** Stop for good, and report why. */
    public static void disable(String reason) {
        isDisabled = true;
        Agent.report("disabled: " + reason);
    }

    static boolean isDisabled() {
        return isDisabled;
    }

    public static void enter(String hook, String method, Object self, Object[] arguments) {
        if (isDisabled) {
            return;
        }
        try {
            entered(hook, method, self, arguments);
        } catch (Throwable failure) {
            failed(hook, failure);
        }
    }

    public static void exit(String hook, String method, Object self, Object[] arguments, Object result) {
        if (isDisabled) {
            return;
        }
        try {
            left(hook, method, self, arguments, result);
        } catch (Throwable failure) {
            failed(hook, failure);
        }
    }

    private static void failed(String hook, Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        StackTraceElement[] stack = cause.getStackTrace();
        disable("hook " + hook + ": " + failure.getMessage() + ": " + cause
                + (stack.length > 0 ? " at " + stack[0] : ""));
    }

    private static void entered(String hook, String method, Object self, Object[] arguments) throws Exception {
        switch (hook) {
            case "start":
                Recorder started = new Recorder(self, arguments[1], COUNT.incrementAndGet());
                RECORDERS.put(self, started);
                CURRENT.set(new WeakReference<>(started));
                started.starting(arguments);
                return;
            case "poll":
            case "message":
                Recorder recorder = RECORDERS.get(self);
                if (recorder == null) {
                    return;
                }
                WeakReference<Recorder> current = CURRENT.get();
                if (current == null || current.get() != recorder) {
                    CURRENT.set(new WeakReference<>(recorder));
                }
                if (hook.equals("poll")) {
                    recorder.polling();
                } else {
                    recorder.received(arguments[0], arguments);
                }
                return;
            case "shutdown":
            case "resign":
                if (RECORDERS.get(self) != null) {
                    RECORDERS.get(self).called(hook);
                }
                return;
            case "transition":
                if (current() != null && Members.get(current().client(), "quorum") == self) {
                    current().transition(arguments[0]);
                }
                return;
            case "expire":
                if (current() != null) {
                    current().expiring(self, arguments[0]);
                }
                return;
            case "send":
                if (current() != null && current().channel == self) {
                    current().sending(arguments[0]);
                }
                return;
            case "append":
            case "flush":
            case "truncate":
            case "install":
            case "snapshot":
                LOG_END.set(ofLog(self) == null ? -1 : Disk.end(self));
                return;
            default:
        }
    }

    private static void left(String hook, String method, Object self, Object[] arguments, Object result)
            throws Exception {
        switch (hook) {
            case "start":
                RECORDERS.get(self).ended("started");
                return;
            case "poll":
                Recorder polled = RECORDERS.get(self);
                if (polled != null) {
                    polled.polled();
                } else if (isAttached && (polled = Recorder.attached(self, COUNT.incrementAndGet())) != null) {
                    RECORDERS.put(self, polled);
                    CURRENT.set(new WeakReference<>(polled));
                }
                return;
            case "message":
                if (RECORDERS.get(self) != null) {
                    RECORDERS.get(self).ended("handled");
                }
                return;
            case "close":
                Recorder closed = RECORDERS.remove(self);
                if (closed != null) {
                    closed.closed();
                }
                return;
            case "wire":
                sent(arguments[1], Members.integer(result, "correlationId"));
                return;
            case "persist":
                if (current() != null && current().hasStore(self)) {
                    current().persisted(arguments);
                }
                return;
            case "append":
                if (ofLog(self) != null) {
                    ofLog(self).appended(method, arguments[0], LOG_END.get());
                }
                return;
            case "flush":
            case "truncate":
            case "install":
            case "snapshot":
                if (ofLog(self) != null) {
                    ofLog(self).changed(hook, arguments, LOG_END.get(), !Boolean.FALSE.equals(result));
                }
                return;
            default:
        }
    }

    static void answered(Recorder recorder, long number, Object response) {
        if (isDisabled) {
            return;
        }
        try {
            recorder.answered(number, response);
        } catch (Throwable failure) {
            failed("answer", failure);
        }
    }

    private static Recorder current() {
        WeakReference<Recorder> current = CURRENT.get();
        return current == null ? null : current.get();
    }

    private static Recorder ofLog(Object log) {
        return current() != null && current().log == log ? current() : null;
    }

    /** Remember a request until the network thread gives it its correlation id on the wire. */
    static void remember(Object data, Recorder recorder, int correlation) {
        synchronized (SENT) {
            SENT.addLast(new Sent(data, recorder, correlation));
            if (SENT.size() > REMEMBERED) {
                SENT.removeFirst();
            }
        }
    }

    private static void sent(Object builder, int wireId) throws IllegalAccessException {
        Sent match = null;
        synchronized (SENT) {
            for (Iterator<Sent> all = SENT.iterator(); all.hasNext() && match == null; ) {
                Sent one = all.next();
                if (Members.holds(builder, one.data)) {
                    match = one;
                    all.remove();
                }
            }
        }
        if (match != null) {
            match.recorder.wire(match.correlation, wireId);
        }
    }
}
