"""Extent of the comparison of a trace: the recorded fields, and the properties that they are sufficient for.

A property is judged on the model's state.
The result applies to the traced software only if the line records the fields of the property, because these are
compared with the model's.  A missing field may have had any value in the software.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from msgspec import UNSET
from msgspec.structs import astuple

from kraft_traces.check.observation import canonical_effect, canonical_message, is_whole
from kraft_traces.effects import TracedAnswer, TracedEffect, TracedSend, TracedStartTimer
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage
from kraft_traces.state_types import TracedState
from kraft_traces.vocabulary import EVENTS

_ROLE = ("state.role", "state.epoch", "state.leader_id", "state.leader_endpoint", "state.voted_key")
_LOG = ("state.log_end_offset", "state.last_epoch", "state.flushed_offset", "state.log_start_offset")
_VOTERS = ("state.voters", "state.kraft_version")
_STATE = tuple(f"state.{name}" for name in TracedState.__struct_fields__)

GROUPS: Mapping[str, tuple[str, ...]] = {
    "message": ("message",),
    "input": ("input",),
    "sends": ("sends",),
    "writes": ("writes",),
    "refusal": ("refusal",),
    "role": _ROLE,
    "log": _LOG,
    "high_watermark": ("state.high_watermark",),
    "voters": _VOTERS,
    "other": tuple(name for name in _STATE if name not in (*_ROLE, *_LOG, "state.high_watermark", *_VOTERS)),
}
"""Groups of the fields of a line; every field that is compared is in one.

`message` is the delivered message; `sends` are the sent messages and the replies to clients among the effects; `writes`
are the other effects.
A line counts as recording `sends` if it has its effects and no field of a sent message is missing.
"""

_COMMITTED = ("state.role", "state.epoch", "state.high_watermark", "writes")

PROPERTIES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "TypeOk": (("writes", *_STATE),),
    "ElectionSafety": (("state.role", "state.epoch"),),
    "VoteOncePerEpoch": (("state.epoch", "state.voted_key"), ("sends", "writes")),
    "NotFollowerOfSelf": (("state.role", "state.leader_id"),),
    "OffsetEpochUnique": (("writes",),),
    "EpochMonotonic": (("state.epoch",),),
    "HwMonotonic": (("state.high_watermark",),),
    "RoleChange": (("state.role",),),
    "LogMatching": (("writes",),),
    "LeaderCompleteness": (_COMMITTED,),
    "CommittedNeverLost": (_COMMITTED,),
    "PreVoteIsPure": (("message", "writes", *_STATE),),
    "ConfigOverlap": (("state.voters", "state.high_watermark", "writes"),),
    "OnePendingChange": (("state.role", "state.high_watermark", "writes"),),
    "ConfigFollowsLog": (("state.voters", "state.kraft_version", "state.high_watermark", "writes"),),
    "IdentityBinding": (
        (
            *("message", "state.replica_key", "state.role", "state.voted_key", "state.voters"),
            *("state.fetch_offsets", "state.fetchers"),
        ),
    ),
    "StateMachineSafety": (_COMMITTED,),
    "ConfigAgreement": (("state.voters", "state.log_end_offset", "state.last_epoch"), ("state.voters", "writes")),
}
"""Fields that an event must record for the property to be judged on it, or alternative sets of such fields.

