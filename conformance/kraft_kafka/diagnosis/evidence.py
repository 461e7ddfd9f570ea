"""Types for the evidence that a controller's files hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

Voters = frozenset[int]
"""Ids of a voter set."""


class Place(NamedTuple):
    """The place of a piece of evidence."""

    path: Path
    line: int | None
    """From 1; None for the whole file."""
    text: str
    """The line, or a summary of the file."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line is not None else str(self.path)


@dataclass(frozen=True, slots=True)
class VotersRead:
    """A controller has read a voter set: from a Voters record, or from a snapshot."""

    offset: int
    voters: Voters
    place: Place


@dataclass(frozen=True, slots=True)
class Truncated:
    """A controller has truncated its log."""

    is_full: bool
    """True if a snapshot has replaced the whole log."""
    place: Place


@dataclass(frozen=True, slots=True)
class Transition:
    """A controller has entered a role or an epoch."""

    role: str
    """Leader, Follower and so on."""
    epoch: int
    leader: int | None
    voted: int | None
    """The candidate that it has voted for in this epoch."""
    is_start: bool
    """True for the first transition of a process."""
    place: Place


@dataclass(frozen=True, slots=True)
class Fault:
    """A process has ended because of an exception."""

    exception: str
    place: Place


Event = VotersRead | Truncated | Transition | Fault


class StoredRecord(NamedTuple):
    """A record of a metadata log."""

    epoch: int
    text: str
    """Description of the record; equal records have equal texts."""
    voters: Voters | None
    """The set of a Voters record."""


@dataclass(frozen=True, slots=True)
class Disk:
    """A folder of the metadata log, or the output of kafka-dump-log."""

    path: Path
    records: Mapping[int, StoredRecord] = field(default_factory=dict)
    """By offset."""
    snapshots: Mapping[tuple[int, int], Voters] = field(default_factory=dict)
    """The voter set in each, by end offset and epoch."""
    epoch: int | None = None
    """From quorum-state, as are the leader and the vote."""
    leader: int | None = None
    voted: int | None = None

    def voters_before(self, end: int | None = None) -> tuple[int, Voters] | None:
        """Return the newest voter set before an offset, and its record's offset or its snapshot's last offset."""
        stored = [(at, record.voters) for at, record in self.records.items() if record.voters]
        stored += [
            (at - 1, voters) for (at, _), voters in self.snapshots.items() if voters and (end is None or at < end)
        ]
        return max(
            ((at, voters) for at, voters in stored if end is None or at < end), default=None, key=lambda pair: pair[0]
        )


@dataclass(frozen=True, slots=True)
class Described:
    """The quorum as `kafka-metadata-quorum describe --status` printed it."""

    leader: int
    epoch: int
    voters: Voters
    place: Place


@dataclass(frozen=True, slots=True)
class Controller:
    """All evidence about a controller."""

    name: str
    """Its node id, or a file if no id is known."""
    events: tuple[Event, ...] = ()
    """From its log, in order."""
    disks: tuple[Disk, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """All evidence about a cluster."""

    controllers: tuple[Controller, ...]
    described: tuple[Described, ...] = ()
    files: int = 0
    """Number of files read."""
    skipped: tuple[str, ...] = ()
    """Damaged files, each with its error."""
