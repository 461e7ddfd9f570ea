"""Sequence diagram of a failing vector: messages between replicas, and the differences."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from msgspec import UNSET

from kraft_conformance.protocol.unobserved import effect_names
from kraft_conformance.runner.outcome import Outcome
from kraft_conformance.runner.output.results import About
from kraft_conformance.runner.output.wording import output_name, output_words
from kraft_conformance.runner.plain import plain
from kraft_spec.difference import Difference
from kraft_vectors.format import Vector, VectorEvent, VectorStep
from kraft_vectors.texts import counted, event_line, shown_fields

CLIENT = "clients"
"""Lane of the clients."""

_EARLIER_MAX = 4
"""Maximum number of events drawn before the failing step."""


class Mark(Enum):
    """Marking of a row."""

    PLAIN = "plain"
    EARLIER = "earlier"
    FAILING = "failing"
    MISSING = "missing"
    UNEXPECTED = "unexpected"
    DIFFERENT = "different"
    UNSEEN = "unseen"
    WRONG_STATE = "state"


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a diagram."""

    text: str
    mark: Mark = Mark.PLAIN
    source: str | None = None
    """Lane where the arrow begins; None for an event of the replica alone."""
    destination: str | None = None
    margin: str = ""
    """Step that begins here."""
    comments: tuple[str, ...] = ()
    is_gap: bool = False
    """True if it represents omitted rows."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """Sequence diagram."""

    replica: str
    """Lane of the replica under test."""
    peers: tuple[str, ...]
    """Other lanes: replicas by id, clients last."""
    rows: tuple[Row, ...]


def sequence(vector: Vector, outcome: Outcome, about: About) -> Sequence | None:
    """Return the diagram of a failure; None if the installed vector is another one, or no step fails."""
    if outcome.step is None or outcome.step > len(vector.steps):
        return None
    if outcome.step and outcome.event != vector.steps[outcome.step - 1].event:
        return None
    rows = tuple(_rows(vector, outcome, about))
    replica = _lane(vector.replica)
    lanes = {lane for row in rows for lane in (row.source, row.destination) if lane not in (None, replica)}
    peers = sorted((lane for lane in lanes if lane), key=lambda lane: (lane == CLIENT, _number(lane), lane))
    return Sequence(replica, tuple(peers), rows)


def _lane(replica_id: object) -> str:
    return f"replica {replica_id}"


def _number(lane: str) -> int:
    last = lane.rpartition(" ")[2]
    return int(last) if last.isdecimal() else 0


def _rows(vector: Vector, outcome: Outcome, about: About) -> Iterator[Row]:
    failing = outcome.step or 0
    earlier: list[tuple[str, VectorEvent]] = [("", event) for event in vector.history or ()]
    earlier += [(f"step {number}", step) for number, step in enumerate(vector.steps[: max(0, failing - 1)], 1)]
    left = max(0, len(earlier) - _EARLIER_MAX)
    if left:
        yield Row(f"{counted(left, 'earlier event')}", Mark.EARLIER, is_gap=True)
    for margin, event in earlier[left:]:
        yield _happening(vector, event, Mark.EARLIER, margin or "history")
        if isinstance(event, VectorStep):
            yield from _sends(vector, event)
    if not failing:
        text = "the state before the first step differs"
        yield Row(text, Mark.FAILING, margin="begin", comments=_words(outcome.differences))
    else:
        step = vector.steps[failing - 1]
        yield _happening(vector, step, Mark.FAILING, f"step {failing}")
        yield from _Failing(vector, step, outcome, about).rows()
    if remaining := len(vector.steps) - failing:
        yield Row(f"{counted(remaining, 'more step')}, not reached", Mark.EARLIER, is_gap=True)


def _happening(vector: Vector, event: VectorEvent, mark: Mark, margin: str) -> Row:
    """Return the row of a received message, a client's request, or an event of the replica alone."""
    replica = _lane(vector.replica)
    if event.message is not UNSET:
        fields = plain(event.message)
        text, source = f"{fields['type']}: {_message_fields(fields)}", _lane(fields["source"])
        if event.crash is not UNSET:
            text += f"; crashes after {event.crash.completed} of its writes and sends"
        return Row(text, mark, source, replica, margin)
    if event.input is not UNSET and event.input.request is not UNSET:
        fields = {name: value for name, value in plain(event.input).items() if name != "cluster_id"}
        return Row(f"{event.event}: {shown_fields(fields)}", mark, CLIENT, replica, margin)
    return Row(event_line(plain(event)), mark, margin=margin)


