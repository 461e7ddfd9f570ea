"""An invariant, and what several of them say."""

from collections.abc import Callable
from typing import NamedTuple

from z3 import And, Implies, Not

from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import (
    ENTRY,
    NUMBER,
    REPLICA,
    Expression,
    Formula,
    epoch_of,
    exists,
    forall,
    member,
    prefix,
    variables,
)


class Invariant(NamedTuple):
    """A named property of states."""

    name: str
    sentence: str
    formula: Callable[[State], Formula]


_v, _l2 = variables(REPLICA, "v l2")
(_f2,) = variables(ENTRY, "f2")
(_u,) = variables(NUMBER, "u")


def overtaken(state: State, entry: Expression, epoch: Expression, *, itself: bool) -> Formula:
    """Some leader, of an epoch after the entry's and before `epoch` (or of `epoch` itself), lacks the entry."""
    before = _u <= epoch if itself else _u < epoch
    return exists(
        (_u, _l2, _f2),
        And(state.elected(_u, _l2, _f2), epoch_of(entry) < _u, before, Not(prefix(entry, _f2))),
    )


def all_of(quorum: Expression, what: Callable[[Expression], Formula]) -> Formula:
    """It holds of each replica of the quorum."""
    return forall((_v,), Implies(member(_v, quorum), what(_v)))
