package kraftexplorer;

import java.util.HashMap;
import java.util.Map;
import tlc2.tool.StateVec;
import tlc2.tool.TLCState;

/**
 * TLC's interpreter, which evaluates a sample of the states: their successors, and for each of these the invariants, the
 * properties of the step, the constraints and the fingerprint. The search stops where it comes to something else.
 */
final class Judge {
  private static final long SHARE = 50;
  private static final int FINGERPRINTS_MAX = 1 << 16;

  private final Specification specification;
  private final long started = System.nanoTime();
  private long spent;
  private volatile long due;
  volatile long sampled;
  /** The explorer's fingerprints and TLC's, of the states that were judged: one for each of the other. */
  private final Map<Long, Long> fingerprints = new HashMap<>(), inverse = new HashMap<>();

  Judge(Specification specification) { this.specification = specification; }

  /** Judges a state if that keeps TLC's share of the time small. */
  void sample(Worker worker, State state) {
    if (System.nanoTime() < due) return;
    synchronized (this) {
      long before = System.nanoTime();
      if (before < due) return;
      due = Long.MAX_VALUE;
      judge(worker, state);
      spent += System.nanoTime() - before;
      // Beside the comparison of all results, every state is judged.
      due = Memo.BOTH ? 0 : started + spent * SHARE;
      sampled++;
    }
  }

  private void judge(Worker worker, State state) {
    TLCState now = Specification.to(state);
    State next = new State();
    for (int action = 0; action < specification.actions; action++) {
      Map<Long, State> ours = new HashMap<>();
      next.clear();
      worker.model.step(action, state, next, () -> ours.put(Specification.hash(next), next.copy()));
      StateVec theirs = specification.successors(action, now);
      Map<Long, TLCState> judged = new HashMap<>();
      for (int i = 0; i < theirs.size(); i++) {
        TLCState successor = theirs.elementAt(i);
        judged.put(Specification.hash(Specification.from(successor)), successor);
      }
      String name = specification.tool.getActions()[action].getName().toString();
      if (!ours.keySet().equals(judged.keySet())) disagree("the successors under " + name, state);
      for (Map.Entry<Long, TLCState> one : judged.entrySet()) {
        judgeStep(worker, state, ours.get(one.getKey()), now, one.getValue());
      }
    }
  }

  private void judgeStep(Worker worker, State state, State successor, TLCState now, TLCState later) {
    for (int i = 0; i < specification.firstConstraint(); i++) {
      boolean isInvariant = i < specification.firstStep();
      boolean ours = isInvariant ? worker.holds(i, successor, null) : worker.holds(i, state, successor);
      if (ours != specification.isValid(i, isInvariant ? later : now, later)) disagree("property " + i, successor);
    }
    if (worker.isInModel(successor) != specification.tool.isInModel(later)
        || worker.isInActions(state, successor) != specification.tool.isInActions(now, later)) {
      disagree("a constraint", successor);
    }
    if (specification.hasView && worker.fingerprint(successor) != specification.viewOf(later).hash()) {
      disagree("the VIEW", successor);
    }
    if (fingerprints.size() < FINGERPRINTS_MAX) judgeFingerprint(worker.fingerprint(successor), later, successor);
  }

  private void judgeFingerprint(long ours, TLCState later, State successor) {
    long theirs = later.fingerPrint();
    Long before = fingerprints.putIfAbsent(ours, theirs), inverseBefore = inverse.putIfAbsent(theirs, ours);
    if (before != null && before != theirs || inverseBefore != null && inverseBefore != ours) {
      disagree("whether another state has the fingerprint", successor);
    }
  }

  private static void disagree(String what, State state) {
    StringBuilder text = new StringBuilder("the explorer and TLC disagree on ").append(what).append(" of the state");
    for (int i = 0; i < State.VARIABLES.length; i++) {
      text.append("\n/\\ ").append(State.VARIABLES[i]).append(" = ").append(state.get(i));
    }
    throw new Stop(Stop.Reason.DISAGREEMENT, text.toString(), null);
  }
}
