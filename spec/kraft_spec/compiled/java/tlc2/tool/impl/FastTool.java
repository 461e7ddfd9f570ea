package tlc2.tool.impl;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import kraftspec.Model;
import kraftspec.State;
import kraftspec.Values;
import tla2sany.semantic.OpApplNode;
import tla2sany.semantic.SemanticNode;
import tlc2.tool.Action;
import tlc2.tool.EvalControl;
import tlc2.tool.IActionItemList;
import tlc2.tool.INextStateFunctor;
import tlc2.tool.StateVec;
import tlc2.tool.TLCState;
import tlc2.tool.coverage.CostModel;
import tlc2.util.Context;
import tlc2.value.impl.Value;
import util.Assert;
import util.FilenameToStream;

/**
 * Stands before TLC's class of this name, which is all that TLC asks about a specification in a model check: the
 * actions, and what is evaluated in every state, are the compiled ones; everything else is interpreted as ever.
 *
 * <p>Where a compiled expression has no value the interpreter is asked, so that the error is TLC's own. With the system
 * property {@code kraftspec.both} it is asked in any case, and the search stops where the two say different things.
 */
public final class FastTool extends Tool {
  private static final int NONE = -1;
  private static final boolean BOTH = Boolean.getBoolean("kraftspec.both");

  /** A state as the compiled model has it. */
  private static final class Read {
    TLCState from;
    State state;
  }

  private final ThreadLocal<Read[]> read = ThreadLocal.withInitial(() -> new Read[] {new Read(), new Read()});
  private final Map<Action, Integer> steps = new IdentityHashMap<>();
  /** By the number of a node: which compiled expression it is. */
  private int[] expressions = {};
  private int count;

  public FastTool(String module, String configuration) {
    super(module, configuration);
    number();
  }

  public FastTool(String module, String configuration, FilenameToStream files) {
    super(module, configuration, files);
    number();
  }

  public FastTool(String folder, String module, String configuration, FilenameToStream files) {
    super(folder, module, configuration, files);
    number();
  }

  private void number() {
    Action[] actions = getActions();
    for (int i = 0; i < actions.length; i++) steps.put(actions[i], i);
    for (Action one : getInvariants()) number(one.pred);
    for (Action one : getImpliedActions()) number(one.pred);
    for (SemanticNode one : getModelConstraints()) number(one);
    for (SemanticNode one : getActionConstraints()) number(one);
    if (getViewSpec() != null) number(getViewSpec());
  }

  private void number(SemanticNode node) {
    int from = expressions.length;
    if (node.getUid() >= from) {
      expressions = java.util.Arrays.copyOf(expressions, node.getUid() + 1);
      java.util.Arrays.fill(expressions, from, expressions.length, NONE);
    }
    expressions[node.getUid()] = count++;
  }

  private State read(TLCState from, int place) {
    Read kept = read.get()[place];
    if (kept.from != from) {
      kept.state = State.of(from);
      kept.from = from;
    }
    return kept.state;
  }

  @Override
  protected TLCState getNextStates(
      Action action, SemanticNode node, ActionItemList rest, Context bound, TLCState now, TLCState later,
      INextStateFunctor take, CostModel costs) {
    Integer step = node == action.pred && rest == ActionItemList.Empty ? steps.get(action) : null;
    if (step == null) return getNextStatesImpl(action, node, rest, bound, now, later, take, costs);
    List<State> compiled = BOTH ? new ArrayList<>() : null;
    try {
      State next = new State();
      Model.step(step, read(now, 0), next, () -> {
        if (!next.isWhole()) throw Values.open();
        if (BOTH) compiled.add(next.copy());
        else take.addElement(now, action, next.in(later));
      });
      if (!BOTH) return later;
    } catch (Values.Undefined noValue) {
      TLCState last = getNextStatesImpl(action, node, rest, bound, now, later, take, costs);
      if (BOTH) disagree(node);
      return last;
    }
    StateVec found = new StateVec(0);
    TLCState last = getNextStatesImpl(action, node, rest, bound, now, later, found, costs);
    List<State> interpreted = new ArrayList<>();
    for (int i = 0; i < found.size(); i++) {
      interpreted.add(State.of(found.elementAt(i)));
      take.addElement(now, action, found.elementAt(i));
    }
    if (!areTheSame(compiled, interpreted)) disagree(node);
    return last;
  }

  @Override
  public Value eval(SemanticNode node, Context bound, TLCState now, TLCState later, int control, CostModel costs) {
    int uid = node.getUid();
    if (uid >= expressions.length || expressions[uid] == NONE || control != EvalControl.Clear) {
      return evalImpl(node, bound, now, later, control, costs);
    }
    Value compiled;
    try {
      compiled = Model.value(expressions[uid], read(now, 0), later == null ? null : read(later, 1));
    } catch (Values.Undefined noValue) {
      Value interpreted = evalImpl(node, bound, now, later, control, costs);
      if (BOTH) disagree(node);
      return interpreted;
    }
    if (BOTH && !compiled.equals(evalImpl(node, bound, now, later, control, costs))) disagree(node);
    return compiled;
  }

  /** Are they the same states, usually in the same order?  TLC gets to one twice where two sides of an "or" hold. */
  private static boolean areTheSame(List<State> some, List<State> others) {
    boolean inOrder = some.size() == others.size();
    for (int i = 0; inOrder && i < some.size(); i++) inOrder = some.get(i).same(others.get(i));
    return inOrder || areIn(some, others) && areIn(others, some);
  }

  private static boolean areIn(List<State> some, List<State> others) {
    return some.stream().allMatch(one -> others.stream().anyMatch(one::same));
  }

  private static void disagree(SemanticNode node) {
    Assert.fail("The compiled model and TLC disagree on " + node.getLocation() + ", a defect of the compiler.");
  }

  // What TLC's own class does.

  @Override
  protected TLCState getNextStatesAppl(
      Action action, OpApplNode node, ActionItemList rest, Context bound, TLCState now, TLCState later,
      INextStateFunctor take, CostModel costs) {
    return getNextStatesApplImpl(action, node, rest, bound, now, later, take, costs);
  }

  @Override
  protected TLCState processUnchanged(
      Action action, SemanticNode node, ActionItemList rest, Context bound, TLCState now, TLCState later,
      INextStateFunctor take, CostModel costs) {
    return processUnchangedImpl(action, node, rest, bound, now, later, take, costs);
  }

  @Override
  protected Value evalAppl(
      OpApplNode node, Context bound, TLCState now, TLCState later, int control, CostModel costs) {
    return evalApplImpl(node, bound, now, later, control, costs);
  }

  @Override
  protected Value setSource(SemanticNode node, Value value) {
    return value;
  }

  @Override
  public TLCState enabled(
      SemanticNode node, IActionItemList rest, Context bound, TLCState now, TLCState later, CostModel costs) {
    return enabledImpl(node, (ActionItemList) rest, bound, now, later, costs);
  }

  @Override
  protected TLCState enabledAppl(
      OpApplNode node, ActionItemList rest, Context bound, TLCState now, TLCState later, CostModel costs) {
    return enabledApplImpl(node, rest, bound, now, later, costs);
  }

  @Override
  protected TLCState enabledUnchanged(
      SemanticNode node, ActionItemList rest, Context bound, TLCState now, TLCState later, CostModel costs) {
    return enabledUnchangedImpl(node, rest, bound, now, later, costs);
  }
}
