package kraftexplorer;

import tlc2.tool.Action;
import tlc2.tool.StateVec;
import tlc2.tool.TLCState;
import tlc2.tool.impl.FastTool;
import tlc2.util.Context;
import tlc2.util.FP64;
import util.SimpleFilenameToStream;
import util.UniqueString;

/** The specification as TLC has read it: what is to be evaluated, in the numbers of the compiled model. */
final class Specification {
  final FastTool tool;
  final int actions, invariants, steps, constraints, actionConstraints;
  final boolean hasView;

  Specification(String folder, String module, String configuration) {
    FP64.Init(0);
    tool = new FastTool(folder, module, configuration, new SimpleFilenameToStream(folder));
    actions = tool.getActions().length;
    invariants = tool.getInvariants().length;
    steps = tool.getImpliedActions().length;
    constraints = tool.getModelConstraints().length;
    actionConstraints = tool.getActionConstraints().length;
    hasView = tool.getViewSpec() != null;
  }

  int firstStep() { return invariants; }

  int firstConstraint() { return invariants + steps; }

  int firstActionConstraint() { return firstConstraint() + constraints; }

  int view() { return firstActionConstraint() + actionConstraints; }

  /** What the explorer cannot do; empty if it can explore this specification. */
  String unsupported() {
    if (tool.hasSymmetry()) return "SYMMETRY";
    if (tool.getTemporals().length > 0 || tool.getImpliedTemporals().length > 0) return "a temporal property";
    if (tool.getImpliedInits().length > 0) return "a property of the initial states";
    return "";
  }

  State[] initialStates() {
    StateVec read = tool.getInitStates();
    State[] states = new State[read.size()];
    for (int i = 0; i < states.length; i++) states[i] = from(read.elementAt(i));
    return states;
  }

  static State from(TLCState read) {
    State state = new State();
    for (int i = 0; i < State.VARIABLES.length; i++) {
      Object value = read.lookup(UniqueString.uniqueStringOf(State.VARIABLES[i]));
      state.put(i, Conversion.from((tlc2.value.impl.Value) value));
    }
    return state;
  }

  static TLCState to(State state) {
    TLCState made = TLCState.Empty.createEmpty();
    for (int i = 0; i < State.VARIABLES.length; i++) {
      made = made.bind(UniqueString.uniqueStringOf(State.VARIABLES[i]), Conversion.to(state.get(i)));
    }
    return made;
  }

  /** Hash of all variables. */
  static long hash(State state) {
    long hash = 0;
    for (int i = 0; i < State.VARIABLES.length; i++) hash = Value.chained(hash, state.get(i).hash());
    return hash == 0 ? 1 : hash;
  }

  StateVec successors(int action, TLCState state) { return tool.getNextStates(tool.getActions()[action], state); }

  boolean isValid(int expression, TLCState now, TLCState later) {
    if (expression < firstStep()) return tool.isValid(tool.getInvariants()[expression], now, TLCState.Empty);
    Action step = tool.getImpliedActions()[expression - firstStep()];
    return tool.isValid(step, now, later);
  }

  /** TLC's value of the VIEW. */
  Value viewOf(TLCState state) {
    return Conversion.from((tlc2.value.impl.Value) tool.eval(tool.getViewSpec(), Context.Empty, state));
  }
}
