"""What holds in every state that can be reached: each invariant with a name, a sentence and its formula.

Safety as Kafka's users mean it is ElectionSafety and LeaderCompleteness, and StateMachineSafety, which follows from
the others. The rest is what makes these three inductive.
"""

from collections.abc import Mapping

from z3 import And, Implies, Or

from kraft_spec.proofs.induction.invariant import Invariant, overtaken
from kraft_spec.proofs.induction.log_invariants import LOGS
from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import ENTRY, REPLICA, Formula, forall, prefix, variables
from kraft_spec.proofs.induction.voting_invariants import VOTING

__all__ = ["INVARIANTS", "SAFETY", "Invariant", "formulas", "overtaken"]

_e, _g, _x, _y = variables(ENTRY, "e g x y")
_r, _r2 = variables(REPLICA, "r r2")

INVARIANTS: tuple[Invariant, ...] = (*LOGS, *VOTING)

SAFETY: tuple[Invariant, ...] = (
    Invariant(
        "committed-in-one-order",
        "Of two committed entries, one is in the other's log.",
        lambda s: forall(
            (_e, _g, _x, _y),
            Implies(And(s.committed(_e, _g), s.committed(_x, _y)), Or(prefix(_e, _x), prefix(_x, _e))),
            (s.committed(_e, _g), s.committed(_x, _y)),
        ),
    ),
    Invariant(
        "state-machine-safety",
        "No two replicas apply different records at one offset: of two entries that replicas applied, one is in the "
        "other's log.",
        lambda s: forall(
            (_r, _e, _r2, _x),
            Implies(And(s.applied(_r, _e), s.applied(_r2, _x)), Or(prefix(_e, _x), prefix(_x, _e))),
            (s.applied(_r, _e), s.applied(_r2, _x)),
        ),
    ),
)


def formulas(state: State, invariants: tuple[Invariant, ...] = INVARIANTS) -> Mapping[str, Formula]:
    """The invariants of a state by name."""
    return {invariant.name: invariant.formula(state) for invariant in invariants}
