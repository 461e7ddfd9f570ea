"""Comparison of a line with a successor of the model.

The texts of both are compared first, because that is fast; fields are compared only if the texts differ.
"""

from collections.abc import Iterator

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kraft_spec.difference import Difference
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.alternatives.ordering import is_in_one_order
from kraft_traces.alternatives.writes import LOG_ENDS, syncs_beyond_log
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
from kraft_traces.effects import TracedAnswer, TracedEffect, TracedFlushLog, TracedPersistQuorumState
from kraft_traces.lines import EventLine
from kraft_traces.vocabulary import EVENTS, HANDLE

NETWORK_EVENTS = frozenset(name for name, shape in EVENTS.items() if not shape.at_replica)

_NO_REASON = "null"

_SYNC = EFFECT_FIELDS[TracedFlushLog][0]
_NO_WRITES = frozenset({*MESSAGE_FIELDS, EFFECT_FIELDS[TracedAnswer][0]})


class Comparison:
    """Comparison of the lines of one trace; `own` if every line has to be complete."""

    def __init__(self, model: TraceModel, *, own: bool) -> None:
        self._model = model
        self._own = own

    def missing_fields(self, line: EventLine) -> tuple[Difference, ...]:
        """Return the missing fields of an own line that no other comparison covers.

        The model has no time, but the reader checks that `time_ms` never goes back.
        """
        missing: list[Difference] = []
        if line.time_ms is UNSET:
            missing.append(Difference("time_ms", "the time", MISSING))
        if line.cause is UNSET:
            missing.append(Difference("cause", "the cause", MISSING))
        if line.event.startswith(HANDLE):
            if line.message is UNSET:
                missing.append(Difference("message", "the message that arrived", MISSING))
            elif line.message.id is UNSET:
                missing.append(Difference("message.id", "the id of the message that arrived", MISSING))
        elif line.answer is not UNSET and line.answer.id is UNSET:
            missing.append(Difference("answer.id", f"{line.sequence}.{line.answer.destination}", MISSING))
        return tuple(missing)

    def differences(
        self, line: EventLine, after: JavaObject, stored: StoredBefore | None = None
    ) -> tuple[Difference, ...]:
        """Return the differences between a line and a successor; missing fields of a foreign line are not compared.

        With `stored`, the line is in normal form: the replica may sync earlier than the model, and the order of its
        messages is free.
        """
        if line.event in NETWORK_EVENTS:
            return self._answer_differences(line, after)
        model, state, effects, refusal = self._model, line.state, line.effects, line.refusal
        if state is not UNSET and effects is not UNSET and refusal is not UNSET:
            observation = observation_text(state, "" if refusal is None else refusal, effects)
            if observation == model.observation("Observation", after):
                return ()
        own = self._own
        expected_state, (expected_reason, expected_effects) = members(model.observed("Observation", after))
        differences: list[Difference] = []
        if state is not UNSET:
            actual_state = canonical_state(state)
            if stored is not None and line.crash is UNSET:
                actual_state = _with_allowed_sync(actual_state, expected_state, stored, effects)
            differences += field_differences("state.", STATE_FIELDS, expected_state, actual_state, complete=own)
        elif own:
            differences.append(Difference("state", "the state after", MISSING))
        wanted = str(expected_reason) or _NO_REASON
        actual = MISSING if refusal is UNSET else _NO_REASON if refusal is None else str(refusal)
        if actual != wanted and (own or refusal is not UNSET):
            differences.append(Difference("refusal", wanted, actual))
        if effects is not UNSET and stored is not None:
            differences += _free_differences(expected_effects, effects, stored)
        elif effects is not UNSET:
            differences += effect_differences(expected_effects, canonical_effects(effects), complete=own)
        elif own:
            differences.append(Difference("effects", "the effects", MISSING))
        return tuple(differences)

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


def _with_allowed_sync(
    actual: Fields, expected: Expected, stored: StoredBefore, effects: tuple[TracedEffect, ...] | UnsetType
) -> Fields:
    """Return the recorded state, with the model's flushed offset in place of any other allowed one.

    Allowed is the end of the recorded syncs, or any later offset if some effects of the replica are not recorded.
    """
    synced, end = actual["flushed_offset"], expected["log_end_offset"]
    least = stored.disk.after(() if effects is UNSET else effects).synced
    most = end if effects is UNSET or stored.hides_syncs else least
    is_allowed = isinstance(synced, int) and expected["flushed_offset"] <= least <= synced <= most <= end
    return {**actual, "flushed_offset": expected["flushed_offset"]} if is_allowed else actual


def _free_differences(
    expected: tuple[Expected, ...], effects: tuple[TracedEffect, ...], stored: StoredBefore
) -> Iterator[Difference]:
    """Yield the differences between effects in normal form."""
    unchanged = _file_without_directory(stored.disk.file)
    expected = tuple(effect for effect in expected if effect != unchanged)
    if not is_in_one_order(effects):
        yield from effect_differences(expected, canonical_effects(effects), complete=False)
        return
    for place, sync, end in syncs_beyond_log(effects, stored.log_end):
        yield Difference(f"effects[{place}]", f"at most {end}, {LOG_ENDS}", f"synced up to {sync.end_offset}")
    synced = stored.disk.after(effects).synced
    for effect in expected:
        if effect["type"] == _SYNC and synced < effect["end_offset"]:
            yield Difference(f"effects[{len(effects)}]", effect_text(effect), NOTHING)
    recorded = [numbered for numbered in canonical_effects(effects) if numbered[1]["type"] != _SYNC]
    outbound = [effect for effect in expected if effect["type"] != _SYNC]
    if all(effect.get("destination") is not UNSET for _, effect in recorded):
        outbound = sorted(outbound, key=_receiver)
        recorded = sorted(recorded, key=lambda numbered: _receiver(numbered[1]))
    yield from effect_differences(outbound, recorded, complete=False)


def _file_without_directory(file: TracedPersistQuorumState) -> Fields | None:
    """Return the write that forgets the directory id of the vote: a file of version 0 has none, so it stays the same.

    Rules: durable.fields-v0, durable.vote.v0-uuid-in-memory.
    """
    if file.version != 0 or file.voted_key is None:
        return None
    forgotten = replace(file, voted_key=replace(file.voted_key, directory_id=None))
    ((_, write),) = canonical_effects((forgotten,))
    return write


def _receiver(effect: Fields) -> tuple[bool, str, int]:
    """Return the sort key of an effect: writes keep their order, messages are sorted by type and receiver."""
    if effect["type"] not in _NO_WRITES:
        return False, "", 0
    to = effect.get("destination", 0)
    return True, str(effect["type"]), to if isinstance(to, int) else 0
