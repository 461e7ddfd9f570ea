"""The transition table; the model's edges determine the outcome of each event in each role."""

from itertools import product

import pytest
from tests.reference.builders import (
    DRAW,
    OBSERVED,
    THREE,
    follower,
    in_every_role,
    key,
    role_name,
    stopped,
    unattached,
)
from tests.reference.wire import (
    vote,
)

from kraft_reference.events import (
    ElectionTimeout,
    Poll,
    Receive,
    Restart,
    Shutdown,
)
from kraft_reference.outcome import Refusal
from kraft_reference.replica import handle
from kraft_reference.roles import TRANSITION, TRANSITIONS, Cause, IllegalTransitionError, Role
from kraft_reference.state import ReplicaState, new_replica
from kraft_reference.transitions import enter
from kraft_spec.rules import load_registry


def test_every_row_is_one_of_a_kind_and_names_a_rule() -> None:
    registry = load_registry()
    assert len(TRANSITION) == len(TRANSITIONS)
    assert [row for row in TRANSITIONS if row.rule not in registry] == []
    assert {row.cause for row in TRANSITIONS} == set(Cause)


@pytest.mark.parametrize("state", [*in_every_role(4), stopped(4)], ids=role_name)
def test_transitions_outside_the_table_are_refused(state: ReplicaState) -> None:
    for cause, target in product(Cause, Role):
        if (state.role, cause, target) in TRANSITION:
            moved = enter(state, target, cause, epoch=9, leader_id=2, requester=key(3))
            assert (moved.role, moved.awaiting, moved.granted) == (target, {}, frozenset())
        else:
            with pytest.raises(IllegalTransitionError):
                enter(state, target, cause, epoch=9)


def test_a_stopped_replica_refuses_everything_but_a_start() -> None:
    down = new_replica(key(1), THREE.checkpoint(1))
    for event in (Poll(), ElectionTimeout(), Receive(vote(2, 1, 5)), Shutdown()):
        assert handle(down, THREE, event, DRAW).refusal is Refusal.NOT_RUNNING
    assert handle(down, THREE, Restart(), DRAW).state == unattached(0)
    assert handle(follower(4, 2), OBSERVED, Restart(), DRAW).refusal is Refusal.RUNNING
