"""Requests beyond those of the vectors: right where the texts leave them open, wrong where they do not."""

import shlex
import sys
from pathlib import Path

import pytest
from msgspec import UNSET

from kraft_conformance.runner.campaign import Campaign, Plan
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.requests_ahead import tag_of
from kraft_conformance.vectors.catalogue import Catalogue
from kraft_conformance.vectors.target import THREE
from kraft_reference.events import Draw, Event, Poll, PollFetch
from kraft_reference.replica import Replica
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_traces.checkpoints import replica_state_of
from kraft_traces.latitude.requests import may_send
from kraft_traces.latitude.values import MaySend

EAGER = Path(__file__).with_name("eager_adapter.py")
OPEN = tuple([one.id for one in Catalogue().of_replicas() if any(step.may_send for step in one.steps)])
"""The vectors in which more may be sent."""


def ran(mode: str, level: str, ids: tuple[str, ...]) -> tuple[Outcome, ...]:
    command = shlex.join([sys.executable, str(EAGER), mode, level])
    return Campaign(Plan(command, ids), Catalogue()).run()


@pytest.mark.parametrize("level", ["state", "wire"])
@pytest.mark.parametrize("mode", ["announces-to-all", "asks-all-servers", "repeats"])
def test_what_the_texts_leave_open_is_right(mode: str, level: str) -> None:
    outcomes = ran(mode, level, OPEN)
    assert not {one.id: one.reason for one in outcomes if one.status in FAILING}
    assert sum(one.status is Status.PASS for one in outcomes) > len(OPEN) // 2


@pytest.mark.parametrize(
    ("mode", "vector_id", "field", "expected"),
    [
        ("announces-to-observers", "announcement.not-to-observers", "Send BeginQuorumEpochRequest to 9", "nothing"),
        ("announces-another-epoch", "change.newer-voter", "Send BeginQuorumEpochRequest to 2.epoch", "1"),
        (
            "asks-who-answered",
            "scenario.removed-voter-stuck.with-the-rule-refused.replica-3",
            "Send VoteRequest to 2",
            "nothing",
        ),
        ("ends-when-leading", "change.newer-voter", "Send EndQuorumEpochRequest to 2", "nothing"),
        ("fetches-elsewhere", "change.becomes-observer", "Send FetchRequest to 2", "nothing"),
    ],
)
def test_what_they_forbid_is_wrong(mode: str, vector_id: str, field: str, expected: str) -> None:
    (outcome,) = ran(mode, "state", (vector_id,))
    assert outcome.status is Status.FAIL
    assert (outcome.differences[0].field, outcome.differences[0].expected) == (field, expected)


def state_in(vector_id: str) -> ReplicaState:
    """The state in which a vector begins."""
    return replica_state_of("$.before", Catalogue().of_replica(vector_id).before)


def beside(state: ReplicaState, event: Event) -> list[tuple[str, object]]:
    """Type and receiver of what may be sent beside what the reference sends."""
    draw = Draw(99, 0, 0)
    replica = Replica(state, THREE)
    sent = [effect.message for effect in replica.step(event, draw).effects if hasattr(effect, "message")]
    return [(tag_of(one.message), one.message.destination) for one in may_send(event, state, THREE, draw, sent)]


@pytest.mark.parametrize(
    ("vector_id", "role"), [("candidate.asks", Role.CANDIDATE), ("prevote.lost", Role.PROSPECTIVE)]
)
def test_who_has_not_answered_may_be_asked_again_and_nobody_else(vector_id: str, role: Role) -> None:
    state = state_in(vector_id)
    assert state.role is role
    others = sorted({1, 2, 3} - {state.key.id})
    out = state._replace(awaiting={others[0]: 5})
    assert beside(state, Poll()) == []
    assert beside(out, Poll()) == [("VoteRequest", others[0])]
    answered = out._replace(rejected=frozenset(others[:1]), awaiting={})
    assert beside(answered, Poll()) == []


def test_a_resigned_replica_may_tell_who_has_not_acknowledged() -> None:
    state = state_in("candidate.asks")._replace(role=Role.RESIGNED, leader_id=1, granted=frozenset())
    assert beside(state._replace(awaiting={2: 5}), Poll()) == [("EndQuorumEpochRequest", 2)]
    assert beside(state._replace(acknowledged=frozenset((2,))), Poll()) == []


def test_a_leader_may_announce_to_voters_that_fetch_and_to_nobody_else() -> None:
    state = state_in("change.newer-voter")
    quiet = state._replace(fetchers=frozenset((2,)), acknowledged=frozenset(), pending_change=None)
    assert beside(quiet, Poll()) == [("BeginQuorumEpochRequest", 2)]


def test_a_follower_that_has_its_leader_fetches_there_alone() -> None:
    state = state_in("fetch.follower")
    assert state.role is Role.FOLLOWER
    assert state.leader_id is not None
    assert beside(state, PollFetch(state.leader_id)) == []


def test_what_may_be_sent_is_no_part_of_what_is() -> None:
    for vector in Catalogue().of_replicas():
        for step in vector.steps:
            sent = [output.message for output in step.outputs if hasattr(output, "message")]
            both = {(tag_of(one), one.destination) for one in sent}
            more: tuple[MaySend, ...] = step.may_send or ()
            assert not both & {(tag_of(one.message), one.message.destination) for one in more}
            assert step.event in ("Poll", "PollFetch") or step.may_send is UNSET