def _message_fields(fields: dict[str, Any]) -> str:
    hidden = ("type", "source", "destination", "id", "cluster_id", "correlation_id")
    return shown_fields({name: value for name, value in fields.items() if name not in hidden and value is not None})


def _sends(vector: Vector, step: VectorStep) -> Iterator[Row]:
    """Yield the messages of a step before the failing one, without its writes and timers."""
    for output in map(plain, step.outputs):
        if output["kind"] in ("Send", "Answer"):
            yield _output(vector, output, Mark.EARLIER)


def _output(vector: Vector, effect: dict[str, Any], mark: Mark, comments: tuple[str, ...] = ()) -> Row:
    replica = _lane(vector.replica)
    match effect:
        case {"kind": "Send", "message": {"type": kind, "destination": to}}:
            text = f"{kind}: {_message_fields(effect['message'])}"
            return Row(text, mark, replica, _lane(to), comments=comments)
        case {"kind": "Answer", "reply": dict(reply)}:
            return Row(f"Answer: {shown_fields(reply)}", mark, replica, CLIENT, comments=comments)
        case _:
            return Row(output_words(effect), mark, comments=comments)


class _Failing:
    """The failing step: actual effects in their order, then the missing ones."""

    def __init__(self, vector: Vector, step: VectorStep, outcome: Outcome, about: About) -> None:
        self._vector = vector
        self._step = step
        self._about = about
        self._differences = list(outcome.differences)
        self._actual = [effect for effect in outcome.effects or () if self._is_seen(effect)]

    def _is_seen(self, effect: dict[str, Any]) -> bool:
        kind = effect["kind"]
        names = effect_names(kind, effect.get("timer"))
        return kind in ("Send", "Answer") or (
            self._about.observability != "wire" and not {*names} & {*self._about.unobserved}
        )

    def rows(self) -> Iterator[Row]:
        names = {output_name(effect) for effect in self._actual}
        for effect in self._actual:
            differences = self._about_output(output_name(effect))
            mark = Mark.DIFFERENT if differences else Mark.PLAIN
            if any(difference.expected == "nothing" for difference in differences):
                mark, differences = Mark.UNEXPECTED, ()
            yield _output(self._vector, effect, mark, _words(differences, output_name(effect)))
        for index, output in enumerate(map(plain, self._step.outputs)):
            name = output_name(output)
            if name in names:
                continue
            differences = self._about_output(name)
            if any(difference.actual == "nothing" for difference in differences):
                yield _output(self._vector, output, Mark.MISSING)
            elif differences:
                yield _output(self._vector, output, Mark.DIFFERENT, _words(differences, name))
            else:
                yield _output(self._vector, output, Mark.UNSEEN, (self._why_unseen(index, output),))
        if self._differences:
            of_state = all(difference.field.startswith("state") for difference in self._differences)
            text = "the state after it differs" if of_state else "the state or the refusal differs"
            yield Row(text, Mark.WRONG_STATE, comments=_words(tuple(self._differences)))

    def _about_output(self, name: str) -> tuple[Difference, ...]:
        """Remove and return the differences in an output or in its order."""
        matching = tuple([difference for difference in self._differences if _is_about(difference.field, name)])
        self._differences = [difference for difference in self._differences if difference not in matching]
        return matching

    def _why_unseen(self, index: int, output: dict[str, Any]) -> str:
        if not self._is_seen(output):
            return "not shown at this observability"
        if any(latitude.absent and latitude.path == f"outputs[{index}]" for latitude in self._step.latitude):
            return "may be missing"
        return "already done"


def _is_about(field: str, name: str) -> bool:
    """True if a difference is about an output; an order, `A and B`, is about A, which comes too late."""
    return field == name or field.startswith((f"{name}.", f"{name}[", _order(name)))


def _order(name: str) -> str:
    return f"{name} and "


def _words(differences: tuple[Difference, ...], name: str = "") -> tuple[str, ...]:
    """Return the texts of the differences, without the name of the output."""
    words = []
    for difference in differences:
        if name and difference.field.startswith(_order(name)):
            words.append(f"too late: expected {difference.expected}")
            continue
        field = difference.field.removeprefix(name).lstrip(".") if name else difference.field
        words.append(f"{field}: expected {difference.expected}, actual {difference.actual}".removeprefix(": "))
    return tuple(words)
