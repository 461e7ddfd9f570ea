package kraftexplorer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A breadth-first search of the states of a specification, level by level. */
final class Search {
  private static final long STACK_BYTES = 64L << 20, POLL_MS = 50;

  final Specification specification;
  final Fingerprints fingerprints = new Fingerprints();
  final Components components = new Components();
  final Judge judge;
  final boolean deadlocks;
  final Worker[] workers;
  final List<Long> widths = new ArrayList<>();
  /** Names the compiled specification. */
  final String stamp;
  private final Path folder;
  private final Encoding encoding = new Encoding(components);
  /** Workers hold the read lock while they expand a block. */
  private final ReentrantReadWriteLock gate = new ReentrantReadWriteLock(true);
  private volatile boolean stopping;
  private volatile Throwable failure;
  Level level, following;
  /** Processor time of the workers. */
  long cpuNanos;

  Search(Specification specification, int threads, boolean deadlocks, Path folder, String stamp) {
    this.specification = specification;
    this.deadlocks = deadlocks;
    this.folder = folder;
    this.stamp = stamp;
    judge = new Judge(specification);
    workers = new Worker[threads];
    for (int i = 0; i < threads; i++) workers[i] = new Worker(this, encoding);
  }

  /** What the main thread does every now and then; true to stop the search. */
  interface Watch {
    boolean isOver() throws IOException;
  }

  void begin() throws IOException {
    level = Level.create(folder, 1);
    State[] initial = specification.initialStates();
    for (int i = 0; i < initial.length; i++) workers[0].begin(initial[i], i, level);
    workers[0].flush();
    following = Level.create(folder, 2);
  }

  /** Searches until there is no state left, or the watch stops it; true if it is complete. */
  boolean run(Watch watch) throws IOException, InterruptedException {
    while (level.size > 0) {
      if (widths.size() < level.number) widths.add(level.size);
      if (!expand(watch)) return false;
      level.expanded();
      level.close();
      level = following;
      following = Level.create(folder, level.number + 1);
    }
    return true;
  }

  private boolean expand(Watch watch) throws IOException, InterruptedException {
    Thread[] threads = new Thread[workers.length];
    for (int i = 0; i < threads.length; i++) {
      Worker worker = workers[i];
      threads[i] = new Thread(null, () -> work(worker), "worker-" + i, STACK_BYTES);
      threads[i].start();
    }
    for (Thread thread : threads) {
      while (thread.isAlive()) {
        thread.join(POLL_MS);
        if (!stopping && watch.isOver()) stopping = true;
      }
    }
    if (failure instanceof Stop) throw (Stop) failure;
    if (failure != null) throw new IllegalStateException(failure);
    flush();
    return !stopping;
  }

  private void work(Worker worker) {
    try {
      while (!stopping) {
        gate.readLock().lock();
        try {
          Level.Block block = level.next();
          if (block == null) return;
          worker.expand(block, level.number, following);
        } finally {
          gate.readLock().unlock();
        }
      }
    } catch (Throwable thrown) {
      synchronized (this) {
        if (failure == null) failure = thrown;
      }
      stopping = true;
    } finally {
      synchronized (this) {
        cpuNanos += java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      }
    }
  }

  private void flush() throws IOException {
    for (Worker worker : workers) worker.flush();
  }

  /** Runs an action while no worker is within a block and everything is written. */
  void atRest(Checkpoint.Action action) throws IOException {
    gate.writeLock().lock();
    try {
      flush();
      action.run();
    } finally {
      gate.writeLock().unlock();
    }
  }

  /** The states from an initial one to that of a stop, and the successor that it is about. */
  List<State> path(Stop stop) throws IOException {
    List<Integer> choices = new ArrayList<>();
    if (stop.choice >= 0) choices.add(0, stop.choice);
    long place = stop.place;
    for (int number = stop.level; number > 0; number--) {
      try (Level from = Level.open(folder, number)) {
        Level.Origin origin = from.origin(place);
        choices.add(0, origin.choice);
        place = origin.parent;
      }
    }
    List<State> path = new ArrayList<>();
    State state = specification.initialStates()[choices.get(0)];
    path.add(state);
    for (int choice : choices.subList(1, choices.size())) path.add(state = successor(state, choice));
    return path;
  }

  private State successor(State state, int choice) {
    State next = new State();
    State[] chosen = {null};
    int[] count = {0};
    for (int action = 0; action < specification.actions && chosen[0] == null; action++) {
      next.clear();
      workers[0].model.step(action, state, next, () -> {
        if (count[0]++ == choice) chosen[0] = next.copy();
      });
    }
    return chosen[0];
  }

  long generated() {
    long all = 0;
    for (Worker worker : workers) all += worker.generated;
    return all;
  }

  long distinct() {
    long all = 0;
    for (Worker worker : workers) all += worker.distinct;
    return all;
  }

  long expanded() {
    long all = 0;
    for (Worker worker : workers) all += worker.expanded;
    return all;
  }
}
