"""The first line of a trace and the last, with one field altered.

What a header says is no step of the model, so it shows as soon as a line depends on it, or never.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from io import BytesIO

from kraft_dev.detectors.alterations import Notice, altered_row, notice_of
from kraft_dev.detectors.places import (
    END,
    HEADER,
    Document,
    FieldPath,
    FieldPlace,
    declared_fields,
    document_of,
    fields_there,
    shown_field,
)
from kraft_dev.results import Row
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.simulation import Simulation
from kraft_reference.configuration import Configuration
from kraft_reference.scenarios import scenario
from kraft_spec.experiments.playing import play
from kraft_spec.experiments.replicas import replicas_without
from kraft_spec.fingerprint import spec_hash
from kraft_traces.check import VerdictKind, check_reader
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.errors import TraceError
from kraft_traces.lines import EndLine, Generator
from kraft_traces.own import own_generator
from kraft_traces.reader import TraceReader

STEPS = 400
_PLANS = (
    RunPlan(0, steps=STEPS, workload="elections", switched_off=("hw.monotonic",)),
    RunPlan(1, steps=STEPS, workload="chaos"),
    RunPlan(0, steps=STEPS, workload="observers"),
    RunPlan(2, steps=STEPS, workload="static-voters"),
    # A voter that voted for itself, follows the winner and restarts.
    RunPlan(3, steps=STEPS, workload="storm"),
    # A message to a voter that has lost its disk.
    RunPlan(2, steps=STEPS, workload="storm"),
    # A diverging Fetch of a log that is longer than the leader's, and has nothing of the epoch that it is told.
    RunPlan(10, steps=STEPS, workload="storm"),
    # A diverging Fetch that does not complete a majority, so that it shows who was counted.
    RunPlan(1, replicas=5, steps=STEPS, workload="storm"),
    # Replicas that join by themselves, and such that were formatted without a list.
    RunPlan(0, steps=STEPS, workload="auto-join"),
)
_SCENARIOS = (
    # A request between the append of a level and its commit.
    "s17-kraft-version-upgrade/right-gate",
    # A candidate asks who knows it for no voter.
    "s23-votes-of-non-voters/right",
)
_ABOUT_THE_WRITER = ("generator", "kip_levels", "timeouts")
"""Tried in one trace only: nothing that happens depends on them."""
_VALUES_MAX = 3
"""Of a field of the header so many other values are tried: each costs the check of a whole trace."""


class _Trace:
    """A trace that can be written once more with another first or last line."""

    def __init__(
        self,
        name: str,
        configuration: Configuration,
        occurrences: Iterable[Occurrence],
        generator: Generator,
        switched_off: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.events = [encode_line(event_line(one)) for one in occurrences]
        self.header = document_of(
            header_line(configuration, generator, spec_hash=spec_hash(), switched_off=switched_off)
        )
        self.end = document_of(EndLine(len(self.events), True))

    def look(self, line: str, altered: Document) -> Notice | None:
        """What notices another header or end; None if nothing does."""
        header, end = (altered, self.end) if line == "header" else (self.header, altered)
        raw = [json.dumps(header).encode() + b"\n", *self.events, json.dumps(end).encode() + b"\n"]
        try:
            verdict = check_reader(TraceReader(BytesIO(b"".join(raw)), "trace"))
        except TraceError as error:
            return notice_of(error)
        if verdict.rejection is not None:
            detector, names = notice_of(verdict.rejection)
            return detector, tuple(f"line {verdict.rejection.line} {name}" for name in names)
        if verdict.kind is VerdictKind.INCONCLUSIVE:
            return "checker", (f"inconclusive: {verdict.reason}",)
        return ("checker", ("written for another model",)) if verdict.other_model else None


def _with_own_answers(configuration: Configuration) -> Configuration:
    """The same cluster, whose answers to the open points have no name, so that the header has every field."""
    return replace(configuration, profile=replace(configuration.profile, name="own-answers"))


def _with_own_lists(configuration: Configuration) -> Configuration:
    """The same cluster, of which each replica says what it was formatted with."""
    replicas = {
        replica_id: one if one.initial_voters is not None else replace(one, initial_voters=configuration.voters)
        for replica_id, one in configuration.replicas.items()
    }
    return replace(configuration, replicas=replicas)


def _simulated(plan: RunPlan) -> _Trace:
    preset = plan.preset()
    configuration = _with_own_answers(plan.configuration())
    if preset.auto_join:
        configuration = _with_own_lists(configuration)
    make_replica = replicas_without(plan.switched_off)
    simulation = Simulation(
        configuration, plan.seed, preset.workload, preset.faults, steps=plan.steps, make_replica=make_replica
    )
    generator = own_generator(seed=plan.seed, workload=plan.workload)
    name = f"{plan.workload}, seed {plan.seed}, {plan.replicas} voters"
    return _Trace(name, configuration, simulation.run(), generator, plan.switched_off)


def _played(name: str) -> _Trace:
    scenario_name, _, variant_name = name.partition("/")
    found = scenario(scenario_name)
    played = play(found, found.variant(variant_name))
    return _Trace(f"scenario {name}", _with_own_answers(played.configuration), played.occurrences, own_generator())


def altered_ends(on_row: Callable[[Row], None]) -> dict[str, Row]:
    """Alter each field of the header and of the end line, one at a time."""
    found: dict[str, Row] = {}
    traces = [*map(_simulated, _PLANS), *map(_played, _SCENARIOS)]
    for number, trace in enumerate(traces):
        for line, place in _places(trace):
            name = _name(line, place.field)
            if name in found and (found[name].is_detected or place.field[0] in _ABOUT_THE_WRITER):
                continue
            document = trace.header if line == "header" else trace.end
            row = altered_row(name, trace.name, document, place, partial(trace.look, line), most=_VALUES_MAX)
            if row is not None:
                found[name] = row
                if row.is_detected or number == len(traces) - 1:
                    on_row(row)
    return found


def fields_of_ends() -> tuple[str, ...]:
    """The fields of the header and of the end line."""
    of_header = [_name("header", field) for field in declared_fields(HEADER)]
    return (*of_header, *(_name("end", field) for field in declared_fields(END)))


def _places(trace: _Trace) -> Iterator[tuple[str, FieldPlace]]:
    yield from (("header", place) for place in fields_there(trace.header, HEADER))
    yield from (("end", place) for place in fields_there(trace.end, END))


def _name(line: str, field: FieldPath) -> str:
    return f"{line}: {shown_field(field)}"
