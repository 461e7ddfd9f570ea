"""One step of an implementation against what the vector expects of it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from msgspec import UNSET, UnsetType

from kraft_conformance.protocol.unobserved import names_of
from kraft_conformance.runner.plain import Compared, compare, plain, tag_of, text, wrong_order
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
    """The effects of one step, as far as an implementation shows effects at all."""

    def __init__(
        self,
        step: VectorStep | Expected,
        effects: Sequence[TracedEffect],
        observability: Level,
        never_shown: Sequence[str],
        ahead: RequestsAhead | None = None,
    ) -> None:
        """`ahead`: what was sent before the step beyond what was expected; None if nothing can have been."""
        self._ahead = RequestsAhead() if ahead is None else ahead
        self._may = {effect_name(TracedSend(one.message)): one.message for one in step.may_send or ()}
        self._may_start = {f"StartTimer {one.timer}" for one in step.may_start or ()}
        self._latitude = {one.path: one for one in step.latitude}
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

    def compared(self, disk: Disk, log_end_offset: int) -> Compared:
        """The differences."""
        shown = normal_form(self._shown, disk)
        by_name = {effect_name(effect): effect for effect in shown}
        found = [*self._contents(by_name, disk.after(shown)), *self._portions(shown, log_end_offset)]
        found += self._order([effect_name(effect) for effect in shown])
        return Compared.of(found)

    def _contents(self, shown: dict[str, TracedEffect], disk: Disk) -> Iterator[Difference | str]:
        for name, (index, expected) in self._expected.items():
            path = f"outputs[{index}]"
            actual = shown.get(name)
            if isinstance(expected, TracedFlushLog):
                if disk.synced < expected.end_offset:
                    yield Difference(name, f"synced up to {expected.end_offset}", f"synced up to {disk.synced}")
            elif actual is None:
                if not self._may_be_missing(path, expected, disk):
                    yield Difference(name, text(_judged(expected)), "nothing")
            else:
                found = compare(path, plain(expected), plain(actual))
                # The name of a sent message stands for the effect and the message in it.
                prefix = path
                if isinstance(expected, TracedSend):
                    prefix = f"{path}.message"
                    found = _without_bare(found, prefix, expected.message)
                allowed = _renamed(_allowed(found, plain(actual), path, self._latitude), prefix, name)
                yield from _with_an_id_of_its_own(expected, allowed)
                free = self._latitude.get(f"{path}.duration_ms")
                if free is None or not free.free:
                    yield from _at_once(name, expected, actual)
        for name, actual in shown.items():
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
        """Because a rule says so, because the file says it already, or because the same request is out."""
        if isinstance(expected, TracedPersistQuorumState) and holds(disk.file, expected):
            return True
        request = request_of(expected)
        is_out = request is not None and self._ahead.is_out(request)
        return is_out or (path in self._latitude and self._latitude[path].absent)

    def _allowed_request(self, name: str, actual: TracedEffect) -> Iterator[Difference]:
        """A request that may be sent besides: what it shows is held to what such a request says."""
        path = f"{name}.message"
        for one in compare(path, plain(self._may[name]), plain(actual)["message"]):
            if isinstance(one, Difference):
                yield replace(one, field=name + one.field.removeprefix(path))

    def _portions(self, shown: Sequence[TracedEffect], log_end_offset: int) -> Iterator[Difference]:
        """What a log does not have cannot be synced; a write that was done otherwise before is wrong."""
        changes_log = any(isinstance(effect, _OF_THE_LOG) for effect in shown)
        for _, sync, end in syncs_beyond_log(shown, None if changes_log else log_end_offset):
            yield Difference(effect_name(sync), f"at most {end}, {LOG_ENDS}", f"synced up to {sync.end_offset}")
        earlier: dict[str, TracedEffect] = {}
        for effect in shown:
            name = effect_name(effect)
            if name in earlier and name in self._expected and not isinstance(effect, OUTBOUND):
                yield _wrong_before(name, earlier[name], effect, self._expected[name][1])
            earlier[name] = effect

    def _order(self, names: Sequence[str]) -> Iterator[Difference]:
        """A write that is expected here and was done earlier has nothing to wait for."""
        done = {name: place for place, name in enumerate(names)}
        begun = {name: place for place, name in reversed(list(enumerate(names)))}
        return wrong_order(self._pairs, done, begun)


def compared_state(step_path: str, expected: TracedState, actual: TracedState) -> Compared:
    """The differences of two states; `step_path` stands before the name of each field."""
    wanted, given = plain(expected), plain(actual)
    flushed, least, end = given.get("flushed_offset"), wanted.get("flushed_offset"), wanted.get("log_end_offset")
    if None not in (flushed, least, end) and least <= flushed <= end:
        wanted["flushed_offset"] = flushed
    return Compared.of(_renamed(compare("state", wanted, given), "state", step_path))


def sends_besides(step: VectorStep, effects: Sequence[TracedEffect]) -> bool:
    """Is among the effects a request that the step lets come on top of what it expects?"""
    may = {effect_name(TracedSend(one.message)) for one in step.may_send or ()}
    return any(effect_name(effect) in may for effect in effects)


def compared_refusal(
    expected: StrEnum | None, actual: StrEnum | UnsetType | None, *, besides: bool = False
) -> tuple[Difference, ...]:
    """The difference of two reasons, of either subject; one that is not given is not judged.

    Nor is it that nothing is due where something is sent that may come on top: for that implementation it is due.
    """
    if actual is UNSET or actual == expected or (besides and expected is Refusal.NOTHING_DUE):
        return ()
    return (Difference("refusal", text(expected), text(actual)),)


def effect_name(effect: TracedEffect) -> str:
    """What tells the outputs of one step apart: there is one of each at most."""
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
    """A write that another one of its kind follows, and that is neither a portion of it nor the same."""
    match before, after, expected:
        case TracedAppendRecords(base_offset, records), TracedAppendRecords(), _:
            wanted = base_offset + len(records)
            return Difference(name, f"records from {wanted} on", f"records at {after.base_offset}")
        case TracedTruncateLog(end_offset), _, TracedTruncateLog():
            return Difference(name, f"a cut at {expected.end_offset}", f"a cut at {end_offset} before that")
        case _:
            return Difference(name, text(plain(expected)), f"{text(plain(before))} before that")


def _at_once(name: str, expected: TracedEffect, actual: TracedEffect) -> Iterator[Difference]:
    """Of a duration only whether there is any is judged: a preferred candidate campaigns at once."""
    if not isinstance(expected, TracedStartTimer) or not isinstance(actual, TracedStartTimer):
        return
    if (expected.duration_ms == 0) != (actual.duration_ms == 0):
        wanted = "0" if expected.duration_ms == 0 else "more than 0"
        yield Difference(f"{name}.duration_ms", wanted, str(actual.duration_ms))


def _with_an_id_of_its_own(expected: TracedEffect, found: Iterator[Difference | str]) -> Iterator[Difference | str]:
    """A request whose id is not the drawn one, which stands for any that is new, has the id of another one."""
    for one in found:
        if isinstance(one, Difference) and one.field.endswith(".correlation_id") and request_of(expected) is not None:
            yield replace(one, expected="an id that no other open request to this receiver has")
        else:
            yield one


def _without_bare(
    found: Iterator[Difference | str], prefix: str, response: TracedMessage
) -> Iterator[Difference | str]:
    """What is found, without the fields left out that the response has no place for."""
    for one in found:
        if not isinstance(one, str) or has_place(response, one.removeprefix(f"{prefix}.")):
            yield one


def _judged(effect: TracedEffect) -> Any:
    shown = plain(effect)
    shown.pop("duration_ms", None)
    return shown


def _allowed(
    found: Iterator[Difference | str], actual: Any, root: str, latitude: dict[str, Alternative]
) -> Iterator[Difference | str]:
    """What is found, without what a latitude allows for the field or for what it is a part of."""
    for one in found:
        granted = None if isinstance(one, str) else _granted(one.field, latitude)
        if isinstance(one, str) or granted is None:
            yield one
            continue
        values = [text(value) for value in granted.any_of or ()]
        if text(_at(actual, granted.path.removeprefix(root))) not in values:
            yield replace(one, expected=f"{one.expected} or {' or '.join(values)}")


def _granted(field: str, latitude: dict[str, Alternative]) -> Alternative | None:
    """The latitude of values that a field falls under."""
    for path, one in latitude.items():
        if one.any_of is not UNSET and (field == path or field.startswith(f"{path}.")):
            return one
    return None


def _at(value: Any, path: str) -> Any:
    for name in path.lstrip(".").split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _renamed(found: Iterator[Difference | str], prefix: str, name: str) -> Iterator[Difference | str]:
    """Paths as a reader wants them: the name of the output in place of its position."""
    for one in found:
        if isinstance(one, str):
            yield name + one.removeprefix(prefix)
        else:
            yield replace(one, field=name + one.field.removeprefix(prefix))
