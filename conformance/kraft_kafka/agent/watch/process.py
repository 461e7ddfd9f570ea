"""Events of one replica that wait to be merged, made of the lines of the agent as they are written."""

from typing import TypeVar

import msgspec
from msgspec import Struct

from kraft_kafka.agent.drafts import Begin, Draft
from kraft_kafka.agent.located import LineError
from kraft_kafka.agent.opening import First
from kraft_kafka.agent.raw import WireLine
from kraft_traces.lines import EventLine, HeaderLine
from kraft_traces.watch.process import MergedProcess

WIRE_IDS_MAX = 10_000
"""Maximum number of remembered correlation ids on the wire of a process; older ones are forgotten."""


_Value = TypeVar("_Value")


class SavedProcess(Struct, frozen=True):
    """State of an `AgentProcess` as JSON."""

    snapshot: tuple[int, int]
    """Result of `AgentProcess.snapshot`."""
    merged: int
    begun: int
    life: int
    wire_ids: dict[int, dict[int, int]]


class AgentProcess(MergedProcess):
    """Events of a replica, whose messages have the sender's own correlation ids."""

    __slots__ = (
        "_beginning",
        "_read_life",
        "_skipped",
        "begins",
        "begun",
        "counted",
        "holes",
        "killed",
        "life",
        "lives",
        "merged_count",
        "places",
        "replica",
        "resumes",
        "start_us",
        "translated",
        "wire_ids",
    )

    def __init__(self, replica: int, source: str, header: HeaderLine, start_us: int) -> None:
        """Begin without events; the trace begins at `start_us` of the files' clock."""
        super().__init__(source, header, (replica,))
        self.replica, self.start_us = replica, start_us
        self.begins: dict[int, Begin] = {}
        """Lines from which on the replica is observed, by the index in `events` of the event after it."""
        self.killed: dict[int, bool] = {}
        """Crashes of processes that were not closed, as `begins`: their last lines may be missing."""
        self.resumes: dict[int, Begin] = {}
        """Lines with the whole state, as `begins`."""
        self.lives: dict[int, int] = {}
        """Numbers of the clients that begin with an event, as `begins`."""
        self.life = self._read_life = 0
        """Number of the client of the newest merged event, and of the newest line."""
        self._beginning: list[tuple[str, First, int]] = []
        """First lines of clients without an event so far, with their places and numbers."""
        self.places: list[str] = []
        self.wire_ids: dict[int, dict[int, int]] = {0: {}}
        """The client's own correlation ids by those on the wire, by the number of the client."""
        self.translated = False
        """True if the message of the next event has its sender's own correlation id."""
        self.holes: set[int] = set()
        """Numbers of the clients of which lines are missing."""
        self.begun = 0
        """Number of the event before which the merged trace has a checkpoint already."""
        self._skipped = 0
        """Number of the last event that an earlier watch has merged."""
        self.counted = self.merged_count = 0
        """Number of events so far, and of those that are merged."""

    @property
    def next_place(self) -> tuple[str, int]:
        """File and line of the next event."""
        return place_of(self.places[self.position])

    def add(self, draft: Draft) -> None:
        """Add an event.

        Raises:
            LineError: it has a value that a trace cannot have.
        """
        at = len(self.events)
        self.counted += 1
        try:
            line: EventLine = draft.line(self.counted, self.replica, self.start_us)
        except msgspec.ValidationError as error:
            raise LineError(draft.place, f"{draft.event} has a value that a trace cannot have: {error}") from error
        if self.counted <= self._skipped:
            self._note_beginning(draft, at)
            self.begin_life_of(self.lives.pop(at, self.life))
            return
        for begins, begin in (
            () if self.counted == self.begun else ((self.begins, draft.begin), (self.resumes, draft.resume))
        ):
            if begin is not None:
                begins[at] = begin
        self._note_beginning(draft, at)
        if draft.is_kill:
            self.killed[at] = True
        if draft.gap is not None:
            self.holes.add(self._read_life)
            self.gaps = {**self.gaps, at: draft.gap}
        self.events.append((self.counted, line))
        self.places.append(draft.place)

    def _note_beginning(self, draft: Draft, at: int) -> None:
        """Note the client that begins with an event."""
        for place, first, life in list(self._beginning):
            if draft.place == place or (draft.begin is not None and draft.begin.line is first):
                self.lives[at] = life
                self._beginning = [it for it in self._beginning if it[2] > life]

    def begin_client(self, place: str, first: First, *, is_killed: bool) -> None:
        """Begin the lines of the next client, whose first line is at a place; `is_killed` if the last one was."""
        if is_killed:
            self.holes.add(self._read_life)
        self._read_life += 1
        self._beginning.append((place, first, self._read_life))
        self.wire_ids[self._read_life] = {}

    def begin_life(self) -> None:
        """Note that the next event is merged, which may be the first one of a client."""
        self.begin_life_of(self.lives.pop(self.position, self.life))

    @property
    def is_lossy(self) -> bool:
        """True if lines of a client that is not forgotten may be missing."""
        return bool(self.holes)

    def begin_life_of(self, life: int) -> None:
        """Note the number of the client whose events are merged."""
        self.life = max(self.life, life)
        for old in [it for it in self.wire_ids if it < self.life - 1]:
            del self.wire_ids[old]
            self.holes.discard(old)

    def note_wire_id(self, line: WireLine) -> None:
        """Note the correlation id that the receiver of a request sees."""
        ids = self.wire_ids[self._read_life]
        ids[line.wire_id] = line.correlation_id
        if len(ids) > WIRE_IDS_MAX:
            del ids[next(iter(ids))]

    def own_ids(self, wire_id: int) -> list[int]:
        """Return the own correlation ids that may be this one on the wire, of the clients up to the merged one."""
        lives = (self.life, self.life - 1)
        return [self.wire_ids[life][wire_id] for life in lives if wire_id in self.wire_ids.get(life, {})]

    def all_own_ids(self, wire_id: object) -> list[int]:
        """Return the own correlation ids of all clients that may be this one on the wire."""
        return [ids[wire_id] for ids in self.wire_ids.values() if wire_id in ids]

    def has_sent(self, wire_id: object) -> bool:
        """True if a client has this correlation id on the wire."""
        return any(wire_id in ids for ids in self.wire_ids.values())

    @property
    def is_killed_next(self) -> bool:
        """True if all events of a process that was killed are merged, and its Crash is next."""
        return self.position in self.killed

    def has_sent_later(self, wire_id: object) -> bool:
        """True if a client after that of the newest merged event has this correlation id on the wire."""
        return any(wire_id in ids for life, ids in self.wire_ids.items() if life > self.life)

    def is_missing(self, wire_id: int) -> bool:
        """True if lines of the newest client are missing, and it has later correlation ids on the wire."""
        if self._read_life not in self.holes:
            # A new client, whose file may not be read yet, starts again with low ids.
            return False
        has_later = max(self.wire_ids[self._read_life], default=-1) > wire_id
        return has_later and not self.has_sent(wire_id)

    def own_id(self, wire_id: int) -> int | None:
        """Return the own correlation id of the client of the newest merged event; None if there is none."""
        return self.wire_ids.get(self.life, {}).get(wire_id)

    def snapshot(self) -> tuple[int, int] | None:
        """Return the number of events and of clients so far; None if a client has no event yet."""
        return None if self._beginning else (self.counted, self._read_life)

    def restore(self, saved: SavedProcess) -> None:
        """Continue from the state of an earlier watch, behind the lines of its snapshot."""
        self.counted, self._read_life = saved.snapshot
        self._skipped = self.merged_count = saved.merged
        self.begun, self.life = saved.begun, saved.life
        self.wire_ids = {life: dict(ids) for life, ids in saved.wire_ids.items()}

    def save(self, snapshot: tuple[int, int]) -> SavedProcess:
        """Return the state behind the last merged event; an earlier `snapshot` tells the lines to read again."""
        wire_ids = {life: dict(ids) for life, ids in self.wire_ids.items()}
        return SavedProcess(snapshot, self.merged_count, self.begun, self.life, wire_ids)

    def drop_merged(self) -> None:
        """Forget the events before `position`, which are merged."""
        merged = self.position
        if merged:
            self.merged_count += merged
            del self.places[:merged]
            self.begins, self.resumes = _shifted(self.begins, merged), _shifted(self.resumes, merged)
            self.lives, self.killed = _shifted(self.lives, merged), _shifted(self.killed, merged)
        super().drop_merged()


def _shifted(begins: dict[int, _Value], merged: int) -> dict[int, _Value]:
    return {at - merged: begin for at, begin in begins.items() if at >= merged}


def place_of(place: str) -> tuple[str, int]:
    """Return file and line of `FILE:NUMBER`."""
    source, _, number = place.rpartition(":")
    return source, int(number)
