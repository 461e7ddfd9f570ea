package tlc2.tool.impl;

import kraftexplorer.Guide;
import tla2sany.semantic.OpApplNode;
import tla2sany.semantic.SemanticNode;
import tlc2.tool.Action;
import tlc2.tool.IActionItemList;
import tlc2.tool.INextStateFunctor;
import tlc2.tool.StateVec;
import tlc2.tool.TLCState;
import tlc2.tool.coverage.CostModel;
import tlc2.util.Context;
import tlc2.value.impl.Value;
import util.FilenameToStream;

/**
 * Stands before TLC's class of this name in the jar of the explorer. It interprets everything, as TLC's own class does.
 * With the system property {@code kraftspec.path}, the file of a path, TLC takes the steps of that path alone: it repeats
 * what the explorer has found, judges it, and prints it.
 */
public final class FastTool extends Tool {
  private static final String PATH = System.getProperty("kraftspec.path");

  private final Guide guide = PATH == null ? null : Guide.read(PATH);

  public FastTool(String module, String configuration) { super(module, configuration); }

  public FastTool(String module, String configuration, FilenameToStream files) { super(module, configuration, files); }

  public FastTool(String folder, String module, String configuration, FilenameToStream files) {
    super(folder, module, configuration, files);
  }

  @Override
  protected TLCState getNextStates(
      Action action, SemanticNode node, ActionItemList rest, Context bound, TLCState now, TLCState later,
      INextStateFunctor take, CostModel costs) {
    if (guide == null || node != action.pred || rest != ActionItemList.Empty) {
      return getNextStatesImpl(action, node, rest, bound, now, later, take, costs);
    }
    StateVec all = new StateVec(0);
    TLCState last = getNextStatesImpl(action, node, rest, bound, now, later, all, costs);
    for (int i = 0; i < all.size(); i++) {
      if (guide.leads(now, all.elementAt(i))) take.addElement(now, action, all.elementAt(i));
    }
    return last;
  }

  // What TLC's own class does.

  @Override
  public Value eval(SemanticNode node, Context bound, TLCState now, TLCState later, int control, CostModel costs) {
    return evalImpl(node, bound, now, later, control, costs);
  }

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
  protected Value evalAppl(OpApplNode node, Context bound, TLCState now, TLCState later, int control, CostModel costs) {
    return evalApplImpl(node, bound, now, later, control, costs);
  }

  @Override
  protected Value setSource(SemanticNode node, Value value) { return value; }

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
