"""Watch of the agent's files: they are read, converted, merged and judged while Kafka writes them."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from kraft_kafka.agent.drafts import Begin
from kraft_kafka.agent.events import ReplicaEvents
from kraft_kafka.agent.joining import begin_checkpoint
from kraft_kafka.agent.located import LineError, NoEventError, check_start
from kraft_kafka.agent.opening import First, is_fresh
from kraft_kafka.agent.raw import CheckpointLine as RawCheckpoint
from kraft_kafka.agent.raw import EndLine, RawLine, StartLine, WireLine
from kraft_kafka.agent.watch.cluster import LiveCluster
from kraft_kafka.agent.watch.files import AgentFiles, Head, ReplicaFiles, decoded
from kraft_kafka.agent.watch.followed import Followed, SavedAgents, SavedReplica, Snapshot
from kraft_kafka.agent.watch.merging import AgentMerge
from kraft_kafka.agent.watch.process import AgentProcess, place_of
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.deliveries import sends_of
from kraft_traces.errors import FieldError, TraceError
from kraft_traces.parsing import parse_header
from kraft_traces.watch.growing import Position
from kraft_traces.watch.merged import WatchedMerge
from kraft_traces.watch.merging import Merged
from kraft_traces.watch.process import PENDING_MAX
from kraft_traces.watch.reports import Gap, Report

_PUSHED_MAX = 500
"""Maximum number of merged lines that are judged together."""
_HEAD_LINES = 2
_STEP_SECONDS = 0.5
"""Longest time between two polls that counts as waiting."""
_SNAPSHOT_SECONDS = 1.0
"""Least time between two noted states of a replica."""


class WatchedAgents(WatchedMerge):
    """Files of agents, which are joined as `kraft-spec kafka trace` joins them, and judged."""

    def __init__(
        self,
        sources: Sequence[str],
        *,
        every: int,
        candidates_max: int,
        patience_s: float,
        saved: SavedAgents | None = None,
    ) -> None:
        """Follow the agent's files that are in these folders, or are named.

        Raises:
            TraceError: a file of the saved state cannot be read.
        """
        merge = None if saved is None else saved.merge
        self._agents = AgentMerge(patience_s, self._checkpoint_of, self._find_unknown, merge)
        super().__init__(self._agents, every=every, candidates_max=candidates_max)
        self._patience_s = patience_s
        self._sources = AgentFiles(sources)
        self._files: dict[int, ReplicaFiles] = {}
        self._followed: dict[int, Followed] = {}
        self._cluster: LiveCluster | None = None
        self._began_at: float | None = None
        self._start_us = 0
        self._clock = self._polled_at = 0.0
        """Time that was spent without unread lines, and time of the last poll."""
        self._undeclared: frozenset[int] = frozenset()
        """Replicas that are not observed and that the judged header does not list yet."""
        self._merged: list[Merged] = []
        """Lines that are merged and not judged yet."""
        self._reports: list[Report] = []
        if saved is not None:
            self._resume(saved)

    @property
    def behind(self) -> int:
        """Number of bytes that are not read yet."""
        return sum(files.behind for files in self._files.values())

    @property
    def has_ended(self) -> bool:
        """False: a controller may start again."""
        return False

    def poll(self, now: float) -> Iterator[Report]:
        """Judge what has been appended, and yield the reports.

        Raises:
            TraceError: a file cannot be read.
        """
        # A controller that starts has written its first lines before others receive its messages.
        self._find_files()
        while self._sources.errors:
            yield self._malformed(self._sources.errors.pop(0))
        if self._judge is None:
            if not self._begins(now):
                return
            self._polled_at = now
        for replica, files in self._files.items():
            if replica not in self._followed and not self._join(replica, files):
                continue
            self._read(self._followed[replica])
        if not self._is_behind:
            # No time passes for lines that are there and not read, nor while others are judged.
            self._clock += min(now - self._polled_at, _STEP_SECONDS)
        self._polled_at = now
        for line in self._agents.ready(self._clock):
            self._declare_others(line)
            self._merged.append(line)
            if len(self._merged) >= _PUSHED_MAX:
                yield from self._judge_now()
        yield from self._judge_now()

    @property
    def _is_behind(self) -> bool:
        """True if there are lines that the next polls read; a replica with many events that wait is not read."""
        followed = [it for it in self._followed.values() if it.process.waiting < PENDING_MAX]
        return any(it.files.behind or it.files.heads for it in followed)

    def _judge_now(self) -> Iterator[Report]:
        """Judge the lines that are merged, and yield the reports so far, too."""
        reports, self._reports = self._reports, []
        merged, self._merged = self._merged, []
        yield from reports
        yield from self._judge_merged(merged)

    def _judge_all(self) -> None:
        merged, self._merged = self._merged, []
        self._reports += self._judge_merged(merged)

    # -------------------------------------------------------------------------------------------------------------
    # Replicas and the header.
    # -------------------------------------------------------------------------------------------------------------

    def _find_files(self) -> None:
        for head in self._sources.find():
            if self._cluster is not None:
                expected = next(iter(self._cluster.starts.values())).cluster_id
                if head.first.cluster_id != expected:
                    detail = f"expected {expected} as in the other files, got {head.first.cluster_id}"
                    self._sources.errors.append(FieldError(detail, head.path, _HEAD_LINES, "$.cluster_id"))
                    continue
            self._files.setdefault(head.first.replica, ReplicaFiles()).add(head)

    def _begins(self, now: float) -> bool:
        """True if judging begins: every voter has a file, or the others have been waited for."""
        firsts = sorted((files.heads[0].first for files in self._files.values()), key=lambda first: first.time_us)
        if not firsts:
            return False
        self._began_at = now if self._began_at is None else self._began_at
        cluster = LiveCluster({first.replica: first for first in firsts})
        if cluster.without_file and now < self._began_at + self._patience_s:
            return False
        self._cluster, self._start_us = cluster, firsts[0].time_us
        cluster.declare()
        header = cluster.update()
        self._agents.opaque |= cluster.declared
        is_new = cluster.is_fresh
        for replica, files in self._files.items():
            self._follow(replica, files, is_first=is_new)
        begins: dict[int, Begin] = {}
        if isinstance(firsts[0], RawCheckpoint):
            begin = self._followed[firsts[0].replica].events.take_begin()
            assert begin is not None, "no event follows it yet"
            begins[begin.line.replica] = begin
        opening = cluster.opening(begins)
        self._judge = self._new_judge(header)
        if opening is not None:
            self._agents.stopped |= {it.replica for it in firsts if isinstance(it, StartLine)} - cluster.declared
            self._origins = [(self._files[firsts[0].replica].current.path, _HEAD_LINES)]  # type: ignore[union-attr]
            self._judge.push(opening)
            self._reports += self._judge.judge()
        return True

    def _join(self, replica: int, files: ReplicaFiles) -> bool:
        """Follow a replica whose first file has appeared; False if the header cannot be changed yet."""
        assert self._cluster is not None, "judging has begun"
        if not files.heads:
            return False
        first, cluster = files.heads[0].first, self._cluster
        is_opaque = replica in cluster.declared or replica in self._agents.opaque or not is_fresh(first)
        cluster.others.pop(replica, None)
        cluster.starts[replica] = first
        if is_opaque:
            self._not_observed(replica)
        if not self._change_header():
            return False
        self._follow(replica, files, is_first=not is_opaque)
        return True

    def _follow(self, replica: int, files: ReplicaFiles, *, is_first: bool) -> None:
        assert self._cluster is not None, "judging begins"
        head = files.next_file()
        assert head is not None, "it has a file"
        followed = self._new_followed(replica, files)
        self._begin_client(followed, head.first, f"{head.path}:{_HEAD_LINES}", is_first=is_first)

    def _new_followed(self, replica: int, files: ReplicaFiles) -> Followed:
        cluster = self._cluster
        assert cluster is not None, "judging begins"
        assert files.current is not None, "the caller has begun a file"
        events = ReplicaEvents(replica, cluster.find_replica, cluster.static, has_opaque=bool(cluster.declared))
        header = parse_header(cluster.update(), "header")
        process = AgentProcess(replica, files.current.path, header, self._start_us)
        followed = self._followed[replica] = Followed(process, events, files)
        self._agents.add(process)
        return followed

    def _not_observed(self, replica: int) -> None:
        assert self._cluster is not None, "judging has begun"
        if replica not in self._cluster.declared:
            self._cluster.declared |= {replica}
            self._undeclared |= {replica}
            self._agents.opaque.add(replica)

    def _change_header(self) -> bool:
        """Judge what is merged, and then continue with the header of the replicas known so far; False if it cannot."""
        assert self._cluster is not None, "judging has begun"
        assert self._judge is not None, "judging has begun"
        header = self._cluster.update()
        if header == self._judge.raw_header:
            return True
        self._judge_all()
        if not self._judge.change_header(header, self._undeclared):
            return False
        self._undeclared = frozenset()
        return True

    def _declare_others(self, line: Merged) -> None:
        """Add the replicas without a file that a line names."""
        event = line.line
        if isinstance(event, CheckpointLine):
            return
        assert self._cluster is not None, "judging has begun"
        named = {message.destination for _, message in sends_of(event)}
        if event.message is not UNSET:
            named.add(event.message.source)
        for replica in named - self._cluster.configuration.replicas.keys():
            key = getattr(event.message, "replica_key", None) or None
            directory_id = key.directory_id if key is not None and key.id == replica else None
            self._cluster.add_other(replica, directory_id)
            self._undeclared |= {replica}
            self._agents.opaque.add(replica)
            self._change_header()

    # -------------------------------------------------------------------------------------------------------------
    # Lines.
    # -------------------------------------------------------------------------------------------------------------

    def _read(self, followed: Followed) -> None:
        """Take the next lines of a replica, of the next file if the current one has no more."""
        files = followed.files
        if followed.process.waiting >= PENDING_MAX:
            return
        # A file that follows was found before the end of the current one was read, so that is complete.
        has_next = bool(files.heads)
        lines, position = files.read()
        if not lines and has_next:
            before, head = files.current, files.next_file()
            assert before is not None, "it has no more lines"
            assert head is not None, "it follows"
            self._next_file(followed, before, head)
            lines, position = files.read()
        for raw in lines.splitlines(keepends=True):
            position = replace(position, offset=position.offset + len(raw), lines=position.lines + 1)
            if position.lines > _HEAD_LINES:
                self._take(followed, raw, position)
            if self._polled_at >= followed.snapshot_due:
                self._note_snapshot(followed, position)
        self._drain(followed)

    def _take(self, followed: Followed, raw: bytes, position: Position) -> None:
        followed.process.lines_read += 1
        try:
            line = decoded(raw, position.path, position.lines)
        except TraceError as error:
            self._wrong(followed, error)
            return
        self._take_line(followed, line, f"{position.path}:{position.lines}")

    def _take_line(self, followed: Followed, line: RawLine, place: str) -> None:
        assert self._cluster is not None, "judging has begun"
        if followed.begins_client:
            if isinstance(line, RawCheckpoint):
                self._begin_client(followed, line, place, is_first=False)
            return
        if isinstance(line, WireLine):
            followed.process.note_wire_id(line)
        followed.is_closed = followed.is_closed or isinstance(line, EndLine)
        facts = self._cluster.facts.and_line(followed.process.replica, line)
        if facts != self._cluster.facts:
            self._cluster.facts = facts
            self._change_header()
        self._convert(followed, place, lambda: followed.events.take(line, place))

    def _convert(self, followed: Followed, place: str, convert: Callable[[], None]) -> None:
        try:
            convert()
        except NoEventError as error:
            followed.events.lose(_detail(error, place))
        except LineError as error:
            self._wrong(followed, FieldError(_detail(error, place), *place_of(place)))

    def _wrong(self, followed: Followed, error: TraceError) -> None:
        self._reports.append(self._malformed(error))
        followed.events.lose("the line before it is malformed")

    def _next_file(self, followed: Followed, before: Head, head: Head) -> None:
        place = f"{head.path}:{_HEAD_LINES}"
        if head.client == before.client:
            if head.number != before.number + 1:
                followed.events.lose(f"files between {before.path} and {head.path} are missing")
            self._take_line(followed, head.first, place)
            return
        followed.events.end(before.path)
        followed.events.is_killed = not followed.is_closed
        self._begin_client(followed, head.first, place, is_first=False)

    def _begin_client(self, followed: Followed, start: First, place: str, *, is_first: bool) -> None:
        followed.begins_client = start.log is None
        if followed.begins_client:
            # A checkpoint follows, because the log is large.
            return
        events, process, before = followed.events, followed.process, followed.directory_id
        disk = None if before is None else (events.log_end_offset, before)
        if disk is not None:
            process.begin_client(place, start, is_killed=not followed.is_closed)
        elif process.replica in self._agents.opaque and isinstance(start, StartLine):
            events.observe_start(start)
        followed.is_closed, followed.directory_id = False, start.directory_id

        def begin() -> None:
            check_start(place, start)
            events.begin(start, place, is_first=is_first, disk=disk)

        self._convert(followed, place, begin)

    def _drain(self, followed: Followed) -> None:
        """Take the events that no later line can change."""
        for draft in followed.events.drain(is_over=followed.is_closed):
            if draft.gap is not None:
                self._gaps += 1
                self._reports.append(Gap(*place_of(draft.place), draft.gap))
            try:
                followed.process.add(draft)
            except LineError as error:
                self._wrong(followed, FieldError(_detail(error, draft.place), *place_of(draft.place)))

    def _checkpoint_of(self, begin: Begin) -> CheckpointLine:
        assert self._cluster is not None, "judging has begun"
        return begin_checkpoint(begin, self._cluster.configuration, self._start_us)

    def _find_unknown(self) -> frozenset[int]:
        self._judge_all()
        return frozenset() if self._judge is None else self._judge.unknown

    # -------------------------------------------------------------------------------------------------------------
    # Restarts of the watch.
    # -------------------------------------------------------------------------------------------------------------

    def _note_snapshot(self, followed: Followed, position: Position) -> None:
        """Note the state of a replica, if no event is in progress."""
        if followed.begins_client:
            return
        self._drain(followed)
        counts = followed.process.snapshot()
        if counts is None or not followed.events.is_quiet or followed.files.current is None:
            return
        followed.snapshot_due = self._polled_at + _SNAPSHOT_SECONDS
        own = (followed.is_closed, followed.directory_id)
        followed.snapshots.append(Snapshot(counts, followed.files.current, position, followed.events.save(), *own))
        merged = followed.process.merged_count
        while len(followed.snapshots) > 1 and followed.snapshots[1].counts[0] <= merged:
            del followed.snapshots[0]

    def save(self) -> SavedAgents | None:
        """Return the state behind the last merged lines; None if there is none that can be restored."""
        replicas = [self._saved_replica(followed) for followed in self._followed.values()]
        judge = None if self._judge is None else self._judge.save()
        if judge is None or self._judge is None or self._cluster is None or self._undeclared:
            return None
        known = tuple(replica for replica in replicas if replica is not None)
        if len(known) < len(replicas):
            return None
        own = (self._start_us, self._judge.alerts, self._judge.malformed, self.gaps)
        return SavedAgents(self._cluster.save(), self._agents.save_all(), judge, known, *own)

    def _saved_replica(self, followed: Followed) -> SavedReplica | None:
        process = followed.process
        usable = [it for it in followed.snapshots if it.counts[0] <= process.merged_count]
        if not usable:
            return None
        counts, head, position, converter, is_closed, directory_id = usable[-1]
        return SavedReplica(head, position, converter, is_closed, directory_id, process.save(counts))

    def _resume(self, saved: SavedAgents) -> None:
        self._cluster, self._start_us = LiveCluster.restored(saved.cluster), saved.start_us
        for known in saved.replicas:
            replica, head = known.head.first.replica, known.head
            files = self._files[replica] = ReplicaFiles()
            files.resume(head, known.position)
            followed = self._new_followed(replica, files)
            followed.events.restore(known.converter)
            followed.process.restore(known.process)
            followed.is_closed, followed.directory_id = known.is_closed, known.directory_id
            own = (known.converter, known.is_closed, known.directory_id)
            followed.snapshots.append(Snapshot(known.process.snapshot, head, known.position, *own))
        self._judge = self._resumed_judge(saved.judge, saved.alerts, saved.malformed, saved.gaps)


def _detail(error: LineError, place: str) -> str:
    return str(error).removeprefix(f"{place}: ")
