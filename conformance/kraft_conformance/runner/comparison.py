"""Comparison of an observed step with the step that a vector expects."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from msgspec import UNSET, UnsetType

from kraft_conformance.protocol.unobserved import names_of
from kraft_conformance.runner.plain import Comparison, compare, plain, tag_of, text, wrong_order
from kraft_conformance.runner.requests_ahead import RequestsAhead, request_of
from kraft_reference.outcome import Refusal
from kraft_spec.difference import Difference
from kraft_traces.alternatives.bare_responses import has_place
from kraft_traces.alternatives.ordering import OUTBOUND
from kraft_traces.alternatives.values import Alternative
from kraft_traces.alternatives.writes import LOG_ENDS, Disk, holds, normal_form, syncs_beyond_log
from kraft_traces.effects import (
    TracedAnswer,
    TracedAppendRecords,
    TracedEffect,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedSend,
    TracedStartTimer,
    TracedTruncateLog,
    TracedWriteSnapshot,
)
from kraft_traces.message_types import TracedMessage
from kraft_traces.state_types import TracedState
from kraft_vectors.features import Level
from kraft_vectors.format import Expected, VectorStep

_OF_THE_LOG = (TracedAppendRecords, TracedTruncateLog, TracedWriteSnapshot)


class EffectComparison:
    """Comparison of the observable effects of a step."""

    def __init__(
        self,
        step: VectorStep | Expected,
        effects: Sequence[TracedEffect],
        observability: Level,
        never_shown: Sequence[str],
        ahead: RequestsAhead | None = None,
    ) -> None:
        """`ahead` has the additional requests sent before the step; None if there can be none."""
        self._ahead = RequestsAhead() if ahead is None else ahead
        self._may = {effect_name(TracedSend(allowed.message)): allowed.message for allowed in step.may_send or ()}
        self._may_start = {f"StartTimer {allowed.timer}" for allowed in step.may_start or ()}
        self._latitude = {latitude.path: latitude for latitude in step.latitude}
        self._never_shown = frozenset(never_shown)
        self._sees_writes = observability != "wire"
        self._expected = {
            effect_name(effect): (index, effect) for index, effect in enumerate(step.outputs) if self._is_seen(effect)
        }
        self._shown = [effect for effect in effects if self._is_seen(effect)]
        self._sent = [effect_name(effect) for effect in self._shown if isinstance(effect, OUTBOUND)]
        self._pairs = [
            (effect_name(step.outputs[first]), effect_name(step.outputs[second])) for first, second in step.before
        ]

    def _is_seen(self, effect: TracedEffect) -> bool:
        if isinstance(effect, OUTBOUND):
            return True
        return self._sees_writes and self._never_shown.isdisjoint(names_of(effect))

    def compared(self, disk: Disk, log_end_offset: int) -> Comparison:
        """Return the differences and the expected effects that are not shown."""
        effects = normal_form(self._shown, disk)
        by_name = {effect_name(effect): effect for effect in effects}
        differences = [*self._contents(by_name, disk.after(effects)), *self._portions(effects, log_end_offset)]
        differences += self._order([effect_name(effect) for effect in effects])
        return Comparison.of(differences)

    def _contents(self, effects: dict[str, TracedEffect], disk: Disk) -> Iterator[Difference | str]:
        for name, (index, expected) in self._expected.items():
            path = f"outputs[{index}]"
            actual = effects.get(name)
            if isinstance(expected, TracedFlushLog):
                if disk.synced < expected.end_offset:
                    yield Difference(name, f"synced up to {expected.end_offset}", f"synced up to {disk.synced}")
            elif actual is None:
                if not self._may_be_missing(path, expected, disk):
                    yield Difference(name, text(_judged(expected)), "nothing")
            else:
                differences = compare(path, plain(expected), plain(actual))
                # The name of a Send stands for the effect and for its message.
                prefix = path
                if isinstance(expected, TracedSend):
                    prefix = f"{path}.message"
                    differences = _without_bare(differences, prefix, expected.message)
                allowed = _renamed(_allowed(differences, plain(actual), path, self._latitude), prefix, name)
                yield from _with_an_id_of_its_own(expected, allowed)
                free = self._latitude.get(f"{path}.duration_ms")
                if free is None or not free.free:
                    yield from _at_once(name, expected, actual)
        for name, actual in effects.items():
            if name in self._may and name not in self._expected:
                yield from self._allowed_request(name, actual)
            elif name in self._may_start and name not in self._expected:
                if isinstance(actual, TracedStartTimer) and actual.duration_ms == 0:
                    yield Difference(f"{name}.duration_ms", "more than 0", "0")
            elif not isinstance(actual, TracedFlushLog) and name not in self._expected:
                yield Difference(name, "nothing", text(_judged(actual)))
        for name in sorted({name for name in self._sent if self._sent.count(name) > 1}):
            yield Difference(name, "once", f"{self._sent.count(name)} times")

    def _may_be_missing(self, path: str, expected: TracedEffect, disk: Disk) -> bool:
        """True if an alternative allows it, the file has the content already, or the same request is in flight."""
        if isinstance(expected, TracedPersistQuorumState) and holds(disk.file, expected):
            return True
        request = request_of(expected)
        is_out = request is not None and self._ahead.is_out(request)
        return is_out or (path in self._latitude and self._latitude[path].absent)

    def _allowed_request(self, name: str, actual: TracedEffect) -> Iterator[Difference]:
        """Yield the differences of an additional request from the allowed one."""
        path = f"{name}.message"
        for difference in compare(path, plain(self._may[name]), plain(actual)["message"]):
            if isinstance(difference, Difference):
                yield replace(difference, field=name + difference.field.removeprefix(path))

    def _portions(self, effects: Sequence[TracedEffect], log_end_offset: int) -> Iterator[Difference]:
        """Yield syncs beyond the end of the log, and earlier writes that are not a part of the expected one."""
        changes_log = any(isinstance(effect, _OF_THE_LOG) for effect in effects)
        for _, sync, end in syncs_beyond_log(effects, None if changes_log else log_end_offset):
            yield Difference(effect_name(sync), f"at most {end}, {LOG_ENDS}", f"synced up to {sync.end_offset}")
        earlier: dict[str, TracedEffect] = {}
        for effect in effects:
            name = effect_name(effect)
            if name in earlier and name in self._expected and not isinstance(effect, OUTBOUND):
                yield _wrong_before(name, earlier[name], effect, self._expected[name][1])
            earlier[name] = effect

    def _order(self, names: Sequence[str]) -> Iterator[Difference]:
        """Yield wrong orders; a write that was done in an earlier step cannot be late."""
        done = {name: place for place, name in enumerate(names)}
        begun = {name: place for place, name in reversed(list(enumerate(names)))}
        return wrong_order(self._pairs, done, begun)


def compare_states(step_path: str, expected: TracedState, actual: TracedState) -> Comparison:
    """Return the differences of two states; `step_path` is the prefix of each field."""
    wanted, observed = plain(expected), plain(actual)
    flushed, least, end = observed.get("flushed_offset"), wanted.get("flushed_offset"), wanted.get("log_end_offset")
    if None not in (flushed, least, end) and least <= flushed <= end:
        wanted["flushed_offset"] = flushed
    return Comparison.of(_renamed(compare("state", wanted, observed), "state", step_path))


def sends_extra_request(step: VectorStep, effects: Sequence[TracedEffect]) -> bool:
    """True if the effects include a request that the step allows in addition to the expected ones."""
    may = {effect_name(TracedSend(allowed.message)) for allowed in step.may_send or ()}
    return any(effect_name(effect) in may for effect in effects)


def compare_refusals(
    expected: StrEnum | None, actual: StrEnum | UnsetType | None, *, besides: bool = False
) -> tuple[Difference, ...]:
    """Return the difference of two refusals, of either subject; a missing refusal is not judged.

    An expected NOTHING_DUE is not judged if the implementation sends an allowed additional request.
    """
    if actual is UNSET or actual == expected or (besides and expected is Refusal.NOTHING_DUE):
        return ()
    return (Difference("refusal", text(expected), text(actual)),)


def effect_name(effect: TracedEffect) -> str:
    """Return the name of an effect, which distinguishes the outputs of a step."""
    match effect:
        case TracedSend(message):
            to = "" if message.destination is UNSET else f" to {message.destination}"
            return f"Send {tag_of(message)}{to}"
        case TracedAnswer(reply):
            return f"Answer to request {reply.request}"
        case TracedStartTimer(timer):
            return f"StartTimer {timer}"
        case _:
            return tag_of(effect)


def _wrong_before(name: str, before: TracedEffect, after: TracedEffect, expected: TracedEffect) -> Difference:
    """Return the difference of a write that is followed by another of its kind and is not a part of it."""
    match before, after, expected:
        case TracedAppendRecords(base_offset, records), TracedAppendRecords(), _:
            wanted = base_offset + len(records)
            return Difference(name, f"records from {wanted} on", f"records at {after.base_offset}")
        case TracedTruncateLog(end_offset), _, TracedTruncateLog():
            return Difference(name, f"truncation at {expected.end_offset}", f"truncation at {end_offset} before it")
        case _:
            return Difference(name, text(plain(expected)), f"{text(plain(before))} before it")


def _at_once(name: str, expected: TracedEffect, actual: TracedEffect) -> Iterator[Difference]:
    """Yield a difference if only one of the durations is 0: a preferred candidate campaigns at once."""
    if not isinstance(expected, TracedStartTimer) or not isinstance(actual, TracedStartTimer):
        return
    if (expected.duration_ms == 0) != (actual.duration_ms == 0):
        wanted = "0" if expected.duration_ms == 0 else "more than 0"
        yield Difference(f"{name}.duration_ms", wanted, str(actual.duration_ms))


def _with_an_id_of_its_own(
    expected: TracedEffect, differences: Iterator[Difference | str]
) -> Iterator[Difference | str]:
    """Yield the differences; if a request's id is wrong, name the constraint instead of the drawn id.

    The drawn id stands for any new one, so a request with another id reuses the id of an open request.
    """
    for difference in differences:
        if (
            isinstance(difference, Difference)
            and difference.field.endswith(".correlation_id")
            and request_of(expected) is not None
        ):
            yield replace(difference, expected="an id that no other open request to this receiver uses")
        else:
            yield difference


def _without_bare(
    differences: Iterator[Difference | str], prefix: str, response: TracedMessage
) -> Iterator[Difference | str]:
    """Yield the differences without the missing fields that such a response does not have."""
    for difference in differences:
        if not isinstance(difference, str) or has_place(response, difference.removeprefix(f"{prefix}.")):
            yield difference


def _judged(effect: TracedEffect) -> Any:
    fields = plain(effect)
    fields.pop("duration_ms", None)
    return fields


def _allowed(
    differences: Iterator[Difference | str], actual: Any, root: str, latitude: dict[str, Alternative]
) -> Iterator[Difference | str]:
    """Yield the differences that no allowed alternative for the field, or for a part that contains it, covers."""
    for difference in differences:
        granted = None if isinstance(difference, str) else _granted(difference.field, latitude)
        if isinstance(difference, str) or granted is None:
            yield difference
            continue
        values = [text(value) for value in granted.any_of or ()]
        if text(_at(actual, granted.path.removeprefix(root))) not in values:
            yield replace(difference, expected=f"{difference.expected} or {' or '.join(values)}")


def _granted(field: str, latitude: dict[str, Alternative]) -> Alternative | None:
    """The latitude of values that a field falls under."""
    for path, allowed in latitude.items():
        if allowed.any_of is not UNSET and (field == path or field.startswith(f"{path}.")):
            return allowed
    return None


def _at(value: Any, path: str) -> Any:
    for name in path.lstrip(".").split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _renamed(differences: Iterator[Difference | str], prefix: str, name: str) -> Iterator[Difference | str]:
    """Yield the differences with the name of the output instead of its position."""
    for difference in differences:
        if isinstance(difference, str):
            yield name + difference.removeprefix(prefix)
        else:
            yield replace(difference, field=name + difference.field.removeprefix(prefix))
