"""The recorded run as a trace, and TLC's verdict on it."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib.metadata import version

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.random_runs.running import Recorded, RunSpec
from kraft_conformance.random_runs.table import Table
from kraft_reference.configuration import Configuration
from kraft_spec.fingerprint import spec_hash
from kraft_traces.check import Rejection, Verdict
from kraft_traces.check.run import check_lines
from kraft_traces.encode import encode_line, header_line
from kraft_traces.lines import EndLine, EventLine, Generator

GENERATOR_NAME = "kraft-spec-random"
"""Not the reference's generator name, because these traces omit what adapters hide."""


def trace_of(table: Table, spec: RunSpec, recorded: Recorded) -> Iterator[bytes]:
    """Return the lines of the trace of a run; the same run gives the same bytes."""
    generator = Generator(GENERATOR_NAME, version("kraft-spec"), spec.seed, spec.preset.name)
    return trace_with(table, spec.configuration, generator, recorded.lines, is_whole=recorded.is_whole)


def trace_with(
    table: Table,
    configuration: Configuration,
    generator: Generator,
    lines: Sequence[EventLine],
    *,
    is_whole: bool,
    switched_off: Collection[str] = (),
) -> Iterator[bytes]:
    """Return the lines of a trace of these adapters, whose header names the omitted rules."""
    header = header_line(
        configuration, generator, spec_hash=spec_hash(), kip_levels=table.kip_levels(), switched_off=switched_off
    )
    yield encode_line(header)
    yield from map(encode_line, lines)
    yield encode_line(EndLine(len(lines), is_whole))


def verdict_on(
    configuration: Configuration, lines: Iterable[EventLine], source: str, switched_off: Collection[str] = ()
) -> Verdict:
    """Check the lines of a run against the model with the mutants that omit these rules."""
    return check_lines(lines, configuration, source, own=False, switched_off=switched_off)


def explain_rejection(configuration: Configuration, recorded: Recorded, source: str) -> Rejection | None:
    """Return why the model rejects the first step that differs; None if it does not check those fields."""
    notes = recorded.notes
    if notes.first is None or not notes.first.sequence or recorded.until_known < notes.first.sequence:
        return None
    *before, last = recorded.lines[: notes.first.sequence]
    if last.effects is UNSET and notes.explaining is not None:
        last = replace(last, effects=notes.explaining)
    return verdict_on(configuration, (*before, last), source).rejection
