"""Lying traces: a run of the reference whose lines are right, except that one field once says something else.

Each field of each line type is made to lie, with the nearest other value its type allows, on the first line where the
reader or the checker cannot but see it; and what they say must point at that line.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from typing import Any

from kraft_dev.detectors.places import (
    ABSENT,
    EVENT,
    Document,
    FieldPath,
    FieldPlace,
    document_of,
    fields_there,
    other_values,
    shown_field,
    with_value,
)
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.configuration import Configuration
from kraft_reference.scenarios import scenario
from kraft_spec.experiments.playing import play
from kraft_traces.check import Rejection, RejectionKind, TraceChecker
from kraft_traces.check.model import trace_model
from kraft_traces.continuity import Continuity
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.errors import TraceError
from kraft_traces.lines import EventLine
from kraft_traces.own import own_generator
from kraft_traces.parsing import parse_header, parse_line

STEPS = 150
LONG_STEPS = 500
_RARE = (
    # A snapshot is fetched while a reassignment is under way.
    (12, "reassignments"),
)
"""Seeds and workloads with what the first seeds do not have."""
_SCENARIOS = (
    # A replica that joins by itself is in the set with the disk that it had before: it asks for its own removal.
    "s4-disk-failure/right-auto-join",
)
PLACES_MAX = 6
"""On so many lines a field may lie unseen before another run is looked at."""


@dataclass(frozen=True, slots=True)
class Lie:
    """A field that lied.

    Attributes:
        field: As `shown_field` gives it.
        run: The run, and the line that lies.
        said: What the reference wrote.
        says: What the line says instead.
        seen_by: "reader", "checker", "property"; empty if nobody saw it.
        names: The fields that the error or the rejection names, or the violated properties.
        direct: Whether it names the field itself, or what the field is part of or consists of.
        unseen: How many nearer values, or earlier lines, nobody saw.
    """

    field: str
    run: str
    said: str
    says: str
    seen_by: str = ""
    names: tuple[str, ...] = ()
    direct: bool = False
    unseen: int = 0


@dataclass(frozen=True, slots=True)
class _Run:
    name: str
    configuration: Configuration
    lines: tuple[EventLine, ...]


class _Probe:
    """A trace up to some line, and what an altered version of the next line comes to."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._begin()

    def _begin(self) -> None:
        configuration = self._run.configuration
        header = encode_line(header_line(configuration, own_generator()))
        self._checker = TraceChecker(trace_model(), configuration, "trace", own=True)
        self._continuity = Continuity(parse_header(header, "trace"), "trace")
        self._taken = 0

    def proceed(self) -> None:
        """Take the next line as it is."""
        line = self._run.lines[self._taken]
        self._taken += 1
        self._continuity.follow(line, self._taken + 1)
        if self._checker.feed(self._taken + 1, line) is not None:
            raise AssertionError(f"{self._run.name}: the reference is rejected at line {self._taken + 1}")

    def outcome(self, document: Document) -> TraceError | Rejection | None:
        """What the next line comes to if it reads like this; None if nobody sees anything."""
        number = self._taken + 2
        try:
            line = parse_line(json.dumps(document).encode() + b"\n", "trace", number)
            assert isinstance(line, EventLine)
            deepcopy(self._continuity).follow(line, number)
        except TraceError as error:
            return error
        rejection = self._checker.feed(number, line)
        if rejection is None:
            # The checker has taken the lie for the truth: bring another one here.
            taken = self._taken
            self._begin()
            for _ in range(taken):
                self.proceed()
        return rejection


