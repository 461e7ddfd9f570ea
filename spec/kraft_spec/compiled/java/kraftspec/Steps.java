package kraftspec;

import java.util.ArrayList;
import java.util.List;
import tlc2.tool.TLCState;
import tlc2.value.impl.Value;

/** The compiled model, asked about TLC's own states. */
public final class Steps {
  private Steps() {}

  /** The successors of a state under an action, with repetitions where it gets to one in several ways. */
  public static TLCState[] successors(int action, TLCState state) {
    List<TLCState> found = new ArrayList<>(1);
    State later = new State();
    Model.act(action, State.of(state), later, () -> {
      if (!later.isWhole()) throw new Values.Undefined("the action leaves a variable open");
      found.add(later.in(state));
    });
    return found.toArray(new TLCState[0]);
  }

  /** The value of an operator in a state, or on a step; {@code later} may be null. */
  public static Value evaluate(String operator, TLCState now, TLCState later) {
    return Model.evaluate(operator, State.of(now), later == null ? null : State.of(later));
  }
}
