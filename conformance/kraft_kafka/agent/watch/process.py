"""Events of one replica that wait to be merged, made of the lines of the agent as they are written."""

from collections.abc import Callable

from typing import TypeVar

import msgspec

from kraft_kafka.agent.drafts import Begin, Draft
from kraft_kafka.agent.located import LineError
from kraft_kafka.agent.opening import First
from kraft_kafka.agent.raw import WireLine
from kraft_traces.lines import EventLine, HeaderLine
from kraft_traces.watch.process import MergedProcess

WIRE_IDS_MAX = 10_000
"""Maximum number of remembered correlation ids on the wire of a process; older ones are forgotten."""


_Value = TypeVar("_Value")


class AgentProcess(MergedProcess):
    """Events of a replica, whose messages have the sender's own correlation ids."""

    __slots__ = (
        "_beginning",
        "_read_life",
        "begins",
        "counted",
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
        for begins, begin in ((self.begins, draft.begin), (self.resumes, draft.resume)):
            if begin is not None:
                begins[at] = begin
        for life in [it for it in self._beginning if draft.place == it[0] or (draft.begin and draft.begin.line is it[1])]:
            self.lives[at] = life[2]
            self._beginning = [it for it in self._beginning if it[2] > life[2]]
        if draft.gap is not None:
            self.gaps = {**self.gaps, at: draft.gap}
        self.events.append((self.counted, line))
        self.places.append(draft.place)

    def begin_client(self, place: str, first: First) -> None:
        """Begin the lines of the next client, whose first line is at a place."""
        self._read_life += 1
        self._beginning.append((place, first, self._read_life))
        self.wire_ids[self._read_life] = {}

    def begin_life(self) -> None:
        """Note that the next event is merged, which may be the first one of a client."""
        self.life = self.lives.pop(self.position, self.life)
        for life in [life for life in self.wire_ids if life < self.life - 1]:
            del self.wire_ids[life]

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

    def is_missing(self, wire_id: int) -> bool:
        """True if no client has this correlation id on the wire, and the newest one has later ones."""
        has_later = max(self.wire_ids[self._read_life], default=-1) > wire_id
        return has_later and all(wire_id not in ids for ids in self.wire_ids.values())

    def own_id(self, wire_id: int) -> int | None:
        """Return the own correlation id of the client of the newest merged event; None if there is none."""
        return self.wire_ids.get(self.life, {}).get(wire_id)

    def drop_merged(self) -> None:
        """Forget the events before `position`, which are merged."""
        merged = self.position
        if merged:
            self.merged_count += merged
            del self.places[:merged]
            self.begins, self.resumes = _shifted(self.begins, merged), _shifted(self.resumes, merged)
            self.lives = _shifted(self.lives, merged)
        super().drop_merged()


def _shifted(begins: dict[int, _Value], merged: int) -> dict[int, _Value]:
    return {at - merged: begin for at, begin in begins.items() if at >= merged}


def place_of(place: str) -> tuple[str, int]:
    """Return file and line of `FILE:NUMBER`."""
    source, _, number = place.rpartition(":")
    return source, int(number)
