"""One line against one successor of the model: what of the line is not what the model gives.

The fast way is one comparison of texts; the fields are looked at where the texts differ.
"""

from collections.abc import Iterator

from msgspec import UNSET

from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.check.differences import (
    Difference,
    Expected,
    effect_differences,
    effect_text,
    field_differences,
    members,
    message_differences,
)
from kraft_traces.check.model import TraceModel
from kraft_traces.check.observation import (
    EFFECT_FIELDS,
    MESSAGE_FIELDS,
    STATE_FIELDS,
    Fields,
    canonical_effects,
    canonical_message,
    canonical_state,
)
from kraft_traces.check.text import answer_text, observation_text
from kraft_traces.check.wording import MISSING, NOTHING
from kraft_traces.effects import TracedAnswer, TracedEffect, TracedFlushLog
from kraft_traces.latitude.ordering import is_in_one_order
from kraft_traces.latitude.writes import Disk
from kraft_traces.lines import EventLine
from kraft_traces.vocabulary import EVENTS, HANDLE

NETWORK_EVENTS = frozenset(name for name, shape in EVENTS.items() if not shape.at_replica)

_NO_REASON = "null"

_SYNC = EFFECT_FIELDS[TracedFlushLog][0]
_NO_WRITES = frozenset({*MESSAGE_FIELDS, EFFECT_FIELDS[TracedAnswer][0]})


class Comparison:
    """Compares the lines of one trace; `own` says that all of them are complete."""

    def __init__(self, model: TraceModel, *, own: bool) -> None:
        self._model = model
        self._own = own

    def left_out(self, line: EventLine) -> tuple[Difference, ...]:
        """What a line of our own leaves out although no comparison would look for it.

        `time_ms` is among them although the model has no time: the reader holds it to never going back.
        """
        found: list[Difference] = []
        if line.time_ms is UNSET:
            found.append(Difference("time_ms", "the time", MISSING))
        if line.cause is UNSET:
            found.append(Difference("cause", "the cause", MISSING))
        if line.event.startswith(HANDLE):
            if line.message is UNSET:
                found.append(Difference("message", "the message that arrived", MISSING))
            elif line.message.id is UNSET:
                found.append(Difference("message.id", "the id of the message that arrived", MISSING))
        elif line.answer is not UNSET and line.answer.id is UNSET:
            found.append(Difference("answer.id", f"{line.sequence}.{line.answer.destination}", MISSING))
        return tuple(found)

    def differences(self, line: EventLine, after: JavaObject, disk: Disk | None = None) -> tuple[Difference, ...]:
        """Where a line differs from a successor; what a foreign line leaves out agrees with everything.

        With the `disk` of its replica before it, a line in its normal form: when it syncs is its own choice, as long
        as it is in time, and so is the order of its messages.
        """
        if line.event in NETWORK_EVENTS:
            return self._answer_differences(line, after)
        model, state, effects, refusal = self._model, line.state, line.effects, line.refusal
        if state is not UNSET and effects is not UNSET and refusal is not UNSET:
            shown = observation_text(state, "" if refusal is None else refusal, effects)
            if shown == model.observation("Observation", after):
                return ()
        own = self._own
        expected_state, (expected_reason, expected_effects) = members(model.observed("Observation", after))
        found: list[Difference] = []
        if state is not UNSET:
            shown_state = canonical_state(state)
            if disk is not None and line.crash is UNSET:
                shown_state = _with_lower_bound(shown_state, expected_state)
            found += field_differences("state.", STATE_FIELDS, expected_state, shown_state, complete=own)
        elif own:
            found.append(Difference("state", "the state after", MISSING))
        wanted = str(expected_reason) or _NO_REASON
        given = MISSING if refusal is UNSET else _NO_REASON if refusal is None else str(refusal)
        if given != wanted and (own or refusal is not UNSET):
            found.append(Difference("refusal", wanted, given))
        if effects is not UNSET and disk is not None:
            end = None if line.crash is not UNSET else expected_state["log_end_offset"]
            found += _free_differences(expected_effects, effects, disk, end)
        elif effects is not UNSET:
            found += effect_differences(expected_effects, canonical_effects(effects), complete=own)
        elif own:
            found.append(Difference("effects", "the effects", MISSING))
        return tuple(found)

    def _answer_differences(self, line: EventLine, after: JavaObject) -> tuple[Difference, ...]:
        answer = line.answer
        if answer is UNSET and not self._own:
            return ()
        if answer_text(answer) == self._model.observation("NetworkObservation", after):
            return ()
        _, expected = members(self._model.observed("NetworkObservation", after))
        if answer is UNSET:
            return (Difference("answer", "the answer of the sender's network layer", MISSING),)
        if not expected:
            return ()
        (wanted,) = expected
        return tuple(message_differences("answer.", wanted, canonical_message(answer), complete=self._own))


def _with_lower_bound(shown: Fields, expected: Expected) -> Fields:
    """The shown state; an offset up to which it has synced that is right becomes the model's."""
    synced, least, end = shown["flushed_offset"], expected["flushed_offset"], expected["log_end_offset"]
    return {**shown, "flushed_offset": least} if isinstance(synced, int) and least <= synced <= end else shown


def _free_differences(
    expected: tuple[Expected, ...], effects: tuple[TracedEffect, ...], disk: Disk, end: int | None
) -> Iterator[Difference]:
    """Where effects in their normal form differ; `end` is where the log ends afterwards, if nobody dies."""
    if not is_in_one_order(effects):
        yield from effect_differences(expected, canonical_effects(effects), complete=False)
        return
    synced = disk.after(effects).synced
    for place, one in enumerate(effects):
        if isinstance(one, TracedFlushLog) and end is not None and one.end_offset > end:
            wording = f"synced up to {one.end_offset}"
            yield Difference(f"effects[{place}]", f"at most {end}, where the log ends", wording)
    for effect in expected:
        if effect["type"] == _SYNC and synced < effect["end_offset"]:
            yield Difference(f"effects[{len(effects)}]", effect_text(effect), NOTHING)
    shown = [one for one in canonical_effects(effects) if one[1]["type"] != _SYNC]
    others = [effect for effect in expected if effect["type"] != _SYNC]
    if all(one.get("destination") is not UNSET for _, one in shown):
        others = sorted(others, key=_receiver)
        shown = sorted(shown, key=lambda one: _receiver(one[1]))
    yield from effect_differences(others, shown, complete=False)


def _receiver(effect: Fields) -> tuple[bool, str, int]:
    """Writes stay in their order, messages go by their types and receivers."""
    if effect["type"] not in _NO_WRITES:
        return False, "", 0
    to = effect.get("destination", 0)
    return True, str(effect["type"]), to if isinstance(to, int) else 0
