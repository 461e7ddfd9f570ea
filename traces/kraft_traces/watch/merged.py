"""Judge of a trace that is merged from growing traces: reports name the files and lines of their own."""

from collections.abc import Iterable, Iterator
from math import inf

from kraft_traces.encode import encode_line
from kraft_traces.errors import TraceError
from kraft_traces.lines import EndLine
from kraft_traces.watch.judging import Judge, SavedJudge
from kraft_traces.watch.merging import GrowingMerge, Merged
from kraft_traces.watch.reports import Alert, Gap, Report

NAME = "merged"
"""Name of the merged trace in errors that belong to no line of a file."""


class WatchedMerge:
    """Growing traces that are merged by `merge` and judged as one."""

    def __init__(self, merge: GrowingMerge, *, every: int, candidates_max: int) -> None:
        """Begin without a judge."""
        self._options = {"every": every, "candidates_max": candidates_max}
        self._merge = merge
        self._judge: Judge | None = None
        self._origins: list[tuple[str, int]] = []
        """File and line of each line that was pushed last, the first of which is `_first`."""
        self._first = 2
        self._gaps = 0

    @property
    def judge(self) -> Judge | None:
        """Judge of the merged trace; None before its first event."""
        return self._judge

    @property
    def waiting(self) -> int:
        """Number of events that wait for a message of another process."""
        return sum(process.waiting for process in self._merge.processes)

    @property
    def gaps(self) -> int:
        """Number of gaps so far."""
        return self._gaps + (0 if self._judge is None else self._judge.gaps)

    def finish(self) -> Iterator[Report]:
        """Judge the events that still wait, and end the merged trace."""
        yield from self._judge_merged(list(self._merge.ready(inf)))
        assert self._judge is not None, "judging has begun"
        is_complete = not self._judge.has_gaps and all(not process.lost for process in self._merge.processes)
        self._judge.push(encode_line(EndLine(self._judge.events, is_complete)))
        yield from self._judge.judge(is_all=True)

    def _new_judge(self, header: bytes) -> Judge:
        return Judge(NAME, header, self._place, **self._options)

    def _resumed_judge(self, saved: SavedJudge, alerts: int, malformed: int, gaps: int) -> Judge:
        judge = Judge.resumed(NAME, saved, self._place, **self._options)
        judge.alerts, judge.malformed, self._gaps = alerts, malformed, gaps
        return judge

    def _judge_merged(self, merged: Iterable[Merged]) -> Iterator[Report]:
        assert self._judge is not None, "judging has begun"
        merged = list(merged)
        for line in merged:
            if line.gap is not None:
                self._gaps += 1
                yield Gap(line.source, line.number, line.gap)
        if not merged:
            return
        self._first = self._judge.line_number + 1
        self._origins = [(line.source, line.number) for line in merged]
        self._judge.push(b"".join([encode_line(line.line) for line in merged]))
        yield from self._judge.judge()

    def _place(self, number: int) -> tuple[str, int]:
        at = min(max(number - self._first, 0), len(self._origins) - 1)
        return self._origins[at] if self._origins else (NAME, number)

    def _malformed(self, error: TraceError) -> Alert:
        self._gaps += 1
        statuses = {} if self._judge is None else self._judge.statuses()
        if self._judge is not None:
            self._judge.alerts += 1
            self._judge.malformed += 1
        return Alert(error.source, error.line_number, error, statuses)
