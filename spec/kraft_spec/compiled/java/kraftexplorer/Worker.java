package kraftexplorer;

import java.io.IOException;

/** One thread of the search: takes states of a level, and appends their new successors to the next level. */
final class Worker {
  private static final int BLOCK_BYTES = 1 << 15;

  final Model model = new Model();
  private final Search search;
  private final Specification specification;
  private final Encoding encoding;
  private final State now = new State(), next = new State(), successor = new State();
  private final Bytes states = new Bytes(), origins = new Bytes();
  private int buffered;
  private long lastParent;
  private Level to;
  private long place;
  private int choice;
  /** True while a successor is looked at: it is the last that was chosen. */
  private boolean taking;
  /** Written by this thread alone, read by the one that reports. */
  volatile long generated, distinct, expanded;

  Worker(Search search, Encoding encoding) {
    this.search = search;
    this.specification = search.specification;
    this.encoding = encoding;
    model.memos.canon.components = encoding.components;
  }

  /** Takes an initial state. */
  void begin(State state, int number, Level first) throws IOException {
    to = first;
    place = 0;
    choice = number;
    generated++;
    encoding.intern(state);
    try {
      boolean inModel = isInModel(state);
      if (inModel && !search.fingerprints.add(fingerprint(state))) return;
      checkInvariants(state);
      if (inModel) keep(state);
    } catch (Stop | Undefined stop) {
      throw at(stop, 0);
    }
  }

  void expand(Level.Block block, int level, Level to) throws IOException {
    this.to = to;
    for (int i = 0; i < block.count; i++) {
      encoding.read(block.states, now);
      place = block.first + i;
      choice = 0;
      taking = false;
      try {
        for (int action = 0; action < specification.actions; action++) {
          next.clear();
          model.step(action, now, next, this::take);
        }
        if (choice == 0 && search.deadlocks) throw new Stop(Stop.Reason.DEADLOCK, "", null);
        search.judge.sample(this, now);
      } catch (Stop | Undefined | StackOverflowError stop) {
        throw at(stop, level);
      }
      expanded++;
      if (states.size > BLOCK_BYTES) flush();
    }
  }

  private Stop at(Throwable thrown, int level) {
    Stop stop = thrown instanceof Stop ? (Stop) thrown : new Stop(Stop.Reason.ERROR, thrown.toString(), thrown);
    stop.level = level;
    stop.place = place;
    stop.choice = level == 0 ? choice : taking ? choice - 1 : -1;
    return stop;
  }

  private void take() {
    if (!next.isWhole()) throw Values.open();
    generated++;
    choice++;
    taking = true;
    successor.set(next);
    encoding.intern(successor);
    boolean inModel = isInModel(successor) && isInActions(now, successor);
    boolean isNew = !inModel || search.fingerprints.add(fingerprint(successor));
    if (isNew) checkInvariants(successor);
    for (int step = 0, at = specification.firstStep(); step < specification.steps; step++, at++) {
      if (!holds(at, now, successor)) throw new Stop(Stop.Reason.VIOLATION, "", null);
    }
    if (inModel && isNew) keep(successor);
    taking = false;
  }

  private void keep(State state) {
    distinct++;
    encoding.write(state, states);
    origins.put(buffered == 0 ? place : place - lastParent);
    origins.put(choice - (to.number == 1 ? 0 : 1));
    lastParent = place;
    buffered++;
  }

  /** Writes what is kept to the level. */
  void flush() throws IOException {
    if (to != null) to.append(buffered, states, origins);
    buffered = 0;
  }

  boolean holds(int expression, State now, State later) { return Values.truth(model.value(expression, now, later)); }

  boolean isInModel(State state) {
    int first = specification.firstConstraint();
    for (int i = 0; i < specification.constraints; i++) if (!holds(first + i, state, null)) return false;
    return true;
  }

  boolean isInActions(State now, State later) {
    int first = specification.firstActionConstraint();
    for (int i = 0; i < specification.actionConstraints; i++) if (!holds(first + i, now, later)) return false;
    return true;
  }

  private void checkInvariants(State state) {
    for (int i = 0; i < specification.invariants; i++) {
      if (!holds(i, state, null)) throw new Stop(Stop.Reason.VIOLATION, "", null);
    }
  }

  long fingerprint(State state) {
    return specification.hasView ? model.value(specification.view(), state, null).hash() : Specification.hash(state);
  }
}
