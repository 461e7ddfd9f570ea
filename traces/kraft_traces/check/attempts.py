"""Possible events of a foreign line with missing fields, in one candidate state.

The recorded fields are used first, so that few events are tried and the bound on candidates lasts.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import permutations
from typing import get_args

from msgspec import UNSET

from kraft_reference.configuration import PreVoteSupport
from kraft_reference.events import (
    AppendVoters,
    ClientAppend,
    Crash,
    Poll,
    ReplaceDisk,
    ReplaceSoftware,
    Restart,
    TakeSnapshot,
)
from kraft_spec.mapping_forms import NO_KEY, ModelKey
from kraft_traces.check.binding import (
    Event,
    MissingFieldError,
    base,
    choice,
    complete_event,
    delivered_id,
    message_place,
)
from kraft_traces.check.model import InFlightMessage
from kraft_traces.check.observation import agrees, canonical_message
from kraft_traces.check.requests import Replica, request_number, requested_changes, requested_targets
from kraft_traces.effects import TracedAppendRecords, TracedEffect, TracedSend, TracedWriteSnapshot
from kraft_traces.lines import EventLine
from kraft_traces.message_types import CHANGE_ANSWERS
from kraft_traces.values import TracedRecord
from kraft_traces.vocabulary import HANDLE


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Data of one candidate state, computed only if a line leaves the field open."""

    replica_ids: tuple[int, ...]
    cluster_id: str
    in_flight: Callable[[int | None], tuple[InFlightMessage, ...]]
    """Return the in-flight messages that the line of this sequence sent; None for all."""
    log_ends: Callable[[], range]
    """Return the log end offsets that are possible after a crash of the line's replica."""
    snapshot_ends: Callable[[], range]
    """Return the possible end offsets of a snapshot that the line's replica takes."""
    replicas: Callable[[], tuple[Replica, ...]]
    """Return every replica with its present key and endpoint."""
    voters: Callable[[], frozenset[ModelKey]]
    """The newest voters set at the line's replica."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """Events to try."""

    events: tuple[Event, ...]
    unknown: str | None = None
    """Field that has a stand-in in the events, because its value cannot be inferred.

    Such events only serve to find out if the replica refuses the event anyway."""


def attempts(line: EventLine, around: Surroundings) -> Attempts:
    """Return the possible events of a line.

    Raises:
        UnrepresentableError: the line has a number that the model cannot represent.
    """
    if line.event.startswith(HANDLE):
        return Attempts(tuple({**base(line), "sent": way.sent} for way in deliverable(line, around.in_flight)))
    try:
        return Attempts((complete_event(line, around.cluster_id),))
    except MissingFieldError as error:
        return _filled_in(line, around, error.field)


def deliverable(line: EventLine, in_flight: Callable[[int | None], Iterable[InFlightMessage]]) -> list[InFlightMessage]:
    """Return the in-flight messages that a line may deliver: those with its type, its id and its recorded fields."""
    recorded = UNSET if line.message is UNSET else canonical_message(line.message)
    return [sent for sent in addressed(line, in_flight) if recorded is UNSET or agrees(recorded, sent.message)]


def addressed(line: EventLine, in_flight: Callable[[int | None], Iterable[InFlightMessage]]) -> list[InFlightMessage]:
    """Return the in-flight messages of the line's type and id to its replica, whatever their contents."""
    wanted = line.event.removeprefix(HANDLE)
    identifier = delivered_id(line)
    place = None if identifier is UNSET else message_place(identifier)
    return [
        way
        for way in in_flight(None if place is None else place.sent)
        if way.receiver == line.replica
        and not way.cut
        and way.message["type"] == wanted
        and (place is None or place.destination == way.receiver)
    ]