Only `writes` have records.  The model derives committed records from high watermarks.  A vote counts only if it is sent
or written.
"""

_ONLY_AT = {"PreVoteIsPure": frozenset({"HandleVoteRequest"})}
"""Events at which a property is judged, if these are not all events of replicas."""

REQUIREMENTS: Mapping[str, tuple[str, ...]] = {
    "complete": tuple(GROUPS),
    "effects": ("sends", "writes", "refusal"),
    "state": ("role", "log", "high_watermark", "voters", "other"),
}
"""Named requirements: groups that every event must record."""


class Extent(StrEnum):
    """Extent of the comparison of a trace, in a word."""

    COMPLETE = "complete"
    """Every event has all its fields."""
    PARTIAL = "partial"
    """Some fields are missing."""
    NAMES_ONLY = "names only"
    """No event records anything that a replica did."""


@dataclass(frozen=True, slots=True)
class ShownCount:
    """Number of events that record some fields, of those that have them."""

    shown: int
    events: int

    @property
    def always(self) -> bool:
        """True if all events record the fields, or there are none."""
        return self.shown == self.events


@dataclass(frozen=True, slots=True)
class Compared:
    """Extent of the comparison of a trace; only events that are steps of the model count."""

    whole: Extent | None
    """None if there is no such event."""
    groups: Mapping[str, ShownCount]
    """By name of `GROUPS`: the events that record all its fields."""
    properties: Mapping[str, ShownCount]
    """By name of the property: the events that record all its fields, of those at which it is judged."""
    fields: Mapping[str, ShownCount]
    """By name of the field; empty for a format in which no field may be missing."""

    def lacking(self, requirement: str) -> Mapping[str, ShownCount]:
        """Return the fields that some events lack, of those that a name of `REQUIREMENTS` or `PROPERTIES` requires.

        A property that is not judged on traces of this kind is returned itself, with 0 of 0 events.
        """
        if requirement in REQUIREMENTS:
            required = [field for group in REQUIREMENTS[requirement] for field in GROUPS[group]]
        elif requirement not in self.properties:
            return {requirement: ShownCount(0, 0)}
        elif self.properties[requirement].always:
            return {}
        else:
            required = list(PROPERTIES[requirement][0])
        return {name: self.fields[name] for name in required if name in self.fields and not self.fields[name].always}


NOTHING_COMPARED = Compared(None, {}, {}, {})


def compared_completely(groups: Iterable[str], properties: Iterable[str], events: int) -> Compared:
    """Return the extent of a trace whose format requires every field."""
    counted = ShownCount(events, events)
    whole = Extent.COMPLETE if events else None
    return Compared(whole, dict.fromkeys(groups, counted), dict.fromkeys(properties, counted), {})


_FIELDS = ("message", "input", "sends", "writes", "refusal", *_STATE)
_BITS = {name: 1 << place for place, name in enumerate(_FIELDS)}
_ALL = (1 << len(_FIELDS)) - 1
_ANYTHING = 1 << len(_FIELDS)
"""Bit of a line that records anything that a replica did, even if no field of `_FIELDS` is complete."""


def _bits(fields: tuple[str, ...]) -> int:
    return sum(_BITS[name] for name in fields)


_GROUP_BITS = {name: _bits(fields) for name, fields in GROUPS.items()}
_PROPERTY_BITS = {name: tuple(map(_bits, ways)) for name, ways in PROPERTIES.items()}
_STATE_BITS = tuple((name, _BITS[f"state.{name}"]) for name in TracedState.__struct_fields__)


_ANSWERS = "AnswerUnsupportedVersion"


def _own_bits(event: str) -> int:
    """Return the bits of the fields that an event has."""
    shape = EVENTS[event]
    bits = _bits(("sends", "writes", "refusal", *_STATE)) if shape.at_replica else 0
    bits |= _BITS["message"] if shape.message is not None else 0
    bits |= _BITS["sends"] if event == _ANSWERS else 0
    return bits | (_BITS["input"] if shape.input and shape.default is None else 0)


OF_EVENT = {event: _own_bits(event) for event in EVENTS}
"""Bits of the fields that each event has."""

BITS: Mapping[str, Any] = {
    "all": _ALL,
    "anything": _ANYTHING,
    **{name: _BITS[name] for name in ("message", "input", "sends", "writes", "refusal")},
    "state": dict(_STATE_BITS),
}
"""Bits of the fields, for the compiled checker, which counts them itself."""


class ShownFields:
    """Counter of the recorded fields of a trace."""

    def __init__(self, *, own: bool) -> None:
        """Count nothing yet; `own` if each line has every field, which the checker ensures."""
        self._own = own
        self._lines: dict[tuple[str, int], int] = defaultdict(int)

    def count(self, line: EventLine) -> None:
        """Count a line that is a step of the model."""
        self._lines[line.event, _ALL | _ANYTHING if self._own else shown_bits(line)] += 1

    def count_lines(self, event: str, bits: int, lines: int) -> None:
        """Count lines of an event that recorded these bits."""
        self._lines[event, bits] += lines

    def compared(self) -> Compared:
        """Return the extent of the comparison of the lines so far."""
        recorded, events = [0] * len(_QUESTIONS), [0] * len(_QUESTIONS)
        for (event, bits), lines in self._lines.items():
            for place, is_shown in _answers(event, bits):
                events[place] += lines
                recorded[place] += lines * is_shown
        counts = map(ShownCount, recorded, events)
        groups, fields, properties = (
            {name: next(counts) for name in names} for names in (_GROUP_BITS, _BITS, _PROPERTY_BITS)
        )
        return Compared(self._extent(), groups, properties, fields)

    def _extent(self) -> Extent | None:
        if not self._lines:
            return None
        if all(bits & _ALL == _ALL for _, bits in self._lines):
            return Extent.COMPLETE
        return Extent.PARTIAL if any(bits & _ANYTHING for _, bits in self._lines) else Extent.NAMES_ONLY


_AT_REPLICAS = frozenset(event for event, shape in EVENTS.items() if shape.at_replica)

_QUESTIONS = (
    *(
        (frozenset(event for event in EVENTS if OF_EVENT[event] & bits), (bits,))
        for bits in (*_GROUP_BITS.values(), *_BITS.values())
    ),
    *((_ONLY_AT.get(name, _AT_REPLICAS), ways) for name, ways in _PROPERTY_BITS.items()),
)
"""For each group, field and property: the events that it applies to, and the alternative sets of required bits."""


@lru_cache(4096)
def _answers(event: str, bits: int) -> tuple[tuple[int, bool], ...]:
    """Return the indexes of the questions that apply to an event, and True for each that these bits satisfy."""
    questions = [(place, ways) for place, (events, ways) in enumerate(_QUESTIONS) if event in events]
    return tuple((place, any(bits & way == way for way in ways)) for place, ways in questions)


def shown_bits(line: EventLine) -> int:
    """Return the bits of the fields that a line records; fields that its event does not have count as recorded."""
    bits = _ALL & ~OF_EVENT[line.event]
    for recorded in _recorded_bits(line):
        bits |= recorded
    return bits


def _recorded_bits(line: EventLine) -> Iterator[int]:
    if line.message is not UNSET:
        yield from _of_message("message", line.message)
    if line.answer is not UNSET:
        yield from _of_message("sends", line.answer)
    fields = line.input
    if fields is not UNSET and all(getattr(fields, name) is not UNSET for name in EVENTS[line.event].input):
        yield _BITS["input"]
    if line.refusal is not UNSET:
        yield _BITS["refusal"] | _ANYTHING
    if line.effects is not UNSET:
        # The part of the log that survives a crash is in the input.
        kept = line.event != "Crash" or line.input is not UNSET
        yield _of_effects(line.effects) & (~0 if kept else ~_BITS["writes"])
    if line.state is not UNSET:
        yield _of_state(line.state)


_WHICH_MESSAGE = frozenset(("type", "source", "destination"))
"""Fields that identify a message and say nothing about its contents."""


def _of_message(field: str, message: TracedMessage) -> Iterator[int]:
    if _is_whole_message(message):
        yield _BITS[field] | _ANYTHING
    elif any(value is not UNSET for name, value in canonical_message(message).items() if name not in _WHICH_MESSAGE):
        yield _ANYTHING


def _is_whole_message(message: TracedMessage) -> bool:
    # Fast check for most messages; records may have missing parts, so they need the full check.
    if not getattr(message, "records", ()) and UNSET not in astuple(message):
        return True
    return is_whole(canonical_message(message))


def _of_effects(effects: tuple[TracedEffect, ...]) -> int:
    bits = _BITS["sends"] | _BITS["writes"] | _ANYTHING
    for effect in effects:
        if isinstance(effect, TracedSend):
            bits &= ~0 if _is_whole_message(effect.message) else ~_BITS["sends"]
        elif not isinstance(effect, TracedStartTimer) and not is_whole(canonical_effect(effect)):
            bits &= ~_BITS["sends" if isinstance(effect, TracedAnswer) else "writes"]
    return bits


def _of_state(state: TracedState) -> int:
    bits = 0
    for name, bit in _STATE_BITS:
        if getattr(state, name) is not UNSET:
            bits |= bit | _ANYTHING
    voters = state.voters
    if voters is not UNSET and UNSET in (voters.offset, voters.voters, voters.target):
        bits &= ~_BITS["state.voters"]
    return bits
