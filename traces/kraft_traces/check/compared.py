"""How much of a trace was compared: what its lines showed, and for which properties that was enough.

A property is judged on the model's state.
That says something of the traced software as far as the line shows the fields that the property speaks of, because
these are compared with the model's; what a line leaves out may have been anything there.
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
"""The fields of a line, in groups: every field that is compared is in one.

`message` is the delivered one; `sends` are the messages and the answers to clients among the effects, `writes` are the
other effects.
A line that shows its effects shows which there are; it shows `sends` if no field of theirs is left out either.
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
"""What each property speaks of: fields that an event must show for it to be judged there, or one of two sets of them.

Records are nowhere but in `writes`; the model learns from high watermarks what is committed; a vote that is neither
sent nor written is none.
"""

_ONLY_AT = {"PreVoteIsPure": frozenset({"HandleVoteRequest"})}
"""The events at which a property is judged, for one that is not judged at all events of replicas."""

REQUIREMENTS: Mapping[str, tuple[str, ...]] = {
    "complete": tuple(GROUPS),
    "effects": ("sends", "writes", "refusal"),
    "state": ("role", "log", "high_watermark", "voters", "other"),
}
"""What may be required by a name of its own: groups that every event must show."""


class Extent(StrEnum):
    """How much of a trace was compared, in a word."""

    COMPLETE = "complete"
    """Every event shows everything that it has."""
    PARTIAL = "partial"
    """Something is left out."""
    NAMES_ONLY = "names only"
    """No event shows anything of what the replicas did."""


@dataclass(frozen=True, slots=True)
class ShownCount:
    """Number of events that show something, of those that have it."""

    shown: int
    events: int

    @property
    def always(self) -> bool:
        """In all of them, perhaps because there are none."""
        return self.shown == self.events


@dataclass(frozen=True, slots=True)
class Compared:
    """How much of a trace was compared; the events are those that were steps of the model."""

    whole: Extent | None
    """None if there is no such event."""
    groups: Mapping[str, ShownCount]
    """By name of `GROUPS`: the events that showed all its fields."""
    properties: Mapping[str, ShownCount]
    """By name of the property: the events that showed all that it speaks of, of those at which it is judged."""
    fields: Mapping[str, ShownCount]
    """By name of the field; empty for a format in which none may be left out."""

    def lacking(self, requirement: str) -> Mapping[str, ShownCount]:
        """The fields that some events leave out, of those that a name of `REQUIREMENTS` or `PROPERTIES` requires.

        A property that is not judged on traces of this kind is lacking itself, in no event of none.
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


def nothing_left_out(groups: Iterable[str], properties: Iterable[str], events: int) -> Compared:
    """Of a trace whose format lets nothing be left out."""
    counted = ShownCount(events, events)
    whole = Extent.COMPLETE if events else None
    return Compared(whole, dict.fromkeys(groups, counted), dict.fromkeys(properties, counted), {})


_FIELDS = ("message", "input", "sends", "writes", "refusal", *_STATE)
_BITS = {name: 1 << place for place, name in enumerate(_FIELDS)}
_ALL = (1 << len(_FIELDS)) - 1
_ANYTHING = 1 << len(_FIELDS)
"""Set where a line shows something of what the replicas did, perhaps no field of `_FIELDS` as a whole."""


def _bits(fields: tuple[str, ...]) -> int:
    return sum(_BITS[name] for name in fields)


_GROUP_BITS = {name: _bits(fields) for name, fields in GROUPS.items()}
_PROPERTY_BITS = {name: tuple(map(_bits, ways)) for name, ways in PROPERTIES.items()}
_STATE_BITS = tuple((name, _BITS[f"state.{name}"]) for name in TracedState.__struct_fields__)


_ANSWERS = "AnswerUnsupportedVersion"


def _own_bits(event: str) -> int:
    """What an event has to show."""
    shape = EVENTS[event]
    bits = _bits(("sends", "writes", "refusal", *_STATE)) if shape.at_replica else 0
    bits |= _BITS["message"] if shape.message is not None else 0
    bits |= _BITS["sends"] if event == _ANSWERS else 0
    return bits | (_BITS["input"] if shape.input else 0)


OF_EVENT = {event: _own_bits(event) for event in EVENTS}
"""What the lines of each event have to show, in bits."""

BITS: Mapping[str, Any] = {
    "all": _ALL,
    "anything": _ANYTHING,
    **{name: _BITS[name] for name in ("message", "input", "sends", "writes", "refusal")},
    "state": dict(_STATE_BITS),
}
"""The bits of what a line may show, for who counts it elsewhere."""


class ShownFields:
    """Counts what the lines of a trace show."""

    def __init__(self, *, own: bool) -> None:
        """`own` says that each line shows everything, which the checker has seen to."""
        self._own = own
        self._lines: dict[tuple[str, int], int] = defaultdict(int)

    def count(self, line: EventLine) -> None:
        """Take a line that was a step of the model."""
        self._lines[line.event, _ALL | _ANYTHING if self._own else shown_bits(line)] += 1

    def count_lines(self, event: str, bits: int, lines: int) -> None:
        """Take so many lines of an event that showed this."""
        self._lines[event, bits] += lines

    def compared(self) -> Compared:
        """What the lines so far come to."""
        shown, events = [0] * len(_QUESTIONS), [0] * len(_QUESTIONS)
        for (event, bits), lines in self._lines.items():
            for place, is_shown in _answers(event, bits):
                events[place] += lines
                shown[place] += lines * is_shown
        counts = map(ShownCount, shown, events)
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
"""Of each group, field and property: the events that it is about, and what a line must show, one way or another."""


@lru_cache(4096)
def _answers(event: str, bits: int) -> tuple[tuple[int, bool], ...]:
    """The places of the questions that are about an event, and whether a line with these bits shows enough."""
    asked = [(place, ways) for place, (events, ways) in enumerate(_QUESTIONS) if event in events]
    return tuple((place, any(bits & way == way for way in ways)) for place, ways in asked)


def shown_bits(line: EventLine) -> int:
    """What a line shows, a bit for each of the fields; what its event does not have counts as shown."""
    bits = _ALL & ~OF_EVENT[line.event]
    for one in _shown(line):
        bits |= one
    return bits


def _shown(line: EventLine) -> Iterator[int]:
    if line.message is not UNSET:
        yield from _of_message("message", line.message)
    if line.answer is not UNSET:
        yield from _of_message("sends", line.answer)
    given = line.input
    if given is not UNSET and all(getattr(given, name) is not UNSET for name in EVENTS[line.event].input):
        yield _BITS["input"]
    if line.refusal is not UNSET:
        yield _BITS["refusal"] | _ANYTHING
    if line.effects is not UNSET:
        # How much of the log survives a crash, its input says.
        kept = line.event != "Crash" or line.input is not UNSET
        yield _of_effects(line.effects) & (~0 if kept else ~_BITS["writes"])
    if line.state is not UNSET:
        yield _of_state(line.state)


_WHICH_MESSAGE = frozenset(("type", "source", "destination"))
"""What says which message it is, and nothing of what is in it."""


def _of_message(field: str, message: TracedMessage) -> Iterator[int]:
    if _is_whole_message(message):
        yield _BITS[field] | _ANYTHING
    elif any(value is not UNSET for name, value in canonical_message(message).items() if name not in _WHICH_MESSAGE):
        yield _ANYTHING


def _is_whole_message(message: TracedMessage) -> bool:
    # Most are seen to be whole without a look at what the model does not have; in records something may be left out.
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
