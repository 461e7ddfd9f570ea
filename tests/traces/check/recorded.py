"""Traces for the tests of the checker: recorded from the reference, as bytes, and checked from bytes."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from io import BytesIO

from kraft_mutants.playing import play
from kraft_reference.configuration import Configuration
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.plan import RunPlan
from kraft_simulation.scenarios import scenario
from kraft_traces.check import CANDIDATES_MAX, Verdict, check_reader
from kraft_traces.check.fast_path import BOTH, COMPILED, INTERPRETED, Way
from kraft_traces.check.model import trace_model
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.lines import EndLine, EventLine, Generator
from kraft_traces.own import own_generator
from kraft_traces.reader import TraceReader


class Recorded:
    """A trace in memory.

    Attributes:
        configuration: the cluster.
        lines: the event lines; their bytes are made when the trace is read.
    """

    def __init__(self, configuration: Configuration, occurrences: Iterable[Occurrence]) -> None:
        self.configuration = configuration
        self.lines: tuple[EventLine, ...] = tuple(event_line(occurrence) for occurrence in occurrences)

    @property
    def raw(self) -> list[bytes]:
        """The bytes of the event lines."""
        return [encode_line(line) for line in self.lines]

    def header(self, generator: Generator | None = None) -> bytes:
        """The bytes of the header."""
        return encode_line(header_line(self.configuration, generator or own_generator()))


@cache
def recorded(name: str, seed: int = 0, steps: int = 300, replicas: int = 3) -> Recorded:
    """The trace of a workload, whose liveness phase adds a few events to `steps`, or of a `scenario/variant`."""
    if "/" in name:
        of, _, variant = name.partition("/")
        outcome = play(scenario(of), scenario(of).variant(variant))
        return Recorded(outcome.configuration, outcome.occurrences)
    simulation = RunPlan(seed, replicas=replicas, steps=steps, workload=name).simulation()
    trace = Recorded(simulation.configuration, simulation.run())
    assert simulation.violation is None
    return trace


def verdict_on(
    header: bytes,
    raw: Iterable[bytes],
    *,
    ending: bytes | None = None,
    candidates_max: int = CANDIDATES_MAX,
    every: int = 100,
    source: str = "trace",
    way: Way = COMPILED,
) -> Verdict:
    """The verdict on a trace of these lines; `ending` replaces the end line that says it is complete."""
    lines = list(raw)
    end = encode_line(EndLine(len(lines), True)) if ending is None else ending
    reader = TraceReader(BytesIO(b"".join([header, *lines, end])), source)
    return check_reader(reader, every=every, candidates_max=candidates_max, way=way)


def verdict_on_every_way(header: bytes, raw: Iterable[bytes]) -> Verdict:
    """The verdict of the compiled model, of TLC alone, and of both, which are the same."""
    assert trace_model().compiled_lines(make=True) is not None
    lines = list(raw)
    verdict, *other_verdicts = [
        replace(verdict_on(header, lines, way=way), compiled=0, both=0) for way in (COMPILED, INTERPRETED, BOTH)
    ]
    assert other_verdicts == [verdict, verdict]
    return verdict
