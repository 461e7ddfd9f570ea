"""Checking whole traces: from a reader to a verdict, and the shortest failing prefix of a rejected one."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from msgspec import UNSET, UnsetType

from kraft_mutants import omittable_rules
from kraft_reference.configuration import Configuration
from kraft_simulation.occurrence import Occurrence
from kraft_spec.edits import EditError
from kraft_spec.fingerprint import spec_hash
from kraft_traces.check.checker import CANDIDATES_MAX, EVERY
from kraft_traces.check.event_lines import EventLines
from kraft_traces.check.fast_path import COMPILED, FastPath, LinesAhead, Way
from kraft_traces.check.model import trace_model
from kraft_traces.check.verdict import Rejection, Verdict
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.encode import event_line
from kraft_traces.errors import FieldError
from kraft_traces.lines import EventLine
from kraft_traces.own import is_own
from kraft_traces.raw_lines import RawLines
from kraft_traces.reader import TraceReader
from kraft_traces.streams import open_bytes, whole_file

_Model = TypeVar("_Model")


class OtherModelError(Exception):
    """Under `--strict`: the trace was written for another model."""


def is_other_model(named: str | UnsetType, ours: str, source: str, *, strict: bool) -> bool:
    """Does a header name the hash of another model than ours?

    Raises:
        OtherModelError: it does, and `strict`.
    """
    differs = named is not UNSET and named != ours
    if strict and differs:
        raise OtherModelError(
            f"{source}:1: $.spec_hash: the trace was written for model {named}, this version has model {ours}"
        )
    return differs


def model_of(
    switched_off: Sequence[str],
    known: Callable[[], Collection[str]],
    make: Callable[[frozenset[str]], _Model],
    source: str,
) -> _Model:
    """The model that does without the rules that a header names; `known` gives those that can be named.

    Raises:
        FieldError: one of them is none of these, or they cannot be left out together.
    """
    for index, rule in enumerate(switched_off):
        if rule not in known():
            detail = f"the model cannot omit {rule!r}, expected one of {', '.join(known())}"
            raise FieldError(detail, source, 1, f"$.switched_off[{index}]")
    try:
        return make(frozenset(switched_off))
    except EditError as error:
        detail = f"the model cannot omit all of {', '.join(switched_off)} together: {error}"
        raise FieldError(detail, source, 1, "$.switched_off") from error


def check_reader(
    reader: TraceReader,
    *,
    every: int = EVERY,
    candidates_max: int = CANDIDATES_MAX,
    strict: bool = False,
    on_events: Callable[[int], None] | None = None,
    way: Way = COMPILED,
) -> Verdict:
    """Check a trace as it is read; `on_events` is called with how many lines more are done.

    Raises:
        TraceError: the trace is malformed; nothing is said about what it shows.
        OtherModelError: `strict`, and the header names the hash of another model.
        CompiledModelError: the compiled model and TLC disagree.
    """
    header = reader.header
    hash_differs = is_other_model(header.spec_hash, spec_hash(), reader.source, strict=strict)
    model = model_of(header.switched_off, omittable_rules, trace_model, reader.source)
    path = FastPath(model, reader, own=is_own(header), way=way, every=every, candidates_max=candidates_max)
    rejection = _judged(reader, path, on_events)
    verdict = _verdict(path, rejection, complete=reader.complete, ended=reader.end is not None)
    return replace(verdict, other_model=hash_differs)


def _judged(lines: LinesAhead, path: FastPath, on_events: Callable[[int], None] | None) -> Rejection | None:
    while True:
        path.take(on_events)
        line = lines.next_line()
        if line is None:
            return None
        checker = path.checker
        if isinstance(line, CheckpointLine):
            rejection = checker.feed_checkpoint(lines.line_number, line)
        else:
            rejection = checker.feed(lines.line_number, line)
        if rejection is not None or checker.is_over:
            return rejection
        if on_events is not None:
            on_events(1)


def _verdict(path: FastPath, rejection: Rejection | None, *, complete: bool, ended: bool) -> Verdict:
    verdict = None if rejection is not None else path.verdict(complete=complete, ended=ended)
    if verdict is None:
        verdict = path.checker.finish(complete=complete, ended=ended, rejection=rejection)
    path.release()
    return replace(verdict, compiled=path.taken, both=path.compared)


def check_occurrences(
    occurrences: Iterable[Occurrence],
    configuration: Configuration,
    source: str,
    *,
    switched_off: Collection[str] = (),
) -> Verdict:
    """Check a run of the reference without writing it down; the lines are those that its trace would have.

    `switched_off` are the rules that the model shall do without.

    Raises:
        CompiledModelError: the compiled model and TLC disagree.
    """
    lines = map(event_line, occurrences)
    return check_lines(lines, configuration, source, own=True, switched_off=switched_off)


def check_lines(
    lines: Iterable[EventLine],
    configuration: Configuration,
    source: str,
    *,
    own: bool,
    switched_off: Collection[str] = (),
    way: Way = COMPILED,
) -> Verdict:
    """The same of lines; `own` says that they leave nothing out.

    Raises:
        As `check_occurrences`.
    """
    model = trace_model(frozenset(switched_off))
    ahead = EventLines(lines, configuration, source)
    path = FastPath(model, ahead, own=own, way=way)
    return _verdict(path, _judged(ahead, path, None), complete=True, ended=True)


def write_failing_prefix(trace: Path, rejection: Rejection, target: Path) -> None:
    """Write the header and the lines up to the rejected one, byte for byte, to `target`: of a trace of any format.

    The checker stops at the first line that is wrong, so no shorter prefix fails.
    """
    with open_bytes(trace) as stream, whole_file(target) as output:
        lines = RawLines(stream, str(trace))
        while lines.line_number < rejection.line and (raw := lines.read()):
            output.write(raw)
