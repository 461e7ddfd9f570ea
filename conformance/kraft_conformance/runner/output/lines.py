"""JSON lines of a run: its head, a line for each vector or case, the counts; and reading of the lines of vectors."""

import json
import sys
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, UnsetType

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.output.results import About, Results
from kraft_conformance.runner.output.run import Run
from kraft_conformance.runner.reports import exit_code
from kraft_traces.values import Count
from kraft_vectors.catalogue import Catalogue


class _VectorLine(Outcome, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind", tag="vector"):
    repeat: str | UnsetType = msgspec.UNSET


class _SummaryLine(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind", tag="summary"):
    counts: dict[Status, Count]
    exit_code: Literal[0, 1, 2, 4]


_DECODER: msgspec.json.Decoder[About | _VectorLine | _SummaryLine] = msgspec.json.Decoder(
    About | _VectorLine | _SummaryLine
)


def lines_of(run: Run) -> list[str]:
    """Return the lines; the same results give the same lines."""
    lines = [_line(msgspec.to_builtins(run.about))]
    for outcome in run.outcomes:
        document = {"kind": run.noun, **outcome.as_dict()}
        if outcome.status in FAILING:
            document["repeat"] = run.repetition(outcome)
        lines.append(_line(document))
    code = int(exit_code(run.outcomes))
    lines.append(_line({"kind": "summary", "counts": run.counts, "exit_code": code}))
    return lines


def _line(document: dict[str, Any]) -> str:
    # Not sorted: reports show the fields of an effect in this order.
    return json.dumps(document, ensure_ascii=False)


def read_results(path: Path, catalogue: Catalogue) -> Results:
    """Read the results that `run --json` wrote; `-` is standard input.

    Raises:
        CommandError: the file cannot be read, has another format, or names vectors that are not in the catalogue.
    """
    try:
        raw = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}", ExitCode.NO_INPUT) from error
    return _Reading(str(path), catalogue).results(raw)


class _Reading:
    def __init__(self, name: str, catalogue: Catalogue) -> None:
        self._name = name
        self._catalogue = catalogue

    def results(self, raw: bytes) -> Results:
        about, *following = self._lines(raw)
        if not isinstance(about, About):
            raise self._error(1, "kind", "no line about the run; results without one were written by an older program")
        outcomes: dict[str, Outcome] = {}
        for number, line in enumerate(following, 2):
            if isinstance(line, About):
                raise self._error(number, "kind", "a second run; a file holds one")
            if isinstance(line, _SummaryLine):
                if number <= len(following):
                    raise self._error(number + 1, "kind", "a line after the summary, which is the last")
                return self._concluded(number, Results(about, tuple(outcomes.values()), self._catalogue), line)
            if line.id in outcomes:
                raise self._error(number, "id", f"{line.id} is listed twice")
            outcomes[line.id] = self._outcome(number, line, about)
        raise self._error(len(following) + 1, "kind", "no summary after it: the file is incomplete")

    def _lines(self, raw: bytes) -> list[About | _VectorLine | _SummaryLine]:
        lines = []
        for number, line in enumerate(raw.removesuffix(b"\n").split(b"\n"), 1):
            try:
                lines.append(_DECODER.decode(line))
            except msgspec.ValidationError as error:
                problem, _, field = str(error).partition(" - at `")
                raise self._error(number, field.rstrip("`").removeprefix("$."), problem) from error
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                expected = "expected a line that `kraft-spec conformance run --json` wrote"
                raise self._error(number, "", f"{error}; {expected}") from error
        return lines

    def _outcome(self, number: int, line: _VectorLine, about: About) -> Outcome:
        if line.id not in self._catalogue.entries:
            here = len(self._catalogue.entries)
            detail = f"no vector {line.id!r} here: the result is of {about.suite}, {about.suite.vectors} vectors, "
            detail += f"manifest {about.suite.manifest_sha256[:12]}; this one has {here}"
            raise self._error(number, "id", detail)
        fields = msgspec.structs.asdict(line)
        del fields["repeat"]
        return Outcome(**fields)

    def _concluded(self, number: int, results: Results, summary: _SummaryLine) -> Results:
        counted = {str(status): count for status, count in summary.counts.items()}
        if counted != results.counts:
            raise self._error(number, "counts", f"{counted}, but the lines before it have {results.counts}")
        if summary.exit_code != (code := exit_code(results.outcomes)):
            raise self._error(number, "exit_code", f"{summary.exit_code}, but the lines before it mean {int(code)}")
        return results

    def _error(self, number: int, field: str, detail: str) -> CommandError:
        place = f"{self._name}:{number}: {field}: " if field else f"{self._name}:{number}: "
        return CommandError(place + detail, ExitCode.BAD_INPUT)
