package kraftspec;

import static kraftspec.Json.require;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import kraftspec.Json.Declined;
import kraftspec.Json.Fields;
import tlc2.tool.TLCState;
import tlc2.value.impl.BoolValue;
import tlc2.value.impl.RecordValue;
import tlc2.value.impl.StringValue;
import tlc2.value.impl.Value;

/**
 * The states that the lines so far may have led to: one, unless fields are left out.
 *
 * <p>It follows them as kraft_traces.check.candidates does: a line is tried from each, with every answer to the decisions
 * that are free.
 */
final class Candidates {
  /** A step to a state that does not show what the line shows. */
  private record OtherStep(State before, State after, long answers, Value config) {}

  /** A state, and the answers on the way to it where those of the configuration did not lead there, in bits. */
  static final class Candidate {
    final State state;
    private long answers;

    private Candidate(State state, long answers) {
      this.state = state;
      this.answers = answers;
    }

    /** Of two ways here the one with fewer other answers counts, then the one whose first ones have lower bits. */
    private boolean isBetterBy(long others) {
      int fewer = Long.bitCount(answers) - Long.bitCount(others);
      return fewer > 0 || fewer == 0 && (Long.lowestOneBit(answers ^ others) & others) != 0;
    }
  }

  private final Comparison comparison;
  private final boolean own;
  private final int most;
  private final int start;
  private final int opaqueSend;
  private final String lineInvariants, lineSteps;
  private final Set<String> notJudged = new HashSet<>();
  private final int refuse;
  private final Set<String> refusable = new HashSet<>();

  private List<Candidate> earlier = List.of();
  private List<Candidate> now = List.of();
  private int widest = 1;
  /** How many states beside one the lines so far have left, all of them together. */
  private long besides;
  private final long besidesMax, besidesPerLine;
  private List<Candidate> next;
  private long shown;
  private Declined differs;
  private final Writes writes;
  private final List<OtherStep> otherSteps = new ArrayList<>();
  private Writes.InForm form;

  Candidates(Fields tables, Comparison comparison, Map<String, Integer> actions, Writes writes, boolean own) {
    this.writes = writes;
    this.comparison = comparison;
    this.own = own;
    most = (int) (long) (Long) tables.get("candidates_max");
    besidesMax = (Long) tables.get("besides_max");
    besidesPerLine = (Long) tables.get("besides_per_line");
    start = actions.get("TraceStart");
    opaqueSend = actions.get("TraceOpaqueSend");
    Object[] operators = (Object[]) tables.get("line_operators");
    lineInvariants = (String) operators[0];
    lineSteps = (String) operators[1];
    for (Object one : (Object[]) tables.get("not_judged")) notJudged.add((String) one);
    refuse = actions.get("TraceRefuse");
    for (Object one : (Object[]) tables.get("refusable")) refusable.add((String) one);
  }

  void start(State first) {
    State whole = first;
    if (!first.isWhole()) {
      List<State> found = successors(start, first);
      require(found.size() == 1, "not one first state");
      whole = found.get(0);
    }
    now = List.of(new Candidate(whole, 0));
    besides = 0;
  }

  void begin(TLCState[] at, long[] answers, long others) {
    besides = others;
    now = new ArrayList<>();
    for (int i = 0; i < at.length; i++) now.add(new Candidate(State.of(at[i]), answers[i]));
  }

  TLCState[] states(TLCState like, boolean before) {
    return (before ? earlier : now).stream().map(one -> one.state.in(like)).toArray(TLCState[]::new);
  }

  long[] answers(boolean before) { return (before ? earlier : now).stream().mapToLong(one -> one.answers).toArray(); }

  int widest() {
    int found = widest;
    widest = 1;
    return found;
  }

  long besides() { return besides; }

  boolean hold() { return hold(now); }

  /** Do all invariants hold in these states? */
  boolean hold(List<Candidate> at) {
    for (Candidate one : at) {
      for (String invariant : Model.INVARIANTS) {
        if (!notJudged.contains(invariant) && !holds(invariant, one.state, null)) return false;
      }
    }
    return true;
  }

  private static boolean holds(String operator, State now, State later) {
    return Model.evaluate(operator, now, later).equals(BoolValue.ValTrue);
  }

