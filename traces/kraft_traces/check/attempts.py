"""What a foreign line that leaves something out may stand for: the events to try in one candidate state.

What the rest of the line tells is used first, so that few events are tried and the bound on candidates is not wasted.
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
    ReplaceDisk,
    ReplaceSoftware,
    Restart,
    TakeSnapshot,
)
from kraft_spec.mapping_forms import NO_KEY, ModelKey
from kraft_traces.check.binding import Event, LeftOutError, base, choice, complete_event, delivered_id, message_place
from kraft_traces.check.model import OnItsWay
from kraft_traces.check.observation import agrees, canonical_message
from kraft_traces.check.requests import Replica, asked_events, request_number, targets_asked
from kraft_traces.effects import TracedAppendRecords, TracedEffect, TracedSend, TracedWriteSnapshot
from kraft_traces.lines import EventLine
from kraft_traces.message_types import CHANGE_ANSWERS
from kraft_traces.values import TracedRecord
from kraft_traces.vocabulary import HANDLE


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What one candidate state offers; asked for only where a line leaves it open."""

    replica_ids: tuple[int, ...]
    cluster_id: str
    on_their_way: Callable[[int | None], tuple[OnItsWay, ...]]
    """Those that this line has sent; None for all."""
    log_ends: Callable[[], range]
    """The log ends that a crash of the line's replica may leave."""
    snapshot_ends: Callable[[], range]
    """Where a snapshot that the line's replica takes may end."""
    replicas: Callable[[], tuple[Replica, ...]]
    """Every replica as it is now."""
    voters: Callable[[], frozenset[ModelKey]]
    """The newest voters set at the line's replica."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """The events to try."""

    events: tuple[Event, ...]
    unknown: str | None = None
    """A field for which the events hold a stand-in, because it cannot be found by trying.

    They serve to find out that the replica takes no notice of the event anyway."""


def attempts(line: EventLine, around: Surroundings) -> Attempts:
    """The events that a line may stand for.

    Raises:
        UnrepresentableError: the line holds a number beyond the model's.
    """
    if line.event.startswith(HANDLE):
        return Attempts(tuple({**base(line), "sent": way.sent} for way in deliverable(line, around.on_their_way)))
    try:
        return Attempts((complete_event(line, around.cluster_id),))
    except LeftOutError as left_out:
        return _filled_in(line, around, left_out.field)


def deliverable(line: EventLine, on_their_way: Callable[[int | None], Iterable[OnItsWay]]) -> list[OnItsWay]:
    """The messages on their way that a line may deliver: of its type, with its id, and with its fields if given."""
    given = UNSET if line.message is UNSET else canonical_message(line.message)
    return [way for way in addressed(line, on_their_way) if given is UNSET or agrees(given, way.message)]


def addressed(line: EventLine, on_their_way: Callable[[int | None], Iterable[OnItsWay]]) -> list[OnItsWay]:
    """The messages on their way that could arrive at the line's replica, whatever is in them."""
    wanted = line.event.removeprefix(HANDLE)
    identifier = delivered_id(line)
    place = None if identifier is UNSET else message_place(identifier)
    return [
        way
        for way in on_their_way(None if place is None else place.sent)
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
        case "RequestTimeout":
            return all_of({"destination": to} for to in around.replica_ids)
        case "Crash":
            end = UNSET if line.state is UNSET else line.state.log_end_offset
            return all_of(
                choice(Crash, log_end_offset=offset) for offset in (around.log_ends() if end is UNSET else (end,))
            )
        case "ClientAppend":
            record = _appended(line)
            known = None if record is None else choice(ClientAppend, value=record.value)
            return one_or_stand_in(known, {"value": 0})
        case "AppendVoters":
            record = _appended(line)
            voters = UNSET if record is None else record.voters
            known = None if voters is UNSET else choice(AppendVoters, voters=voters)
            return one_or_stand_in(known, {"voters": around.voters()})
        case "ReplaceDisk":
            key = UNSET if line.state is UNSET else line.state.replica_key
            directory = None if key is UNSET else key.directory_id
            # An id of its own: none is given out twice.
            known = None if directory is None else choice(ReplaceDisk, directory_id=directory)
            return one_or_stand_in(known, {"directory_id": f"unknown-{line.sequence}"})
        case "AddVoter" | "RemoveVoter" | "UpdateFeatures":
            asked = asked_events(line, around.cluster_id, around.replicas, around.voters)
            unknown = None if request_number(line) is not None else "input.request"
            return Attempts(tuple({**base(line), **event} for event in asked), unknown=unknown)
        case "AlterPartitionReassignments":
            events = targets_asked(line, around.replica_ids)
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
                for way in around.on_their_way(None)
            )


_CHANGE_ANSWERS = frozenset(answer.__struct_config__.tag for answer in CHANGE_ANSWERS)


def _snapshot_ends(line: EventLine, around: Surroundings) -> Iterable[int]:
    """Where the snapshot may end; one end that is too early stands for all that are refused."""
    for effect in _effects(line):
        if isinstance(effect, TracedWriteSnapshot):
            return (effect.snapshot.end_offset,)
    if line.refusal is UNSET:
        return (0, *around.snapshot_ends())
    return around.snapshot_ends() if line.refusal is None else (0,)


def _effects(line: EventLine) -> tuple[TracedEffect, ...]:
    return () if line.effects is UNSET else line.effects


def _appended(line: EventLine) -> TracedRecord | None:
    """The record that the line shows to be appended."""
    for effect in _effects(line):
        if isinstance(effect, TracedAppendRecords) and effect.records:
            return effect.records[0]
    return None


def _may_be(line: EventLine, source: int, destination: int) -> bool:
    given = line.input
    return given is UNSET or (given.source in (UNSET, source) and given.destination in (UNSET, destination))
