"""Small concrete worlds, in which the symbols of the inductive proof can be evaluated.

A world is a finite structure for the formulas of the proof. Its entries are the written ones and their prefixes; its
quorums are all sets of its replicas. This is no restriction for entries and epochs: an invariant or guard about an
entry also requires that it was written, elected with, acknowledged or is in such a log, and one about an epoch that a
replica stood for, voted in or reached it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, combinations, count
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from kraft_proofs.induction.symbols import RIGID
from kraft_reference.identity import ReplicaKey
from kraft_reference.state import is_majority

Replica: TypeAlias = int
Replicas: TypeAlias = frozenset[Replica]
"""A voter set or a quorum."""
Environment: TypeAlias = Mapping[str, Any]
"""Value of each name in a formula: sorts, functions of the state, parameters."""


class Record(NamedTuple):
    """A record of a log."""

    epoch: int
    voters: Replicas | None
    """Voter set of a VotersRecord; None for another record."""
    number: int = 0
    """Distinguishes records that a leader could write at the same place."""

    def __str__(self) -> str:
        tail = "" if self.number == 0 else f".{self.number}"
        return f"{self.epoch}{tail}" if self.voters is None else f"{self.epoch}{tail}{shown_set(self.voters)}"


class Entry:
    """A record with the log before it; the same log is always the same object.

    Create the first with `bootstrapped`, others with `followed_by`.
    """

    __slots__ = ("_followers", "_hash", "before", "epoch", "key", "newest", "offset", "prefixes", "record")

    def __init__(self, record: Record, before: "Entry | None") -> None:
        """Internal: two objects for one log would not be equal."""
        self.record = record
        self.before = before
        self.epoch = record.epoch
        self.offset: int = 0 if before is None else before.offset + 1
        self.newest: Entry = self if record.voters is not None or before is None else before.newest
        own = (record.epoch, tuple(sorted(record.voters or ())), record.voters is not None, record.number)
        self.key: tuple[tuple[int, tuple[int, ...], bool, int], ...] = (own,) if before is None else (*before.key, own)
        self._hash = hash(self.key)
        self.prefixes: frozenset[Entry] = frozenset((self,)) if before is None else before.prefixes | {self}
        self._followers: dict[Record, Entry] = {}

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return f"{self.record}" if self.before is None else f"{self.before} {self.record}"

    __repr__ = __str__

    def followed_by(self, record: Record) -> "Entry":
        """Return the log with another record."""
        follower = self._followers.get(record)
        if follower is None:
            follower = self._followers[record] = Entry(record, self)
        return follower


@cache
def bootstrapped(voters: Replicas) -> Entry:
    """Return the empty log, with the voters of the bootstrap checkpoint.  Rule: bootstrap.multi-voter."""
    return Entry(Record(0, voters), None)


class World(NamedTuple):
    """A state of a small cluster."""

    replicas: tuple[Replica, ...]
    last_epoch: int
    """Largest epoch that a replica stands for."""
    bootstrap: Entry
    values: Mapping[str, Any]
    """Function of the state to a set of tuples, or to a value by replica."""

    @property
    def written(self) -> frozenset[tuple[Entry]]:
        """Entries that leaders appended, and the empty log."""
        entries: frozenset[tuple[Entry]] = self.values["written"]
        return entries

    def environment(self, *also: Entry) -> dict[str, Any]:
        """Return the values of the names in a formula; `also` are entries that are not written yet.

        It includes one epoch that no replica has reached: only the order of epochs matters, so one is enough.
        """
        voters_sets = {entry.record.voters for entry in chain((entry for (entry,) in self.written), also)} - {None}
        return {
            **self.values,
            "bootstrap": self.bootstrap,
            "Replica": self.replicas,
            "Entry": (*(entry for (entry,) in self.written), *also),
            "Int": range(min(self.last_epoch, max(self.values["epoch"].values()) + 1) + 1),
            "Quorum": all_sets(self.replicas),
            "Voters": tuple(voters_sets),
        }

    def next_entries(self, voters: Iterable[Replicas | None]) -> Iterator[Entry]:
        """Yield an entry that each past leader could append to its log, for each of these voter sets."""
        choices = tuple(voters)
        leaders = {(epoch, replica) for epoch, replica, _ in self.values["elected"]}
        for epoch, replica in sorted(leaders):
            for chosen in choices:
                yield self.unwritten(self.values["log_end"][replica], epoch, chosen)

    def unwritten(self, log: Entry, epoch: int, voters: Replicas | None) -> Entry:
        """Return the first unwritten entry after this log."""
        followers = (log.followed_by(Record(epoch, voters, number)) for number in count())
        return next(entry for entry in followers if (entry,) not in self.written)


@cache
def all_sets(replicas: tuple[Replica, ...]) -> tuple[Replicas, ...]:
    """Return all sets of these replicas, smaller ones first."""
    sizes = range(len(replicas) + 1)
    return tuple(frozenset(chosen) for size in sizes for chosen in combinations(replicas, size))


def shown_set(replicas: Replicas) -> str:
    """Return the set as text."""
    return "{" + ",".join(map(str, sorted(replicas))) + "}"


def _majority(quorum: Replicas, voters: Replicas) -> bool:
    return is_majority(len(quorum & voters), keys(voters))


@cache
def keys(replicas: Replicas) -> frozenset[ReplicaKey]:
    """Return the replicas as keys of the reference."""
    return frozenset(ReplicaKey(replica) for replica in replicas)


def _previous(entry: Entry) -> Entry:
    return entry.newest if entry.before is None else entry.before.newest


def _voters(entry: Entry) -> Replicas:
    return entry.record.voters or frozenset()


class Meaning(NamedTuple):
    """Interpretation of a symbol that no step changes, in a small world."""

    sentence: str
    function: Callable[..., Any]
    first: Callable[[Any], Iterable[Any]] | None = None
    """All first arguments for which it is true of the second, if they can be listed."""


MEANINGS: Mapping[str, Meaning] = {
    "prefix": Meaning(
        "The second log begins with all records of the first.",
        lambda first, second: first in second.prefixes,
        attrgetter("prefixes"),
    ),
    "epoch_of": Meaning("The epoch of the log's last record.", attrgetter("epoch")),
    "offset_of": Meaning("How many records there are before the last.", attrgetter("offset")),
    "is_voters_record": Meaning("The last record has a voter set.", lambda entry: entry.record.voters is not None),
    "voters_record": Meaning("The shortest log that ends in the last VotersRecord.", attrgetter("newest")),
    "previous_voters_record": Meaning("The same of the log without its last record.", _previous),
    "voters_of": Meaning("The voter set of the last record, none if it is no VotersRecord.", _voters),
    "majority": Meaning(
        "The reference's own `is_majority`, of how many voters of the set are in the quorum.", _majority
    ),
    "member": Meaning("The replica is an element.", lambda replica, quorum: replica in quorum, lambda quorum: quorum),
    "neighbours": Meaning(
        "At most one replica is in one of the two sets only.", lambda first, second: len(first ^ second) <= 1
    ),
}
"""Interpretation by symbol, except `bootstrap`, which is specific to each world."""

if MEANINGS.keys() | {"bootstrap"} != RIGID.keys():
    raise TypeError(f"a meaning is missing or too many: {sorted(MEANINGS.keys() ^ RIGID.keys())}")
