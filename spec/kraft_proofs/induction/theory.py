"""Theory of the proof as a value, so that parts of it can be replaced."""

from typing import NamedTuple

from z3 import And, Not

from kraft_proofs.induction import actions, axioms, logs
from kraft_proofs.induction.actions import Action
from kraft_proofs.induction.axioms import Axiom
from kraft_proofs.induction.invariants import INVARIANTS, SAFETY, Invariant
from kraft_proofs.induction.state import State, any_state
from kraft_proofs.induction.symbols import (
    ENTRY,
    NUMBER,
    REPLICA,
    Formula,
    bootstrap,
    forall,
    variables,
)
from kraft_reference.profile import KIP, Profile


class Theory(NamedTuple):
    """Axioms, first state, steps, and invariants."""

    axioms: tuple[Axiom, ...]
    before: State
    start: Formula
    """Condition of the first state, on `before`."""
    actions: tuple[Action, ...]
    """Steps from `before`."""
    invariants: tuple[Invariant, ...]
    safety: tuple[Invariant, ...]
    """Properties that follow from the invariants and the properties before them."""

    def action(self, name: str) -> Action:
        """Return the action of a name.

        Raises:
            KeyError: there is none.
        """
        for action in self.actions:
            if action.name == name:
                return action
        raise KeyError(name)

    def with_action(self, changed: Action) -> "Theory":
        """Return the theory with an action added, or replaced if the name exists."""
        by_name = {action.name: action for action in self.actions}
        return self._replace(actions=tuple({**by_name, changed.name: changed}.values()))


def start(state: State) -> Formula:
    """Return the first state: each replica is formatted with the same voters, is in epoch 0, and has done nothing.

    Rule: bootstrap.sets-must-be-equal.
    """
    r, v = variables(REPLICA, "r v")
    e, g = variables(ENTRY, "e g")
    (t,) = variables(NUMBER, "t")
    return And(
        state.written(bootstrap),
        forall((e,), Not(And(state.written(e), e != bootstrap))),
        forall((r,), And(state.log_end(r) == bootstrap, state.flushed(r) == bootstrap, state.epoch(r) == 0)),
        forall((r, t, e), Not(state.asked(r, t, e))),
        forall((v, t, r, e), Not(state.granted(v, t, r, e))),
        forall((t, r, e), Not(state.elected(t, r, e))),
        forall((r, t), Not(state.follows(r, t))),
        forall((r, e), Not(state.acknowledged(r, e))),
        forall((e, g), Not(state.committed(e, g))),
        forall((r, e), Not(state.applied(r, e))),
    )


def theory(profile: Profile = KIP) -> Theory:
    """Return the theory of elections, replication and voter changes of KIP-595, KIP-996 and KIP-853.

    Args:
        profile: Decisions that the KIPs leave open. `abstraction.DECISIONS` says which of them affect the proof.
    """
    before = any_state()
    steps: tuple[Action, ...] = tuple(action(before) for action in (*actions.ALL, *logs.ALL))
    if profile.restart_precedence == "own-vote":
        # A replica that restarts as Candidate of an epoch no longer follows a leader in it.
        steps = tuple(
            action.without("follows-nobody") if action.name in ("stand-again", "become-leader") else action
            for action in steps
        )
    return Theory(axioms.ALL, before, start(before), steps, INVARIANTS, SAFETY)
