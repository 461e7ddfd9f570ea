"""Check of lines while they arrive, over gaps and violations."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace as replaced

from kraft_mutants import omittable_rules
from kraft_traces.check.checker import CANDIDATES_MAX, EVERY
from kraft_traces.check.fast_path import COMPILED, FastPath
from kraft_traces.check.model import ReplicaSummary, trace_model
from kraft_traces.check.run import model_of, verdict_of
from kraft_traces.check.saved import SavedChecker
from kraft_traces.check.verdict import Rejection, RejectionKind, Verdict
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.errors import DuplicateSequenceError, SequenceGapError, TraceError
from kraft_traces.lines import EventLine
from kraft_traces.own import is_own
from kraft_traces.reader import TraceReader
from kraft_traces.watch.reports import Alert, Gap, Report

Place = Callable[[int], tuple[str, int | None]]
"""Returns file and line of a line of the judged trace, by its number there."""


class SavedJudge(Struct, frozen=True):
    """State of a `Judge` behind its last line, as JSON."""

    header: str
    line_number: int
    sequence: int
    time_ms: int
    has_gaps: bool
    unobserved: tuple[tuple[int, ...], tuple[int, ...]]
    """Result of `TraceReader.unobserved`."""
    checker: SavedChecker | None
    """None in a gap, which the next checkpoint ends."""


class _Pushed(BytesIO):
    """Stream of the bytes that were pushed and not read yet."""

    def push(self, raw: bytes) -> None:
        """Append bytes."""
        rest = self.read()
        self.seek(0)
        self.truncate()
        self.write(rest + raw)
        self.seek(0)


class Judge:
    """Checker of a trace that grows.

    After a gap, and after a violation, judging goes on: at the next checkpoint, or in a trace of other software with
    the next whole state of the replica.
    """

    def __init__(
        self, source: str, header: bytes, place: Place, *, every: int = EVERY, candidates_max: int = CANDIDATES_MAX
    ) -> None:
        """Begin a trace with this header.

        Raises:
            TraceError: the header is wrong.
        """
        self._source = source
        self._place = place
        self._every = every
        self._candidates_max = candidates_max
        self._pushed = _Pushed(header)
        self._reader = TraceReader(self._pushed, source)
        # A wrong profile is an error of the header.
        assert self._reader.configuration
        self._path: FastPath | None = self._new_path(None)
        """None in a gap."""
        self.alerts = self.malformed = self.gaps = 0
        self.has_ended = False
        """True behind the end line."""

    @classmethod
    def resumed(cls, source: str, saved: SavedJudge, place: Place, *, every: int, candidates_max: int) -> "Judge":
        """Return the judge that continues from a saved state."""
        judge = cls(source, saved.header.encode(), place, every=every, candidates_max=candidates_max)
        judge._continue(saved)
        return judge

    def _continue(self, saved: SavedJudge) -> None:
        in_flight = () if saved.checker is None else saved.checker.in_flight
        copies = {name: number for name, number, _ in in_flight}
        self._reader.resume(saved.sequence, saved.time_ms, copies, saved.unobserved, has_gaps=saved.has_gaps)
        self._reader.line_number = saved.line_number
        self._path = None if saved.checker is None else self._new_path(saved.checker)

    def change_header(self, header: bytes, opaque: frozenset[int] = frozenset()) -> bool:
        """Continue with another header of the same cluster; False if that is not possible at this line.

        `opaque` are the replicas that only this header lists, and that are not observed.
        """
        saved = self.save()
        if saved is None:
            return False
        saved = _with_opaque(saved, opaque)
        self.release()
        self._pushed = _Pushed(header)
        self._reader = TraceReader(self._pushed, self._source)
        self._continue(saved)
        return True

    def _new_path(self, start: CheckpointLine | SavedChecker | None) -> FastPath:
        reader = self._reader
        model = model_of(reader.header.switched_off, omittable_rules, trace_model, self._source)
        # TLC takes seconds to parse the model: now, not when a line is wrong.
        assert model.specification
        options: dict[str, Any] = {"every": self._every, "candidates_max": self._candidates_max}
        return FastPath(model, reader, own=is_own(reader.header), way=COMPILED, start=start, **options)

    @property
    def unknown(self) -> frozenset[int]:
        """Replicas whose state is unknown after the lines so far."""
        return frozenset() if self._path is None else self._path.checker.unknown

    @property
    def events(self) -> int:
        """Number of events that are read."""
        return self._reader.events

    @property
    def raw_header(self) -> bytes:
        """Header of the judged trace."""
        return self._reader.raw_header

    @property
    def is_in_gap(self) -> bool:
        """True if no line is judged before the next checkpoint."""
        return self._path is None

    def push(self, raw: bytes) -> None:
        """Append bytes of the trace."""
        self._pushed.push(raw)

    def judge(self, *, is_all: bool = False) -> Iterator[Report]:
        """Check the lines that are there, and yield the reports; `is_all` if no more bytes follow."""
        while not self.has_ended:
            if self._path is None:
                start = self._reader.skip_to_checkpoint()
                if start is None:
                    self.has_ended = self._reader.end is not None
                    return
                self._path = self._new_path(start)
                continue
            self._path.take()
            if not is_all and not self._reader.has_next():
                return
            try:
                line = self._reader.next_line()
            except (SequenceGapError, DuplicateSequenceError) as error:
                yield self._begin_gap(error.detail)
                continue
            except TraceError as error:
                yield self._malformed(error)
                self._stop()
                continue
            if line is None:
                self.has_ended = True
                return
            yield from self._check(line)

    def _check(self, line: EventLine | CheckpointLine) -> Iterator[Report]:
        assert self._path is not None, "the caller has a checker"
        number, checker = self._reader.line_number, self._path.checker
        if isinstance(line, CheckpointLine):
            rejection = checker.feed_checkpoint(number, line)
        else:
            rejection = checker.feed(number, line)
        if rejection is not None:
            source, own_number = self._place(number)
            self.alerts += 1
            yield Alert(
                source,
                own_number,
                replace(rejection, source=source, line=own_number or number),
                self.statuses(),
            )
            if not self._goes_on(rejection, line):
                self._stop()
        elif checker.is_over:
            reason = checker.finish(complete=False).reason
            yield self._begin_gap(f"judging stops: {reason}")

    def _goes_on(self, rejection: Rejection, line: EventLine | CheckpointLine) -> bool:
        """Continue with the line's replica unknown; False if the checker cannot."""
        if is_own(self._reader.header) or isinstance(line, CheckpointLine) or line.replica is UNSET:
            return False
        if rejection.kind not in (RejectionKind.MISMATCH, RejectionKind.NOT_ENABLED):
            return False
        assert self._path is not None, "it has rejected the line"
        checker, number = self._path.checker, self._reader.line_number
        unknown = replaced(line, unrecorded=(line.replica,), state=UNSET)
        self._reader.begin_gap(line.replica)
        if checker.feed(number, unknown) is not None:
            # Not even the message was sent, so the line counts as an event that receives none.
            bare = EventLine(
                sequence=line.sequence, time_ms=line.time_ms, replica=line.replica, event="Poll", effects=line.effects
            )
            return checker.feed(number, bare) is None and not checker.is_over
        return not checker.is_over

    def statuses(self) -> Mapping[int, ReplicaSummary]:
        """Return the states of the replicas after the lines so far; empty in a gap."""
        if self._path is None:
            return {}
        return self._path.checker.replica_summaries()

    @property
    def has_gaps(self) -> bool:
        """True if a line marked events as unrecorded."""
        return self._reader.has_gaps

    @property
    def line_number(self) -> int:
        """Number of the last line that was read, if all files were one."""
        return self._reader.line_number

    def begin_file(self, header: bytes) -> Iterator[Report]:
        """Continue with the lines behind the header of the next file.

        Raises:
            TraceError: the header is wrong.
        """
        if header == self._reader.raw_header:
            return
        yield self.lose("the next file has another header")
        self.change_header(header)

    def lose(self, reason: str) -> Gap:
        """Stop judging until the next checkpoint, because lines are missing before the next one."""
        self._stop()
        self.gaps += 1
        source, number = self._place(self._reader.line_number + 1)
        return Gap(source, number, reason)

    def _begin_gap(self, reason: str) -> Gap:
        source, number = self._place(self._reader.line_number)
        self._stop()
        self.gaps += 1
        return Gap(source, number, reason)

    def _malformed(self, error: TraceError) -> Alert:
        source, number = error.source, error.line_number
        if number is not None:
            source, number = self._place(number)
        error.source, error.line_number = source, number
        self.alerts += 1
        self.malformed += 1
        return Alert(source, number, error, self.statuses())

    def _stop(self) -> None:
        self.release()
        self._path = None

    def release(self) -> None:
        """Return the compiled checker to the model."""
        if self._path is not None:
            self._path.release()

    def save(self) -> SavedJudge | None:
        """Return the state behind the last line; None if it cannot be restored at this line."""
        reader = self._reader
        checker = None
        if self._path is not None:
            checker = self._path.checker.save()
            if checker is None:
                return None
        header = reader.raw_header.decode()
        place = (reader.line_number, reader.sequence, reader.time_ms, reader.has_gaps, reader.unobserved)
        return SavedJudge(header, *place, checker)

    def finish(self) -> Verdict | None:
        """Return the verdict on the whole trace; None if the trace was not judged to its end without interruption."""
        if self._path is None:
            return None
        return verdict_of(self._path, None, complete=self._reader.complete, ended=self._reader.end is not None)


def _with_opaque(saved: SavedJudge, opaque: frozenset[int]) -> SavedJudge:
    """Return a state with further replicas that are not observed."""
    if not opaque:
        return saved
    unobserved, with_gaps = saved.unobserved
    checker = saved.checker
    if checker is not None:
        before: Any = checker.opaque
        checker = replaced(checker, opaque={**before, "now": sorted({*before["now"], *opaque})})
    return replaced(saved, unobserved=(tuple(sorted({*unobserved, *opaque})), with_gaps), checker=checker)
