"""Watch of the traces of several processes, in files of which some may appear later."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from kraft_traces.encode import encode_line
from kraft_traces.errors import TraceError
from kraft_traces.listing import below, children
from kraft_traces.parsing import parse_header
from kraft_traces.process_trace import merged_header
from kraft_traces.watch.growing import GrowingFile, Growth, Position
from kraft_traces.watch.judging import SavedJudge
from kraft_traces.watch.merged import WatchedMerge
from kraft_traces.watch.merging import GrowingMerge, SavedMerge
from kraft_traces.watch.process import PENDING_MAX, GrowingProcess, SavedProcess
from kraft_traces.watch.reports import Gap, Report

SUFFIXES = (".jsonl", ".ndjson")
"""Suffixes of the files of a folder that are followed; compressed files do not grow line by line."""

_SCAN_SECONDS = 0.5


class SavedFolder(Struct, frozen=True, tag="processes"):
    """State of `WatchedProcesses` as JSON."""

    merge: SavedMerge
    processes: tuple[SavedProcess, ...]
    judge: SavedJudge
    finished: tuple[Position, ...]
    """Files that are read to their end, and whose process has begun another."""
    alerts: int
    malformed: int
    """Number of the alerts about malformed lines."""
    gaps: int


class _Followed:
    """File with its process.

    Attributes:
        process: None until the first event says whose file it is.
        held: growths before that, or while the process still reads an earlier file.
    """

    def __init__(self, file: GrowingFile, process: GrowingProcess | None = None) -> None:
        self.file = file
        self.process = process
        self.held = b""
        self.begin = file.position


class WatchedProcesses(WatchedMerge):
    """Traces of processes, which are merged as `kraft-spec trace merge` merges them, and judged."""

    def __init__(
        self,
        sources: Sequence[str],
        *,
        every: int,
        candidates_max: int,
        patience_s: float,
        saved: SavedFolder | None = None,
    ) -> None:
        """Follow these files and folders.

        Raises:
            TraceError: a file cannot be read.
        """
        merge = GrowingMerge(patience_s, None if saved is None else saved.merge)
        super().__init__(merge, every=every, candidates_max=candidates_max)
        self._paths = [Path(source) for source in sources]
        self._patience_s = patience_s
        self._files: list[_Followed] = []
        self._processes: list[GrowingProcess] = []
        self._finished: list[Position] = [] if saved is None else list(saved.finished)
        self._scanned_at = -_SCAN_SECONDS
        self._began_at: float | None = None
        if saved is not None:
            for known in saved.processes:
                file = GrowingFile(known.merged.path, known.merged)
                process = GrowingProcess(known.header, known.merged, known)
                self._files.append(_Followed(file, process))
                self._append(process)
            self._judge = self._resumed_judge(saved.judge, saved.alerts, saved.malformed, saved.gaps)

    @property
    def behind(self) -> int:
        """Number of bytes that are not read yet."""
        return sum(followed.file.behind for followed in self._files)

    @property
    def has_ended(self) -> bool:
        """True if the sources are files, and each has an end line and waits for nothing."""
        processes = self._merge.processes
        are_files = not any(path.is_dir() for path in self._paths)
        is_over = all(process.has_ended for process in processes)
        return are_files and bool(processes) and is_over and not any(file.held for file in self._files)

    def poll(self, now: float) -> Iterator[Report]:
        """Judge what has been appended, and yield the reports.

        Raises:
            TraceError: a header is wrong, or a file cannot be read.
            MergeError: the files are not from one run.
        """
        if now >= self._scanned_at + _SCAN_SECONDS:
            self._scanned_at = now
            self._find_files()
        for followed in list(self._files):
            yield from self._read(followed)
        if self._judge is None and not self._begins(now):
            return
        yield from self._judge_merged(list(self._merge.ready(now)))

    def _find_files(self) -> None:
        known = {followed.file.position.identity for followed in self._files}
        known |= {position.identity for position in self._finished}
        followed_paths = {followed.file.source for followed in self._files}
        for root in self._paths:
            files = list(below(root, children(root), SUFFIXES)) if root.is_dir() else [root]
            for path in files:
                if str(path) in followed_paths or not path.is_file():
                    continue
                status = path.stat()
                if (status.st_dev, status.st_ino) not in known:
                    self._files.append(_Followed(GrowingFile(str(path))))

    def _read(self, followed: _Followed) -> Iterator[Report]:
        process = followed.process
        if process is not None and process.waiting >= PENDING_MAX:
            return
        growth = followed.file.poll()
        if process is None:
            yield from self._decide(followed, growth)
        elif growth.lines:
            yield from self._take(process, growth)

    def _decide(self, followed: _Followed, growth: Growth) -> Iterator[Report]:
        """Find out whose file it is: that of a new process, or the next one of a process that is known."""
        if not followed.held:
            followed.begin = growth.begin
        followed.held += growth.lines
        raw_header, separator, rest = followed.held.partition(b"\n")
        if not separator or b"\n" not in rest:
            return
        begin = followed.begin
        header = parse_header(raw_header, begin.path)
        # A first event that is wrong is reported when the file is taken.
        probe = GrowingProcess(header, begin)
        probe.lose("probe")
        try:
            probe.read(rest[: rest.find(b"\n") + 1], replace(begin, lines=2))
        except TraceError as error:
            self._files.remove(followed)
            self._finished.append(followed.file.position)
            yield self._malformed(error)
            return
        earlier = next((it for it in self._files if it.process is not None and it.process.own & probe.own), None)
        taken = Growth(followed.held, begin, is_new_file=True)
        if earlier is not None:
            assert earlier.process is not None, "it was looked for"
            if earlier.process.waiting >= PENDING_MAX or earlier.file.behind:
                return
            # Its last lines may have been written since it was read.
            yield from self._take(earlier.process, earlier.file.poll())
            taken = taken._replace(is_torn=bool(earlier.file.rest()))
            self._finished.append(earlier.file.position)
            earlier.file.close()
            self._files.remove(earlier)
            followed.process = earlier.process
        else:
            process = GrowingProcess(header, begin)
            process.own |= probe.own
            if not self._add(process):
                return
            followed.process = process
        followed.held = b""
        yield from self._take(followed.process, taken)

    def _add(self, process: GrowingProcess) -> bool:
        """Add a process; False if its header cannot be taken yet."""
        header = encode_line(merged_header([*self._merge.processes, process]))
        if self._judge is not None and header != self._judge.raw_header and not self._judge.change_header(header):
            return False
        self._append(process)
        return True

    def _append(self, process: GrowingProcess) -> None:
        self._processes.append(process)
        self._merge.processes.append(process)

    def _take(self, process: GrowingProcess, growth: Growth) -> Iterator[Report]:
        lines = growth.lines.splitlines(keepends=True)
        place = growth.begin
        for raw in lines:
            place = replace(place, offset=place.offset + len(raw), lines=place.lines + 1)
            try:
                if growth.is_new_file and place.lines == 1:
                    process.begin_file(parse_header(raw, place.path), is_torn=growth.is_torn)
                elif (reason := process.read(raw, place)) is not None:
                    self._gaps += 1
                    yield Gap(place.path, place.lines, reason)
            except TraceError as error:
                yield self._malformed(error)
                process.skip_wrong()

    def _begins(self, now: float) -> bool:
        """True if judging begins: every replica has a trace, or the others have been waited for."""
        processes = self._merge.processes
        if not processes:
            return False
        self._began_at = now if self._began_at is None else self._began_at
        header = merged_header(processes)
        own = {replica for process in processes for replica in process.own}
        if {replica.id for replica in header.replicas} - own and now < self._began_at + self._patience_s:
            return False
        self._judge = self._new_judge(encode_line(header))
        return True

    def save(self) -> SavedFolder | None:
        """Return the state behind the last merged lines; None if there is none that can be restored."""
        judge = None if self._judge is None else self._judge.save()
        if judge is None or self._judge is None:
            return None
        # Only files that still exist can be found again.
        finished = tuple(position for position in self._finished if Path(position.path).exists())
        processes = tuple(process.save() for process in self._processes)
        return SavedFolder(
            self._merge.save(), processes, judge, finished, self._judge.alerts, self._judge.malformed, self.gaps
        )
