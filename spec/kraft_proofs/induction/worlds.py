"""Small concrete worlds: what the symbols of the inductive proof mean when replicas and entries can be counted.

A world is a finite structure for the formulas of the proof. Its entries are those that were written, and all that they
stand on; its quorums are all sets of its replicas. Nothing is lost by that for entries and epochs: where an invariant
or a guard speaks of one, it also says that the entry was written, elected with, acknowledged or is in such a log, and
that somebody stood for, voted in or reached the epoch.
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
"""A voters set or a quorum."""
Environment: TypeAlias = Mapping[str, Any]
"""What each name in a formula stands for: sorts, functions of the state, parameters."""


class Record(NamedTuple):
    """One record of a log."""

    epoch: int
    voters: Replicas | None
    """The set that it writes; None for a record that is no VotersRecord."""
    number: int = 0
    """Tells records apart that a leader might have written at the same place."""

    def __str__(self) -> str:
        tail = "" if self.number == 0 else f".{self.number}"
        return f"{self.epoch}{tail}" if self.voters is None else f"{self.epoch}{tail}{shown_set(self.voters)}"


class Entry:
    """A record with the log before it. The same log is always the same object.

    Make the first with `bootstrapped`, others with `followed_by`.
    """

    __slots__ = ("_followers", "_hash", "before", "epoch", "key", "newest", "offset", "prefixes", "record")

    def __init__(self, record: Record, before: "Entry | None") -> None:
        """Not for callers: two objects for one log are never equal."""
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
        """The log with one more record."""
        found = self._followers.get(record)
        if found is None:
            found = self._followers[record] = Entry(record, self)
        return found


@cache
def bootstrapped(voters: Replicas) -> Entry:
    """The empty log, with the voters of the bootstrap checkpoint.  Rule: bootstrap.multi-voter."""
    return Entry(Record(0, voters), None)


class World(NamedTuple):
    """A state of a small cluster."""

    replicas: tuple[Replica, ...]
    last_epoch: int
    """Nobody stands for a later one."""
    bootstrap: Entry
    values: Mapping[str, Any]
    """Function of the state to a set of tuples, or to a value by replica."""

    @property
    def written(self) -> frozenset[tuple[Entry]]:
        """Entries that some leader appended, and the empty log."""
        found: frozenset[tuple[Entry]] = self.values["written"]
        return found

    def environment(self, *also: Entry) -> dict[str, Any]:
        """What the names in a formula stand for here; `also` are entries that nobody has written yet.

        Of epochs that nobody has reached there is one: only their order matters, so nothing is lost by skipping none.
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
        """For each leader there was an entry that it could append to its log, one for each of these voters sets."""
        choices = tuple(voters)
        leaders = {(epoch, replica) for epoch, replica, _ in self.values["elected"]}
        for epoch, replica in sorted(leaders):
            for chosen in choices:
                yield self.unwritten(self.values["log_end"][replica], epoch, chosen)

    def unwritten(self, log: Entry, epoch: int, voters: Replicas | None) -> Entry:
        """The first entry after this log that nobody has written."""
        followers = (log.followed_by(Record(epoch, voters, number)) for number in count())
        return next(entry for entry in followers if (entry,) not in self.written)


@cache
def all_sets(replicas: tuple[Replica, ...]) -> tuple[Replicas, ...]:
    """All sets of these replicas, smaller ones first."""
    sizes = range(len(replicas) + 1)
    return tuple(frozenset(chosen) for size in sizes for chosen in combinations(replicas, size))


def shown_set(replicas: Replicas) -> str:
    """The set as text."""
    return "{" + ",".join(map(str, sorted(replicas))) + "}"


def _majority(quorum: Replicas, voters: Replicas) -> bool:
    return is_majority(len(quorum & voters), keys(voters))


@cache
def keys(replicas: Replicas) -> frozenset[ReplicaKey]:
    """The replicas as the reference names them."""
    return frozenset(ReplicaKey(replica) for replica in replicas)


def _previous(entry: Entry) -> Entry:
    return entry.newest if entry.before is None else entry.before.newest


def _voters(entry: Entry) -> Replicas:
    return entry.record.voters or frozenset()


class Meaning(NamedTuple):
    """What a symbol that no step changes is in a small world."""

    sentence: str
    function: Callable[..., Any]
    first: Callable[[Any], Iterable[Any]] | None = None
    """Where it is known: all first arguments for which it is true of the second."""


MEANINGS: Mapping[str, Meaning] = {
    "prefix": Meaning(
        "The second log begins with all records of the first.",
        lambda first, second: first in second.prefixes,
        attrgetter("prefixes"),
    ),
    "epoch_of": Meaning("The epoch of the log's last record.", attrgetter("epoch")),
    "offset_of": Meaning("How many records there are before the last.", attrgetter("offset")),
    "is_voters_record": Meaning("The last record has a voters set.", lambda entry: entry.record.voters is not None),
    "voters_record": Meaning("The shortest log that ends in the last VotersRecord.", attrgetter("newest")),
    "previous_voters_record": Meaning("The same of the log without its last record.", _previous),
    "voters_of": Meaning("The voters set of the last record, none if it is no VotersRecord.", _voters),
    "majority": Meaning(
        "The reference's own `is_majority`, of how many voters of the set are in the quorum.", _majority
    ),
    "member": Meaning("The replica is an element.", lambda replica, quorum: replica in quorum, lambda quorum: quorum),
    "neighbours": Meaning(
        "At most one replica is in one of the two sets only.", lambda one, other: len(one ^ other) <= 1
    ),
}
"""Symbol to meaning, but for `bootstrap`, which each world has its own of."""

if MEANINGS.keys() | {"bootstrap"} != RIGID.keys():
    raise TypeError(f"a meaning is missing or too many: {sorted(MEANINGS.keys() ^ RIGID.keys())}")
