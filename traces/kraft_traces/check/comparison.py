"""One line against one successor of the model: what of the line is not what the model gives.

The fast way is one comparison of texts; the fields are looked at where the texts differ.
"""

from collections.abc import Iterator

from msgspec import UNSET, UnsetType

from kraft_spec.difference import Difference
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.check.differences import (
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
from kraft_traces.check.writes import StoredBefore
from kraft_traces.effects import TracedAnswer, TracedEffect, TracedFlushLog
from kraft_traces.latitude.ordering import is_in_one_order
from kraft_traces.latitude.writes import LOG_ENDS, syncs_beyond_log
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

    def differences(
        self, line: EventLine, after: JavaObject, stored: StoredBefore | None = None
    ) -> tuple[Difference, ...]:
        """Where a line differs from a successor; what a foreign line leaves out agrees with everything.

        With what its replica had `stored` before it, a line in its normal form: when it syncs is its own choice, as
        long as it is in time, and so is the order of its messages.
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
            if stored is not None and line.crash is UNSET:
                shown_state = _with_right_sync(shown_state, expected_state, stored, effects)
            found += field_differences("state.", STATE_FIELDS, expected_state, shown_state, complete=own)
        elif own:
            found.append(Difference("state", "the state after", MISSING))
        wanted = str(expected_reason) or _NO_REASON
        given = MISSING if refusal is UNSET else _NO_REASON if refusal is None else str(refusal)
        if given != wanted and (own or refusal is not UNSET):
            found.append(Difference("refusal", wanted, given))
        if effects is not UNSET and stored is not None:
            found += _free_differences(expected_effects, effects, stored)
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


def _with_right_sync(
    shown: Fields, expected: Expected, stored: StoredBefore, effects: tuple[TracedEffect, ...] | UnsetType
) -> Fields:
    """The shown state; an offset up to which it has synced that is right becomes the model's.

    It is where the syncs end that the trace shows, or any later one if some of its replica's effects are hidden.
    """
    synced, end = shown["flushed_offset"], expected["log_end_offset"]
    least = stored.disk.after(() if effects is UNSET else effects).synced
    most = end if effects is UNSET or stored.hides_syncs else least
    is_right = isinstance(synced, int) and expected["flushed_offset"] <= least <= synced <= most <= end
    return {**shown, "flushed_offset": expected["flushed_offset"]} if is_right else shown


def _free_differences(
    expected: tuple[Expected, ...], effects: tuple[TracedEffect, ...], stored: StoredBefore
) -> Iterator[Difference]:
    """Where effects in their normal form differ."""
    if not is_in_one_order(effects):
        yield from effect_differences(expected, canonical_effects(effects), complete=False)
        return
    for place, sync, end in syncs_beyond_log(effects, stored.log_end):
        yield Difference(f"effects[{place}]", f"at most {end}, {LOG_ENDS}", f"synced up to {sync.end_offset}")
    synced = stored.disk.after(effects).synced
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