def runs() -> Iterator[_Run]:
    """Runs of the reference, as many as are asked for."""
    # Of three voters one follower completes a majority: only a larger quorum counts who fetched so far.
    for seed, workload in (*product(range(6), sorted(WORKLOADS)), *_RARE):
        # What takes long to come about is looked for only after the rest.
        steps = STEPS if seed < 2 else LONG_STEPS
        plan = RunPlan(seed, replicas=5 if seed % 2 else 3, steps=steps, workload=workload)
        simulation = plan.simulation()
        lines = tuple(event_line(one) for one in simulation.run())
        yield _Run(f"{workload}, seed {seed}, {plan.replicas} voters", simulation.configuration, lines[:steps])
    for name in _SCENARIOS:
        scenario_name, _, variant_name = name.partition("/")
        found = scenario(scenario_name)
        told = play(found, found.variant(variant_name))
        yield _Run(f"scenario {name}", told.configuration, tuple(map(event_line, told.occurrences)))


def lies_of_events(wanted: Sequence[FieldPath], on_field: Callable[[Lie], None] | None = None) -> dict[FieldPath, Lie]:
    """Make each of these fields of an event line lie; one that no run has is left out, a lie unseen has no seer."""
    say = on_field or (lambda _: None)
    open_fields = dict.fromkeys(wanted, 0)
    found: dict[FieldPath, Lie] = {}
    for run in runs():
        if not open_fields:
            break
        probe = _Probe(run)
        for number, line in enumerate(run.lines, 2):
            document = document_of(line)
            for place in fields_there(document, EVENT):
                if place.field not in open_fields or open_fields[place.field] >= PLACES_MAX:
                    continue
                lie = _lie(probe, run.name, number, document, place, open_fields[place.field])
                if lie is None:
                    continue
                found[place.field] = lie
                if lie.seen_by:
                    del open_fields[place.field]
                    say(lie)
                else:
                    open_fields[place.field] = lie.unseen
            if not open_fields:
                break
            probe.proceed()
    return found


def _lie(probe: _Probe, run: str, number: int, document: Document, place: FieldPlace, unseen: int) -> Lie | None:
    """The nearest value that somebody sees; one that nobody sees if there is none; None if there is no other value."""
    said = value_at(document, place.path)
    lie: Lie | None = None
    for says in other_values(place.kind, said, place.removable):
        outcome = probe.outcome(with_value(document, place.path, says))
        lie = Lie(
            shown_field(place.field), f"{run}, line {number}", shown_value(said), shown_value(says), unseen=unseen
        )
        if outcome is not None:
            seen_by, names = seen(outcome)
            own = _dotted(place.path)
            direct = any(is_part(own, name) for name in names)
            return Lie(lie.field, lie.run, lie.said, lie.says, seen_by, names, direct, unseen)
        unseen += 1
    return None if lie is None else Lie(lie.field, lie.run, lie.said, lie.says, unseen=unseen)


def seen(outcome: TraceError | Rejection) -> tuple[str, tuple[str, ...]]:
    """Who saw it, and what they name."""
    if isinstance(outcome, TraceError):
        return "reader", ((outcome.field or outcome.code).removeprefix("$."),)
    if outcome.kind is RejectionKind.PROPERTY:
        return "property", outcome.properties
    if outcome.differences:
        return "checker", tuple(dict.fromkeys(one.field for one in outcome.differences))
    conjunct = "" if outcome.conjunct is None else " ".join(outcome.conjunct.text.split())
    return "checker", (
        f"{outcome.event} is not possible: {conjunct}" if conjunct else f"{outcome.event} is not possible",
    )


def is_part(own: str, named: str) -> bool:
    """Is one of the two fields the other, or inside of it?"""
    named = named.replace("[", ".").replace("]", "")
    return own == named or own.startswith(f"{named}.") or named.startswith(f"{own}.")


def _dotted(path: tuple[str | int, ...]) -> str:
    return ".".join(map(str, path))


def value_at(document: Document, path: tuple[str | int, ...]) -> Any:
    """The value at a place of a line."""
    value: Any = document
    for step in path:
        value = value[step]
    return value


_TEXT_MAX = 40


def shown_value(value: Any) -> str:
    """A value as the table shows it."""
    text = "(left out)" if value is ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _TEXT_MAX else f"{text[: _TEXT_MAX - 1]}…"
