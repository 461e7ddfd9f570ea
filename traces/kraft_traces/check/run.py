"""Check of a whole trace, and the shortest failing prefix of a rejected one."""

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
from kraft_traces.streams import atomic_file, open_bytes

_Model = TypeVar("_Model")


class OtherModelError(Exception):
    """With `--strict`, the trace was written for another model."""


def is_other_model(named: str | UnsetType, ours: str, source: str, *, strict: bool) -> bool:
    """True if a header has the hash of another model.

    Raises:
        OtherModelError: it has, and `strict` is set.
    """
    differs = named is not UNSET and named != ours
    if strict and differs:
        raise OtherModelError(
            f"{source}:1: $.spec_hash: the trace was written for model {named}, this version has model {ours}"
        )
    return differs


def model_of(
    switched_off: Sequence[str],
    omittable: Callable[[], Collection[str]],
    make: Callable[[frozenset[str]], _Model],
    source: str,
) -> _Model:
    """Return the model that omits the rules of a header; `known` returns the rules that a model can omit.

    Raises:
        FieldError: the model cannot omit one of them, or all of them together.
    """
    for index, rule in enumerate(switched_off):
        if rule not in omittable():
            detail = f"the model cannot omit {rule!r}, expected one of {', '.join(omittable())}"
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
    """Check a trace while reading it; `on_events` is called with the number of further lines that are checked.

    Raises:
        TraceError: the trace is malformed.
        OtherModelError: `strict` is set, and the header has the hash of another model.
        CompiledModelError: the compiled model and TLC disagree.
    """
    header = reader.header
    hash_differs = is_other_model(header.spec_hash, spec_hash(), reader.source, strict=strict)
    model = model_of(header.switched_off, omittable_rules, trace_model, reader.source)
    path = FastPath(model, reader, own=is_own(header), way=way, every=every, candidates_max=candidates_max)
    rejection = _first_rejection(reader, path, on_events)
    verdict = verdict_of(path, rejection, complete=reader.complete, ended=reader.end is not None)
    return replace(verdict, other_model=hash_differs)


def _first_rejection(lines: LinesAhead, path: FastPath, on_events: Callable[[int], None] | None) -> Rejection | None:
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


def verdict_of(path: FastPath, rejection: Rejection | None, *, complete: bool, ended: bool) -> Verdict:
    """Return the verdict after the last line, and release the compiled checker; as `TraceChecker.finish`."""
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
    attributes: bool = True,
) -> Verdict:
    """Check a run of the reference, given as occurrences rather than as a trace file.

    `switched_off` are the rules that the model omits; `attributes` if a rejection names the rules behind it.

    Raises:
        CompiledModelError: the compiled model and TLC disagree.
    """
    lines = map(event_line, occurrences)
    return check_lines(lines, configuration, source, own=True, switched_off=switched_off, attributes=attributes)


def check_lines(
    lines: Iterable[EventLine],
    configuration: Configuration,
    source: str,
    *,
    own: bool,
    switched_off: Collection[str] = (),
    way: Way = COMPILED,
    attributes: bool = True,
) -> Verdict:
    """Check a run given as lines; `own` if every field is present, `attributes` as in `check_occurrences`.

    Raises:
        As `check_occurrences`.
    """
    model = trace_model(frozenset(switched_off))
    ahead = EventLines(lines, configuration, source)
    path = FastPath(model, ahead, own=own, way=way, attributes=attributes)
    return verdict_of(path, _first_rejection(ahead, path, None), complete=True, ended=True)


def write_failing_prefix(trace: Path, rejection: Rejection, target: Path) -> None:
    """Write the header and the lines up to the rejected one to `target`, byte for byte.

    The checker stops at the first wrong line, so no shorter prefix fails.
    """
    with open_bytes(trace) as stream, atomic_file(target) as output:
        lines = RawLines(stream, str(trace))
        while lines.line_number < rejection.line and (raw := lines.read()):
            output.write(raw)
