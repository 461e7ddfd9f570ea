"""The compiled model against TLC, which interprets the same modules: do they say the same of every line?

Right lines must lead both to the same state.
Of a wrong line the compiled model must not say that it is right: it leaves lines to TLC, and rejects none.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from kraft_dev.detectors.places import EVENT, fields_there, other_values, with_value
from kraft_dev.matrix.runner import runner
from kraft_dev.matrix.subjects import seeded_subjects
from kraft_dev.matrix.tools import BOTH_WAYS
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.workload import WORKLOADS
from kraft_spec.compiled.checks import compiled_check
from kraft_spec.models import Way as ModelWay
from kraft_spec.models import checks_of, model_directory, run_check
from kraft_spec.tlc.model_check import ModelCheckOptions, check_model
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome
from kraft_traces.check import Verdict, check_occurrences, check_reader
from kraft_traces.check.fast_path import BOTH, CompiledModelError, Sample, Way
from kraft_traces.errors import TraceError
from kraft_traces.own import own_generator
from kraft_traces.reader import open_trace, trace_of_bytes
from kraft_traces.writer import trace_bytes

_STEPS = 300
"""Of a simulated run."""

_STEPS_BEFORE_ALTERED = 100
"""Of one of which lines are altered: what comes before such a line is checked each time."""

_ALTERED = 40
"""So many lines of a run are altered, one at a time."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """What was compared, and where the two disagree.

    Attributes:
        name: Of the kind of lines.
        lines: How many were put to the compiled model.
        taken: How many it said are right; of altered lines TLC was asked of these alone.
        disagreements: In words.
    """

    name: str
    lines: int
    taken: int
    disagreements: tuple[str, ...]


def in_traces(files: Iterable[Path]) -> Agreement:
    """Every line of recorded traces."""

    def check(file: Path) -> Verdict:
        with open_trace(file) as reader:
            return check_reader(reader, way=BOTH)

    return _of_checks("recorded traces", (partial(check, file) for file in files))


def _of_checks(name: str, checks: Iterable[Callable[[], Verdict]]) -> Agreement:
    """What whole traces come to; one of another format, or wrong in itself, says nothing."""
    lines = taken = 0
    found: list[str] = []
    for check in checks:
        with suppress(TraceError):
            try:
                verdict = check()
                lines, taken = lines + verdict.events, taken + verdict.compiled
            except CompiledModelError as error:
                found.append(str(error))
    return Agreement(name, lines, taken, tuple(found))


def plans(seed: int, steps: int) -> Iterator[RunPlan]:
    """Runs of all workloads in turn, under both profiles, without end."""
    random = Random(seed)
    while True:
        for workload in sorted(WORKLOADS):
            for profile in ("kip", "kafka-4"):
                replicas = random.choice((3, 3, 4, 5))
                yield RunPlan(
                    random.randrange(2**31), replicas=replicas, steps=steps, workload=workload, profile=profile
                )


def in_runs(number: int, seed: int, on_run: Callable[[], None]) -> Agreement:
    """Every line of seeded runs."""

    def check(plan: RunPlan) -> Verdict:
        simulation = plan.simulation()
        on_run()
        return check_occurrences(simulation.run(), simulation.configuration, plan.command_line(), way=BOTH)

    return _of_checks("seeded runs", (partial(check, plan) for plan in islice(plans(seed, _STEPS), number)))


def in_altered_lines(number: int, seed: int, on_run: Callable[[], None]) -> Agreement:
    """Lines of seeded runs with one value changed, left out or added: TLC, too, must accept what is accepted."""
    random = Random(seed)
    lines = taken = 0
    found: list[str] = []
    for plan in plans(seed, _STEPS_BEFORE_ALTERED):
        if lines >= number:
            break
        simulation = plan.simulation()
        trace = trace_bytes(simulation.run(), simulation.configuration, own_generator(plan.seed))
        header, *events = trace if random.random() < 0.5 else of_other_software(trace, random)
        for place in sorted(random.sample(range(len(events) - 1), min(_ALTERED, len(events) - 1))):
            lines += 1
            content = b"".join((header, *events[:place], altered(events[place], random)))
            try:
                verdict = check_reader(trace_of_bytes(content), way=Way(Sample(place + 1, place + 1)))
                taken += verdict.compiled > place
            except TraceError:
                continue
            except CompiledModelError as error:
                found.append(f"{plan.command_line()}: {error}")
        on_run()
    return Agreement("altered lines", lines, taken, tuple(found))


def in_graph() -> Agreement:
    """Every edge of the complete state graph that the replay of edges walks: see `kraft_dev.edges`."""
    folder = model_directory()
    options = ModelCheckOptions(check_deadlock=False, compiled=compiled_check(folder, "Edges", "Edges"), both=True)
    return _of_states("edges of the graph", [check_model(folder, "Edges", options=options)])


def in_slices() -> Agreement:
    """Every step of the slices of the ci group that the compiled model is asked about."""
    asked = [check for check in checks_of("ci") if not (check.violates or check.configuration.specification)]
    return _of_states("steps of slices", [run_check(check, way=ModelWay.BOTH).report for check in asked])


def _of_states(name: str, reports: Sequence[ModelCheckReport]) -> Agreement:
    steps = sum(one.progress.states_generated for one in reports)
    found = tuple(one.message for one in reports if one.outcome is not Outcome.OK)
    return Agreement(name, steps, steps, found)


def in_mutants(jobs: int) -> Agreement:
    """The verdicts on runs of every seeded mutant of the reference."""
    with runner(None, lambda _: None) as asked:
        rows = asked.rows(seeded_subjects(), (BOTH_WAYS,), jobs=jobs)
    cells = [(row.name, cell) for row in rows for cell in row.cells]
    found = tuple(f"{name}: {cell.where}: {cell.what}" for name, cell in cells if cell.detects)
    lines = sum(cell.amount for _, cell in cells)
    return Agreement("seeded mutants", lines, lines, found)


LEFT_OUT: tuple[Mapping[str, tuple[str, ...]], ...] = (
    {},
    {"state": ("awaiting", "fetchers", "flushed_offset")},
    {"line": ("time_ms", "cause"), "message": ("leader_endpoint",)},
    {"line": ("state",)},
    {"line": ("refusal",), "message": ("cluster_id",)},
)
"""Fields that other software may leave out together: of lines, of states, of messages."""


def of_other_software(lines: Iterable[bytes], random: Random) -> Iterator[bytes]:
    """A trace of ours as other software might write it: correlation ids of its own, some fields left out."""
    left_out, first = random.choice(LEFT_OUT), random.randrange(10**6)
    known: dict[tuple[int, int, int], int] = {}

    def renumbered(asker: int, asked: int, number: int) -> int:
        return known.setdefault((asker, asked, number), first + len(known))

    def rewritten(message: dict[str, Any]) -> None:
        ends = message["source"], message["destination"]
        asker, asked = ends if message["type"].endswith("Request") else ends[::-1]
        message["correlation_id"] = renumbered(asker, asked, message["correlation_id"])
        _leave_out(message, left_out.get("message", ()))

    for raw in lines:
        line = json.loads(raw)
        if line["kind"] == "header":
            line["generator"]["name"] = "other-software"
        if line["kind"] == "event":
            sent = [effect["message"] for effect in line.get("effects", ()) if effect["kind"] == "Send"]
            for message in (*sent, *(line[name] for name in ("message", "answer") if name in line)):
                rewritten(message)
            state = line.get("state")
            if state is not None:
                awaited = state["awaiting"] or ()
                state["awaiting"] = [[to, renumbered(line["replica"], to, number)] for to, number in awaited]
                pending = state["pending_change"]
                if pending is not None and isinstance(pending["requester"], int):
                    pending["request"] = renumbered(pending["requester"], line["replica"], pending["request"])
                _leave_out(state, left_out.get("state", ()))
            _leave_out(line, left_out.get("line", ()))
        yield json.dumps(line).encode() + b"\n"


def _leave_out(fields: dict[str, Any], names: Iterable[str]) -> None:
    for name in names:
        fields.pop(name, None)


def altered(line: bytes, random: Random) -> bytes:
    """A line with one value changed to another that its type allows, left out, or added."""
    document = json.loads(line)
    places = list(fields_there(document, EVENT))
    while True:
        place = random.choice(places)
        said: Any = document
        for step in place.path:
            said = said[step]
        if values := list(other_values(place.kind, said, place.removable)):
            return json.dumps(with_value(document, place.path, random.choice(values))).encode() + b"\n"