  /**
   * Where a line leads, with {@code event} bound to this. If {@code unsent} is not null, a replica that is not observed
   * sends a message first, with {@code event} bound to that.
   *
   * @throws Declined nowhere, or to too many states, or to one that breaks a property
   */
  List<Candidate> after(Event event, Fields line, long replica, long number, Value unsent, Value bound) {
    next = new ArrayList<>(1);
    differs = null;
    form = null;
    otherSteps.clear();
    boolean asks = false;
    for (Candidate one : now) {
      State before = one.state;
      if (unsent != null) {
        before.event = unsent;
        List<State> sent = successors(opaqueSend, before);
        require(sent.size() == 1, "not one way to send");
        before = sent.get(0);
      }
      before.event = bound;
      List<State> found = successors(event.action, before);
      boolean happens = !found.isEmpty();
      if (!happens) found = refused(event, line, before);
      require(!own || found.size() == 1, "not one successor");
      for (State after : found) reach(event, line, number, before, after, one.answers, before.config);
      if (!happens || !asks(event, line)) continue;
      asks = true;
      for (Event.Other other : event.others) {
        State otherwise = before.copy();
        otherwise.config = decidedAs(before.config, other.configuration);
        found = successors(event.action, otherwise);
        if (found.isEmpty()) found = refused(event, line, otherwise);
        for (State after : found) {
          reach(event, line, number, otherwise, after, one.answers | other.answers, before.config);
        }
      }
    }
    if (next.isEmpty() && !own && event.atReplica) reachInForm(event, line, replica, number, asks);
    if (next.isEmpty()) throw differs == null ? new Declined("no successor") : differs;
    require(besides + next.size() - 1 <= besidesMax + besidesPerLine * number, "too many states on the way");
    return next;
  }

  /** Reach the states that show what the line shows in normal form, which is the same for all states before it. */
  private void reachInForm(Event event, Fields line, long replica, long number, boolean asks) {
    if (otherSteps.isEmpty() || !asks && otherSteps.size() != now.size()) return;
    for (Candidate one : now) {
      Writes.InForm its = writes.inForm(event, line, replica, one.state);
      require(form == null || form.same(its), "several normal forms");
      form = its;
    }
    for (OtherStep step : List.copyOf(otherSteps)) {
      reach(event, line, number, step.before, step.after, step.answers, step.config);
    }
  }

  /** The line in normal form, if the states after it show that; else null. */
  Writes.InForm form() { return form; }

  /** What the line shows that was asked about last, in bits. */
  long shown() { return shown; }

  /** The line is accepted: these are the states after it. */
  void follow(List<Candidate> found) {
    earlier = now;
    now = found;
    widest = Math.max(widest, found.size());
    besides += found.size() - 1;
  }

  private static boolean asks(Event event, Fields line) {
    if (event.others.isEmpty()) return false;
    Object role = line.get("state") instanceof Fields state ? state.get("role") : null;
    if (role != null && event.roleThatAsks != null && !role.equals(event.roleThatAsks)) return false;
    Object message = line.get("message");
    return message == null || !Long.valueOf(-1).equals(((Fields) message).get("diverging_epoch"));
  }

  private List<State> refused(Event event, Fields line, State before) {
    Object refusal = line.get("refusal");
    boolean mayBe = refusal == null ? !own : refusal instanceof String && refusable.contains(refusal);
    return event.atReplica && mayBe ? successors(refuse, before) : List.of();
  }

  private static List<State> successors(int action, State before) {
    List<State> found = new ArrayList<>(1);
    State later = new State();
    Model.act(action, before, later, () -> {
      require(later.isWhole(), "the action leaves a variable open");
      found.add(later.copy());
    });
    return found;
  }

  /** Add a state after the line if it shows what the line shows; it goes on with the decisions of {@code config}. */
  private void reach(
      Event event, Fields line, long number, State before, State after, long answers, Value config) {
    try {
      shown = form == null
          ? comparison.compared(event, line, number, after)
          : comparison.comparedInForm(form, number, after);
    } catch (Declined other) {
      differs = other;
      if (form == null && !own) otherSteps.add(new OtherStep(before, after, answers, config));
      return;
    }
    State followed = after.copy();
    followed.config = after.config == before.config ? config : decidedAs(after.config, config);
    for (Candidate known : next) {
      followed.event = known.state.event;
      followed.observed = known.state.observed;
      if (known.state.same(followed)) {
        if (known.isBetterBy(answers) && isAllowed(event, before, after)) known.answers = answers;
        return;
      }
    }
    require(isAllowed(event, before, after), "a property");
    require(next.size() < most, "too many states");
    next.add(new Candidate(followed, answers));
  }

  private boolean isAllowed(Event event, State before, State after) {
    return !event.atReplica || holds(lineInvariants, after, null) && holds(lineSteps, before, after);
  }

  /** The configuration with the decisions of another one; its replicas keep their software. */
  private static Value decidedAs(Value config, Value other) {
    RecordValue decided = (RecordValue) config.deepCopy();
    for (int i = 0; i < decided.names.length; i++) {
      if (decided.names[i].equals("profile")) decided.values[i] = ((RecordValue) other).select(new StringValue("profile"));
    }
    return decided;
  }
}
