"""Watch of one trace of a whole cluster: a file or standard input."""

from collections.abc import Iterator

from msgspec import Struct

from kraft_traces.errors import EmptyTraceError
from kraft_traces.watch.growing import Growing, GrowingFile, Growth, Position, StandardInput
from kraft_traces.watch.judging import Judge, SavedJudge
from kraft_traces.watch.reports import Report


class SavedTrace(Struct, frozen=True, tag="trace"):
    """State of a `WatchedTrace` as JSON."""

    judge: SavedJudge
    position: Position
    alerts: int
    malformed: int
    """Number of the alerts about malformed lines."""
    gaps: int


class WatchedTrace:
    """Trace of a whole cluster, which is judged as `kraft-spec validate` judges it."""

    def __init__(self, source: str, *, every: int, candidates_max: int, saved: SavedTrace | None = None) -> None:
        """Follow the file, or standard input if `source` is `-`.

        Raises:
            UnreadableFileError: the file cannot be read.
        """
        self._source = source
        self._options = {"every": every, "candidates_max": candidates_max}
        self._growing: Growing
        self._judge: Judge | None = None
        self._starts: list[tuple[int, str, int]] = []
        """Number in the judged trace, file and line of the first line of each file, newest last."""
        if saved is None:
            self._growing = StandardInput() if source == "-" else GrowingFile(source)
            return
        self._growing = GrowingFile(source, saved.position)
        self._starts.append((saved.judge.line_number, source, saved.position.lines))
        self._judge = Judge.resumed(source, saved.judge, self._place, **self._options)
        self._judge.alerts, self._judge.malformed, self._judge.gaps = saved.alerts, saved.malformed, saved.gaps

    @property
    def judge(self) -> Judge | None:
        """Judge of the trace; None before its header."""
        return self._judge

    @property
    def behind(self) -> int:
        """Number of bytes that are not read yet."""
        return self._growing.behind

    @property
    def gaps(self) -> int:
        """Number of gaps so far."""
        return 0 if self._judge is None else self._judge.gaps

    @property
    def waiting(self) -> int:
        """Number of events that wait for another process: none."""
        return 0

    @property
    def has_ended(self) -> bool:
        """True behind the end line, and at the end of standard input."""
        return self._growing.has_ended or (self._judge is not None and self._judge.has_ended)

    def poll(self, now: float) -> Iterator[Report]:
        """Judge what has been appended, and yield the reports.

        Raises:
            TraceError: the header is wrong, or the file cannot be read.
        """
        growth = self._growing.poll()
        if self._growing.has_ended:
            rest = self._growing.rest()
            yield from self._take(growth._replace(lines=growth.lines + rest))
            if self._judge is None:
                raise EmptyTraceError("the file is empty, expected a header", self._source)
            yield from self._judge.judge(is_all=True)
        elif growth.lines:
            yield from self._take(growth)

    def finish(self) -> Iterator[Report]:
        """Yield nothing: the trace is judged to its end."""
        yield from ()

    def _take(self, growth: Growth) -> Iterator[Report]:
        lines, begin = growth.lines, growth.begin
        if not lines:
            return
        if self._judge is None:
            header, lines = _split(lines)
            self._judge = Judge(self._source, header, self._place, **self._options)
            self._starts = [(1, begin.path, 1)]
        elif growth.is_new_file:
            header, lines = _split(lines)
            self._starts = [*self._starts[-1:], (self._judge.line_number + 1, begin.path, begin.lines + 2)]
            if growth.is_torn:
                yield self._judge.lose("the file before it ends in the middle of a line")
            yield from self._judge.begin_file(header)
        self._judge.push(lines)
        yield from self._judge.judge()

    def _place(self, number: int) -> tuple[str, int]:
        start = next(start for start in reversed(self._starts) if start[0] <= number or start is self._starts[0])
        first, path, line = start
        return path, line + number - first

    def save(self) -> SavedTrace | None:
        """Return the state behind the last line; None if there is none that can be restored."""
        if self._judge is None or not isinstance(self._growing, GrowingFile):
            return None
        judge = self._judge.save()
        if judge is None:
            return None
        return SavedTrace(judge, self._growing.position, self._judge.alerts, self._judge.malformed, self._judge.gaps)


def _split(lines: bytes) -> tuple[bytes, bytes]:
    end = lines.find(b"\n") + 1 or len(lines)
    return lines[:end], lines[end:]
