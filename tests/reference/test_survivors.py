"""Tests for machine-made mutants of the reference that survived the other tests (docs/checks.md)."""

import dataclasses
import importlib
import pickle
import pkgutil
from typing import TypeVar, cast

import pytest
from tests.reference.builders import (
    data,
    details,
    endpoint,
    established,
    in_every_role,
    keys,
    receive,
    refused,
    role_name,
    step,
    stopped,
    unattached,
    voters_record,
)
from tests.reference.wire import vote

import kraft_reference
from kraft_mutants.replicas import mutated_replicas
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.effects import Send
from kraft_reference.events import (
    AppendVoters,
    BeginQuorumEpochTimeout,
    CheckQuorumTimeout,
    ClientAppend,
    Crash,
    Draw,
    ElectionTimeout,
    Event,
    FetchTimeout,
    Poll,
    PollFetch,
    Receive,
    Restart,
    Shutdown,
    event_name,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot, VotersEntry, append, flush, log_from
from kraft_reference.messages import Message
from kraft_reference.outcome import Refusal
from kraft_reference.polling import due_election_requests, due_fetch_targets
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_majority


def _values() -> list[type]:
    """Return the dataclasses of the protocol's modules."""
    types: dict[str, type] = {}
    for info in pkgutil.iter_modules(kraft_reference.__path__):
        if info.ispkg:
            continue
        module = importlib.import_module(f"kraft_reference.{info.name}")
        for member in vars(module).values():
            if isinstance(member, type) and dataclasses.is_dataclass(member) and member.__module__ == module.__name__:
                types[f"{info.name}.{member.__name__}"] = member
    return [types[name] for name in sorted(types)]


@pytest.mark.parametrize("value", _values(), ids=lambda value: value.__name__)
def test_messages_events_and_effects_are_values(value: type) -> None:
    """If a step could change a state or a message, a recorded run would differ from the real one."""
    assert value.__dict__["__dataclass_params__"].frozen
    assert "__slots__" in value.__dict__


_IN_ROLES: dict[Event, set[Role]] = {
    ElectionTimeout(): {Role.UNATTACHED, Role.PROSPECTIVE, Role.CANDIDATE, Role.RESIGNED},
    FetchTimeout(): {Role.FOLLOWER},
    CheckQuorumTimeout(): {Role.LEADER},
    BeginQuorumEpochTimeout(): {Role.LEADER},
    Shutdown(): {Role.LEADER},
    ClientAppend(1): {Role.LEADER},
    AppendVoters(keys(1, 2)): {Role.LEADER},
}
"""Roles in which an event is possible; in the others it is refused."""


_STATES = [established(4) if state.role is Role.LEADER else state for state in (*in_every_role(4), stopped(4))]


@pytest.mark.parametrize("event", list(_IN_ROLES), ids=event_name)
@pytest.mark.parametrize("state", _STATES, ids=role_name)
def test_an_event_is_refused_in_every_role_that_it_does_not_happen_in(state: ReplicaState, event: Event) -> None:
    if state.role in _IN_ROLES[event]:
        assert step(state, event).refusal is None
    else:
        reason = Refusal.NOT_RUNNING if state.role is Role.STOPPED else Refusal.NOT_IN_ROLE
        assert step(state, event) == refused(state, reason)


@pytest.mark.parametrize("before", range(5))
@pytest.mark.parametrize("with_it", range(4))
def test_a_voter_set_has_the_offset_of_its_record(before: int, with_it: int) -> None:
    """Rule: voters.effective-on-append."""
    appended = (*data(*[1] * with_it), voters_record(1, 1, 2))
    log = append(append(log_from(Snapshot(0, 0, 1, keys(1))), data(*[1] * before)), appended)
    assert log.voters[-1] == VotersEntry(before + with_it, keys(1, 2), details(1, 2))
    assert log.records[log.voters[-1].offset].voters == keys(1, 2)


def test_a_key_without_a_directory_id_is_shown_as_its_id() -> None:
    assert [str(ReplicaKey(3)), str(ReplicaKey(3, "U3"))] == ["3", "3-U3"]


@pytest.mark.parametrize("size", range(1, 10))
def test_a_majority_is_larger_than_its_complement(size: int) -> None:
    """Rule: state.voters-set.own-majority."""
    voters = keys(*range(1, size + 1))
    for number in range(size + 1):
        assert is_majority(number, voters) == (number > size - number)


# ---------------------------------------------------------------------------------------------------------
# Ids, epochs, offsets and correlation ids are compared by value. Python keeps one object for each small integer, so
# that only a larger one distinguishes `is` from `==`.


class _Story:
    """A cluster of three whose states and messages are copied before each step, and the effects of each step.

    Numbers in the rows are relative to the start of the story.
    """

    def __init__(self, ids_from: int, epoch: int, records: int, without: str) -> None:
        self.rows: list[tuple[object, ...]] = []
        self._ids_from, self._epoch, self._records = ids_from, epoch, records
        self.a, self.b, self.c = (ids_from + number for number in (1, 2, 3))
        members = keys(self.a, self.b, self.c)
        self._configuration = Configuration(
            replicas={entry.id: ReplicaConfiguration(entry, endpoint(entry.id), "supported") for entry in members},
            voters=members,
            bootstrap_servers=(self.a, self.b, self.c),
            fetch_max_records=2,
        )
        common = flush(append(log_from(Snapshot(0, 0, 1, members)), data(*[epoch - 1] * records)))
        diverging = flush(append(common, data(epoch - 1, epoch - 1)))
        self.states = {
            self.a: unattached(epoch, self.a, log=flush(append(common, data(epoch)))),
            self.b: unattached(epoch, self.b, log=common),
            self.c: unattached(epoch, self.c, log=diverging),
        }
        self._make_replica = mutated_replicas((without,) if without else ())
        self._steps = 0
        self._on_the_way: list[Message] = []

    def happen(self, replica_id: int, event: Event) -> None:
        self._steps += 1
        replica = self._make_replica(_copied(self.states[replica_id]), _copied(self._configuration))
        draw = Draw(self._epoch + self._steps, 1500, 400)
        done = replica.step(_copied(event), draw)
        state = self.states[replica_id] = done.state
        leader_id = None if state.leader_id is None else state.leader_id - self._ids_from
        self.rows.append(
            (
                event_name(event),
                replica_id - self._ids_from,
                state.role,
                state.epoch - self._epoch,
                leader_id,
                state.log.end_offset - self._records,
                state.log.flushed - self._records,
                max(-1, state.high_watermark - self._records),
                done.refusal,
                tuple(type(effect).__name__ for effect in done.effects),
            )
        )
        self._on_the_way += [effect.message for effect in done.effects if isinstance(effect, Send)]

    def rounds(self, number: int) -> None:
        for _ in range(number):
            for replica_id, state in self.states.items():
                if due_election_requests(state, self._configuration):
                    self.happen(replica_id, Poll())
                for target in due_fetch_targets(self.states[replica_id], self._configuration):
                    if not self.states[replica_id].awaiting:
                        self.happen(replica_id, PollFetch(target))
            while self._on_the_way:
                message = self._on_the_way.pop(0)
                self.happen(message.destination, Receive(message))


def test_a_log_that_ends_in_the_epoch_of_the_vote_makes_it_malformed_whatever_the_epoch() -> None:
    """Rule: prevote.request.check-order."""
    for epoch in (5, 1000):
        request = _copied(vote(2, 1, epoch, (int(str(epoch)), 3)))
        assert receive(unattached(epoch), request).refusal is Refusal.MALFORMED_REQUEST


_Copied = TypeVar("_Copied")


def _copied(value: _Copied) -> _Copied:
    """Return the same value as other objects, as after transfer over the network or the disk."""
    copy: _Copied = pickle.loads(pickle.dumps(value))
    return copy


def _told(ids_from: int, epoch: int, records: int, without: str) -> _Story:
    """Return an election, replication over a diverging log, restarts, and a hand-over."""
    story = _Story(ids_from, epoch, records, without)
    story.happen(story.a, ElectionTimeout())
    story.rounds(4)
    story.happen(story.a, ClientAppend(1))
    story.rounds(6)
    story.happen(story.b, Crash(story.states[story.b].log.flushed))
    story.happen(story.b, Restart())
    story.happen(story.a, BeginQuorumEpochTimeout())
    story.rounds(2)
    story.happen(story.a, Shutdown())
    story.rounds(1)
    story.happen(story.b, FetchTimeout())
    story.rounds(6)
    story.happen(story.b, Crash(story.states[story.b].log.end_offset))
    story.happen(story.b, Restart())
    story.happen(story.c, FetchTimeout())
    story.rounds(6)
    return story


@pytest.mark.parametrize("without", ["", "fetch.replica-key"])
def test_large_numbers_make_the_same_story_as_small_ones(without: str) -> None:
    small, large = _told(0, 5, 4, without), _told(1000, 1000, 300, without)
    assert large.rows == small.rows
    roles = [small.states[number].role for number in (small.a, small.b, small.c)]
    assert sorted(roles) == [Role.FOLLOWER, Role.FOLLOWER, Role.LEADER]
    assert {effect for row in small.rows for effect in cast(tuple[str, ...], row[-1])} == {
        "PersistQuorumState",
        "AppendRecords",
        "TruncateLog",
        "FlushLog",
        "Send",
        "StartTimer",
    }
