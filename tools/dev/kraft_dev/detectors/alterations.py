"""Altered traces: a run of the reference whose lines are right, except that one field once says something else.

Each field of an event line is altered, to the nearest other value its type allows, on the first line where the reader
or the checker cannot but notice it; and what they say must point at that line.
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
from kraft_dev.results import Cell, Row, one_line
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
"""So many alterations of a field may go by before another run is looked at."""

_VALUE_MAX = 40

Notice = tuple[str, tuple[str, ...]]
"""What notices an alteration ("reader", "checker", "property"), and the fields or properties that it names."""


def notice_of(outcome: TraceError | Rejection) -> Notice:
    """Of an error of the reader, or a rejection."""
    if isinstance(outcome, TraceError):
        return "reader", ((outcome.field or outcome.code).removeprefix("$."),)
    if outcome.kind is RejectionKind.PROPERTY:
        return "property", outcome.properties
    if outcome.differences:
        return "checker", tuple(dict.fromkeys(one.field for one in outcome.differences))
    conjunct = "" if outcome.conjunct is None else f": {' '.join(outcome.conjunct.text.split())}"
    return "checker", (f"{outcome.event} is not possible{conjunct}",)


def altered_row(
    name: str,
    where: str,
    document: Document,
    place: FieldPlace,
    look: Callable[[Document], Notice | None],
    *,
    gone_by: int = 0,
    most: int | None = None,
) -> Row | None:
    """A field with the nearest value that is noticed, or with one that is not; None if there is no other value.

    Args:
        name: Of the field.
        where: The run and the line.
        document: The line.
        place: Where the field stands in it.
        look: What notices the altered line.
        gone_by: Alterations before these, which nothing noticed.
        most: How many values are tried.
    """
    said: Any = document
    for step in place.path:
        said = said[step]
    row: Row | None = None
    for says in list(other_values(place.kind, said, place.removable))[:most]:
        noticed = look(with_value(document, place.path, says))
        change = f"{_shown(said)} -> {_shown(says)}"
        if noticed is not None:
            return Row(name, change=change, cells=(Cell(noticed[0], True, "", where, gone_by, names=noticed[1]),))
        gone_by += 1
        row = Row(name, change=change, cells=(Cell("nothing", where=where, amount=gone_by),))
    return row


def _shown(value: Any) -> str:
    return "(left out)" if value is ABSENT else one_line(json.dumps(value, ensure_ascii=False), _VALUE_MAX)


@dataclass(frozen=True, slots=True)
class _Run:
    name: str
    configuration: Configuration
    lines: tuple[EventLine, ...]


class Prefix:
    """A trace of the reference up to some line, and what an altered version of the next line comes to."""

    def __init__(self, configuration: Configuration, lines: Sequence[EventLine]) -> None:
        """Begin before the first line."""
        self._configuration, self._lines = configuration, lines
        self._begin()

    def _begin(self) -> None:
        header = encode_line(header_line(self._configuration, own_generator()))
        self.checker = TraceChecker(trace_model(), self._configuration, "trace", own=True)
        self._continuity = Continuity(parse_header(header, "trace"), "trace")
        self._taken = 0

    def proceed(self) -> None:
        """Take the next line as it is."""
        line = self._lines[self._taken]
        self._taken += 1
        self._continuity.follow(line, self._taken + 1)
        if self.checker.feed(self._taken + 1, line) is not None:
            raise AssertionError(f"the reference is rejected at line {self._taken + 1}")

    def outcome(self, raw: bytes) -> TraceError | Rejection | None:
        """The error or the rejection; None if neither, after which the prefix is of no more use."""
        number = self._taken + 2
        try:
            line = parse_line(raw, "trace", number)
            assert isinstance(line, EventLine)
            deepcopy(self._continuity).follow(line, number)
        except TraceError as error:
            return error
        return self.checker.feed(number, line)

    def look(self, document: Document) -> Notice | None:
        """What notices the next line if it reads like this; None if nothing does."""
        found = self.outcome(json.dumps(document).encode() + b"\n")
        if found is not None:
            return notice_of(found)
        # The checker has taken the altered line: bring another one here.
        taken = self._taken
        self._begin()
        for _ in range(taken):
            self.proceed()
        return None


def _runs() -> Iterator[_Run]:
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
        played = play(found, found.variant(variant_name))
        yield _Run(f"scenario {name}", played.configuration, tuple(map(event_line, played.occurrences)))


def altered_events(wanted: Sequence[FieldPath], on_row: Callable[[Row], None]) -> dict[str, Row]:
    """Alter each of these fields of an event line; one that no run has is left out."""
    gone_by = dict.fromkeys(wanted, 0)
    found: dict[str, Row] = {}
    for run in _runs():
        if not gone_by:
            break
        prefix = Prefix(run.configuration, run.lines)
        for number, line in enumerate(run.lines, 2):
            document = document_of(line)
            for place in fields_there(document, EVENT):
                field = place.field
                if field not in gone_by or gone_by[field] >= PLACES_MAX:
                    continue
                name, where = shown_field(field), f"{run.name}, line {number}"
                row = altered_row(name, where, document, place, prefix.look, gone_by=gone_by[field])
                if row is None:
                    continue
                found[name] = row
                if row.is_detected:
                    del gone_by[field]
                    on_row(row)
                else:
                    gone_by[field] = row.cells[0].amount
            if not gone_by:
                break
            prefix.proceed()
    return found
