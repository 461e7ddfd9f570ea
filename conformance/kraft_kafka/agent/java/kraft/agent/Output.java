package kraft.agent;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The files of a client, one after the other, and the one daemon thread that writes those of all clients.
 *
 * <p>The host's threads only add lines to a queue without a lock.  The queue has a bound: lines beyond it are dropped
 * and counted, and the file says how many.  A failed write, or a disk that is almost full, stops the file.
 */
final class Output {
    private static final long QUEUE_MAX = Long.getLong("kraft.agent.queue.bytes", 32L << 20);
    private static final long FREE_MIN = Long.getLong("kraft.agent.free.bytes", 64L << 20);
    private static final long CHECK_EVERY = 1L << 20;
    private static final int WRITE_MAX = 1 << 20;
    /** Time in which lines gather for one write: a wake-up of the writer for each line would cost more than the line. */
    private static final long GATHERING_NS = Long.getLong("kraft.agent.gathering.ms", 20) * 1_000_000;
    private static final long PARKED_NS = 1_000_000_000;
    private static final long END_NS = 1_000_000_000;
    private static final ConcurrentLinkedQueue<Entry> QUEUE = new ConcurrentLinkedQueue<>();
    private static final AtomicLong QUEUED = new AtomicLong();
    private static volatile boolean isParked;
    private static volatile Thread writer;
    private static Path folder;
    private static long rotateAt;

    private final String name;
    private final String number;
    private final AtomicLong dropped = new AtomicLong();
    private volatile boolean isStopped;
    /** True if the file has its size, and the next checkpoint begins another one. */
    private volatile boolean isFull;
    private volatile boolean hasDropped;

    // Of the writer alone.
    private OutputStream file;
    private Path path;
    private int parts;
    private long size;
    private boolean isOver;
    private long unchecked = CHECK_EVERY;
    private final ByteArrayOutputStream gathered = new ByteArrayOutputStream();
    private long gatheredCharacters;

    /** Prepare the files of a client; `number` distinguishes it from others of the replica. */
    Output(String name, String number) {
        this.name = name;
        this.number = number;
    }

    private static final class Entry {
        final Output output;
        final String line;
        final Kind kind;

        Entry(Output output, String line, Kind kind) {
            this.output = output;
            this.line = line;
            this.kind = kind;
        }
    }

    private enum Kind {
        LINE,
        CHECKPOINT,
        /** Number of dropped lines, which the bound of the queue does not count. */
        MARK,
        LAST
    }

    /** Begin to write below a folder; a file of more than `bytes` is followed by another one. */
    static void start(Path wanted, long bytes) throws IOException {
        Files.createDirectories(wanted);
        if (!Files.isWritable(wanted)) {
            throw new AccessDeniedException(wanted.toString());
        }
        folder = wanted;
        rotateAt = bytes;
        writer = new Thread(Output::run, "kraft-spec agent");
        writer.setDaemon(true);
        writer.start();
        // A client that is not closed, as in a test, loses no line either.
        Runtime.getRuntime().addShutdownHook(new Thread(Output::awaitWritten, "kraft-spec agent's end"));
    }

    static Path folder() {
        return folder;
    }

    /** True if the file has its size, or lacks lines: a checkpoint is to come. */
    boolean needsCheckpoint() {
        return isFull || hasDropped;
    }

    /** Add a line, and return true, unless it is dropped; the host never waits. */
    boolean add(String line, boolean isCheckpoint) {
        return add(new Entry(this, line, isCheckpoint ? Kind.CHECKPOINT : Kind.LINE));
    }

    /** Add the last line, and wait up to a second until everything is written. */
    void end(String line) {
        add(new Entry(this, line, Kind.LAST));
        awaitWritten();
    }

    private static void awaitWritten() {
        long end = System.nanoTime() + END_NS;
        while (QUEUED.get() > 0 && System.nanoTime() < end) {
            LockSupport.unpark(writer);
            LockSupport.parkNanos(1_000_000);
        }
    }

    private boolean add(Entry entry) {
        if (isStopped) {
            return false;
        }
        int length = entry.line.length();
        if (QUEUED.addAndGet(length) > QUEUE_MAX) {
            QUEUED.addAndGet(-length);
            dropped.incrementAndGet();
            hasDropped = true;
            return false;
        }
        if (entry.kind == Kind.CHECKPOINT) {
            isFull = false;
            hasDropped = false;
        }
        long lost = dropped.get() == 0 ? 0 : dropped.getAndSet(0);
        if (lost > 0) {
            QUEUE.add(new Entry(this, new Line("dropped").put("lines", lost).end(), Kind.MARK));
        }
        QUEUE.add(entry);
        if (isParked) {
            LockSupport.unpark(writer);
        }
        return true;
    }

    private static void run() {
        Set<Output> outputs = new LinkedHashSet<>();
        while (true) {
            Entry entry = QUEUE.poll();
            if (entry != null) {
                entry.output.gather(entry);
                outputs.add(entry.output);
                continue;
            }
            outputs.forEach(Output::flush);
            outputs.clear();
            isParked = true;
            if (QUEUE.isEmpty()) {
                LockSupport.parkNanos(PARKED_NS);
            }
            isParked = false;
            LockSupport.parkNanos(GATHERING_NS);
        }
    }

    /** Take a line; the file is written when there are enough of them, or no more. */
    private void gather(Entry entry) {
        if (entry.kind == Kind.CHECKPOINT && isOver) {
            flush();
            close();
        }
        if (file == null && size + gathered.size() == 0) {
            parts++;
            gatherText(new Line("part").put("schema", "kraft-agent/2").put("client", number).put("number", parts).end());
        }
        gatherText(entry.line);
        gatheredCharacters += entry.kind == Kind.MARK ? 0 : entry.line.length();
        if (entry.kind == Kind.LAST || gathered.size() >= WRITE_MAX) {
            flush();
        }
        if (entry.kind == Kind.LAST) {
            isStopped = true;
            close();
        }
        if (!isOver && size + gathered.size() >= rotateAt) {
            isOver = true;
            isFull = true;
        }
    }

    private void gatherText(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        gathered.write(bytes, 0, bytes.length);
    }

    /** Write the lines that were taken: into the page cache, so a killed process loses none that was written. */
    private void flush() {
        try {
            if (!isStopped && gathered.size() > 0) {
                if (file == null) {
                    path = folder.resolve(name + "-" + number + (parts > 1 ? "." + parts : "") + ".raw.jsonl");
                    file = Files.newOutputStream(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                }
                checkSpace(gathered.size());
                gathered.writeTo(file);
                size += gathered.size();
            }
        } catch (IOException | RuntimeException failure) {
            isStopped = true;
            Agent.log("stops writing " + path + ": " + failure.getMessage());
        }
        gathered.reset();
        QUEUED.addAndGet(-gatheredCharacters);
        gatheredCharacters = 0;
    }

    private void checkSpace(int bytes) throws IOException {
        unchecked += bytes;
        if (unchecked < CHECK_EVERY) {
            return;
        }
        unchecked = 0;
        long free = Files.getFileStore(path).getUsableSpace();
        if (free < FREE_MIN) {
            String reason = "the disk has " + free + " bytes left";
            file.write(new Line("stopped").put("reason", reason).end().getBytes(StandardCharsets.UTF_8));
            throw new IOException(reason + ", expected " + FREE_MIN);
        }
    }

    private void close() {
        try {
            if (file != null) {
                file.close();
            }
        } catch (IOException failure) {
            Agent.log("cannot close " + path + ": " + failure.getMessage());
        }
        file = null;
        size = 0;
        isOver = false;
    }
}
