"""What holds in every state that can be reached: each invariant with a name, a sentence and its formula.

Safety as Kafka's users mean it is ElectionSafety and LeaderCompleteness, and StateMachineSafety, which follows from
the others. The rest is what makes these three inductive.
"""

from collections.abc import Mapping

from z3 import And, Implies, Or

from kraft_spec.proofs.induction.invariant import Invariant, overtaken
from kraft_spec.proofs.induction.log_invariants import LOGS
from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import ENTRY, Formula, forall, prefix, variables
from kraft_spec.proofs.induction.voting_invariants import VOTING

__all__ = ["INVARIANTS", "STATE_MACHINE_SAFETY", "Invariant", "formulas", "overtaken"]

_e, _g, _x, _y = variables(ENTRY, "e g x y")

INVARIANTS: tuple[Invariant, ...] = (*LOGS, *VOTING)

STATE_MACHINE_SAFETY = Invariant(
    "state-machine-safety",
    "Of two committed entries, one is in the other's log: no two replicas apply different records at one offset.",
    lambda s: forall(
        (_e, _g, _x, _y),
        Implies(And(s.committed(_e, _g), s.committed(_x, _y)), Or(prefix(_e, _x), prefix(_x, _e))),
        (s.committed(_e, _g), s.committed(_x, _y)),
    ),
)


def formulas(state: State, invariants: tuple[Invariant, ...] = INVARIANTS) -> Mapping[str, Formula]:
    """The invariants of a state by name."""
    return {invariant.name: invariant.formula(state) for invariant in invariants}
