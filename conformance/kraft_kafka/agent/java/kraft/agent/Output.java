package kraft.agent;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The files, and the one daemon thread that writes them.
 *
 * <p>The host's threads only add lines to a queue without a lock.  The queue has a bound: lines beyond it are dropped
 * and counted, and the file says how many.  A failed write, or a disk that is almost full, stops the file.
 */
final class Output {
    private static final long QUEUE_MAX = Long.getLong("kraft.agent.queue.bytes", 32L << 20);
    private static final long FREE_MIN = Long.getLong("kraft.agent.free.bytes", 64L << 20);
    private static final long CHECK_EVERY = 1L << 20;
    private static final long PARKED_NS = 100_000_000;
    private static final ConcurrentLinkedQueue<Entry> QUEUE = new ConcurrentLinkedQueue<>();
    private static final AtomicLong QUEUED = new AtomicLong();
    private static volatile boolean isParked;
    private static volatile Thread writer;
    private static Path folder;

    private final Path path;
    private final AtomicLong dropped = new AtomicLong();
    private volatile boolean isStopped;
    /** Of the writer alone. */
    private OutputStream file;
    private long unchecked = CHECK_EVERY;

    Output(String name) {
        path = folder.resolve(name);
    }

    private static final class Entry {
        final Output output;
        final String line;

        Entry(Output output, String line) {
            this.output = output;
            this.line = line;
        }
    }

    static void start(Path wanted) throws IOException {
        folder = Files.createDirectories(wanted);
        writer = new Thread(Output::run, "kraft-spec agent");
        writer.setDaemon(true);
        writer.start();
    }

    static Path folder() {
        return folder;
    }

    /** Add a line, and return true, unless it is dropped; the host never waits. */
    boolean add(String line) {
        if (isStopped) {
            return false;
        }
        if (QUEUED.addAndGet(line.length()) > QUEUE_MAX) {
            QUEUED.addAndGet(-line.length());
            dropped.incrementAndGet();
            return false;
        }
        long lost = dropped.get() == 0 ? 0 : dropped.getAndSet(0);
        if (lost > 0) {
            QUEUE.add(new Entry(this, new Line("dropped").put("lines", lost).end()));
        }
        QUEUE.add(new Entry(this, line));
        if (isParked) {
            LockSupport.unpark(writer);
        }
        return true;
    }

    /** Wait until everything is written, or the time is over. */
    static void drain(long milliseconds) throws InterruptedException {
        long end = System.nanoTime() + milliseconds * 1_000_000;
        while (QUEUED.get() > 0 && System.nanoTime() < end) {
            Thread.sleep(1);
        }
    }

    private static void run() {
        while (true) {
            Entry entry = QUEUE.poll();
            if (entry == null) {
                isParked = true;
                if (QUEUE.isEmpty()) {
                    LockSupport.parkNanos(PARKED_NS);
                }
                isParked = false;
            } else {
                entry.output.write(entry.line);
                // The marker of dropped lines is not counted.
                if (!entry.line.startsWith("{\"kind\":\"dropped\"")) {
                    QUEUED.addAndGet(-entry.line.length());
                }
            }
        }
    }

    private void write(String line) {
        if (isStopped) {
            return;
        }
        try {
            if (file == null) {
                file = Files.newOutputStream(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            }
            byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
            unchecked += bytes.length;
            if (unchecked >= CHECK_EVERY) {
                unchecked = 0;
                long free = Files.getFileStore(path).getUsableSpace();
                if (free < FREE_MIN) {
                    file.write(new Line("stopped").put("reason", "the disk has " + free + " bytes left").end()
                            .getBytes(StandardCharsets.UTF_8));
                    throw new IOException("the disk has " + free + " bytes left, expected " + FREE_MIN);
                }
            }
            // One write for a line, into the page cache: a killed process loses no line that was written.
            file.write(bytes);
            if (line.startsWith("{\"kind\":\"end\"")) {
                isStopped = true;
                file.close();
            }
        } catch (IOException | RuntimeException failure) {
            isStopped = true;
            Agent.log("stops writing " + path + ": " + failure.getMessage());
        }
    }
}