def _filled_in(line: EventLine, around: Surroundings, field: str) -> Attempts:
    def all_of(choices: Iterable[Event]) -> Attempts:
        return Attempts(tuple({**base(line), **choice} for choice in choices))

    def one_or_stand_in(choice: Event | None, stand_in: Event) -> Attempts:
        if choice is not None:
            return all_of([choice])
        return Attempts(({**base(line), **stand_in},), unknown=field)

    match line.event:
        case "PollFetch":
            receivers = [e.message.destination for e in _effects(line) if isinstance(e, TracedSend)]
            named = [to for to in receivers if to is not UNSET]
            return all_of({"destination": to} for to in named or around.replica_ids)
        case "Poll":
            return all_of([choice(Poll, announce_to=None)])
        case "RequestTimeout":
            return all_of({"destination": to} for to in around.replica_ids)
        case "Crash":
            end = UNSET if line.state is UNSET else line.state.log_end_offset
            return all_of(
                choice(Crash, log_end_offset=offset) for offset in (around.log_ends() if end is UNSET else (end,))
            )
        case "ClientAppend":
            record = _appended(line)
            event = None if record is None else choice(ClientAppend, value=record.value)
            return one_or_stand_in(event, {"value": 0})
        case "AppendVoters":
            record = _appended(line)
            voters = UNSET if record is None else record.voters
            event = None if voters is UNSET else choice(AppendVoters, voters=voters)
            return one_or_stand_in(event, {"voters": around.voters()})
        case "ReplaceDisk":
            key = UNSET if line.state is UNSET else line.state.replica_key
            directory = None if key is UNSET else key.directory_id
            # A unique id: no directory id is used twice.
            event = None if directory is None else choice(ReplaceDisk, directory_id=directory)
            return one_or_stand_in(event, {"directory_id": f"unknown-{line.sequence}"})
        case "AddVoter" | "RemoveVoter" | "UpdateFeatures":
            requests = requested_changes(line, around.cluster_id, around.replicas, around.voters)
            unknown = None if request_number(line) is not None else "input.request"
            return Attempts(tuple({**base(line), **event} for event in requests), unknown=unknown)
        case "AlterPartitionReassignments":
            events = requested_targets(line, around.replica_ids)
            unknown = None if request_number(line) is not None else "input.request"
            return Attempts(tuple({**base(line), **event} for event in events), unknown=unknown)
        case "AdvanceReassignment":
            keys = {*around.voters(), *[replica.key for replica in around.replicas()], NO_KEY}
            return all_of({"chosen": key} for key in sorted(keys))
        case "TakeSnapshot":
            return all_of(choice(TakeSnapshot, end_offset=end) for end in _snapshot_ends(line, around))
        case "Restart":
            moved = UNSET if line.state is UNSET else line.state.moved_to
            return all_of([choice(Restart, endpoint=None if moved is UNSET else moved)])
        case "ReplaceSoftware":
            return all_of(choice(ReplaceSoftware, pre_vote=support) for support in get_args(PreVoteSupport))
        case "CutLink" | "HealLink":
            links = [(a, b) for a, b in permutations(around.replica_ids, 2) if _may_be(line, a, b)]
            return all_of({"source": source, "destination": destination} for source, destination in links)
        case _:
            return all_of(
                {"sent": way.sent, "destination": way.receiver, "change": way.message["type"] in _CHANGE_ANSWERS}
                for way in around.in_flight(None)
            )


_CHANGE_ANSWERS = frozenset(answer.__struct_config__.tag for answer in CHANGE_ANSWERS)


def _snapshot_ends(line: EventLine, around: Surroundings) -> Iterable[int]:
    """Return the possible end offsets of the snapshot; 0 represents all that are refused."""
    for effect in _effects(line):
        if isinstance(effect, TracedWriteSnapshot):
            return (effect.snapshot.end_offset,)
    if line.refusal is UNSET:
        return (0, *around.snapshot_ends())
    return around.snapshot_ends() if line.refusal is None else (0,)


def _effects(line: EventLine) -> tuple[TracedEffect, ...]:
    return () if line.effects is UNSET else line.effects


def _appended(line: EventLine) -> TracedRecord | None:
    """Return the first record that the line appends; None if it is not recorded."""
    for effect in _effects(line):
        if isinstance(effect, TracedAppendRecords) and effect.records:
            return effect.records[0]
    return None


def _may_be(line: EventLine, source: int, destination: int) -> bool:
    link = line.input
    return link is UNSET or (link.source in (UNSET, source) and link.destination in (UNSET, destination))
