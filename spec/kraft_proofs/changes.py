"""Difference between two voter sets, by replica key and not by id alone."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from heapq import nsmallest
from typing import NamedTuple

from kraft_reference.identity import ReplicaKey, VoterSet


class Reason(NamedTuple):
    """A sentence for the user, and the rules behind it."""

    text: str
    rules: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.text} ({', '.join(self.rules)})" if self.rules else self.text


class Change(NamedTuple):
    """Two voter sets and their difference."""

    old: VoterSet
    new: VoterSet
    learned: tuple[ReplicaKey, ...] = ()
    """Voters whose directory id is only in the new set as entered. Here both sets include it."""
    forgotten: tuple[ReplicaKey, ...] = ()
    """Voters whose directory id is only in the old set as entered. Here both sets include it."""

    @property
    def given_old(self) -> VoterSet:
        """The old set as entered, where a voter may lack its directory id."""
        return self.old - frozenset(self.learned) | _without_directories(self.learned)

    @property
    def given_new(self) -> VoterSet:
        """The new set as entered."""
        return self.new - frozenset(self.forgotten) | _without_directories(self.forgotten)

    @property
    def kept(self) -> tuple[ReplicaKey, ...]:
        """Voters of both sets, in order."""
        return in_order(self.old & self.new)

    @property
    def removed(self) -> tuple[ReplicaKey, ...]:
        """Voters of the old set only, in order."""
        return in_order(self.old - self.new)

    @property
    def added(self) -> tuple[ReplicaKey, ...]:
        """Voters of the new set only, in order."""
        return in_order(self.new - self.old)

    @property
    def other_directories(self) -> tuple[tuple[ReplicaKey, ReplicaKey], ...]:
        """Removed voters, each with an added voter of the same id and another directory id."""
        added = {key.id: key for key in reversed(self.added)}
        return tuple((key, added[key.id]) for key in self.removed if key.id in added)

    @property
    def notes(self) -> tuple[Reason, ...]:
        """Notes on differences that ids alone do not show."""
        return tuple(_list_notes(self))


def change(old: Collection[ReplicaKey], new: Collection[ReplicaKey]) -> Change:
    """Compare two voter sets.

    An entry without a directory id stands for the replica of that id in the other set, so adding a directory id
    does not change the voters.
    Rules: identity.replica-key, identity.unknown-directory-matches-id.
    """
    before, after = frozenset(old), frozenset(new)
    learned, forgotten = _keys_with_directory_only_in(after, before), _keys_with_directory_only_in(before, after)
    return Change(_with_directories(before, learned), _with_directories(after, forgotten), learned, forgotten)


def place(key: ReplicaKey) -> tuple[int, str]:
    """Return the sort key of a voter: ascending id, then directory id; an unknown one comes first."""
    return key.id, key.directory_id or ""


def in_order(voters: Iterable[ReplicaKey]) -> tuple[ReplicaKey, ...]:
    """Return the voters sorted by `place`."""
    return tuple(sorted(voters, key=place))


def listed(voters: Collection[ReplicaKey], most: int = 12) -> str:
    """Return the voters in order, with commas; of a longer list the first `most` and the number of the others."""
    if not voters:
        return "no voter"
    # Partial sorting is faster: the tables of long plans have thousands of long sets.
    first = ", ".join(map(str, nsmallest(most, voters, key=place)))
    others = len(voters) - most
    return first if others <= 0 else f"{first} and {others} more"


def number_of(number: int, noun: str) -> str:
    """Return text such as `1 voter`, `2 voters`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def _keys_with_directory_only_in(voters: VoterSet, other: VoterSet) -> tuple[ReplicaKey, ...]:
    """Return keys with a directory id that are bare in the other set; an id that a set has twice is left alone."""
    differing = other - voters
    bare = {key.id for key in differing if key.directory_id is None}
    keyed = [key for key in voters - other if key.id in bare] if bare else []
    if keyed:
        times, other_times = (Counter(key.id for key in voter_set) for voter_set in (voters, other))
        keyed = [key for key in keyed if times[key.id] == other_times[key.id] == 1]
    return in_order(keyed)


def _with_directories(voters: VoterSet, keyed: tuple[ReplicaKey, ...]) -> VoterSet:
    return voters - _without_directories(keyed) | frozenset(keyed) if keyed else voters


def _without_directories(keys: Iterable[ReplicaKey]) -> VoterSet:
    return frozenset(ReplicaKey(key.id) for key in keys)


def _list_notes(of: Change) -> Iterator[Reason]:
    for removed, added in of.other_directories:
        yield Reason(
            f"{removed} and {added} are two replicas; by id alone nothing would have changed at {added.id}",
            ("identity.replica-key",),
        )
    if of.learned or of.forgotten:
        yield Reason(
            f"an entry without a directory id is taken for the replica of its id: {listed(of.learned + of.forgotten)}",
            ("identity.unknown-directory-matches-id",),
        )
    voters = of.old | of.new
    for directory, named in _by_directory(voters):
        yield Reason(
            f"the directory id {directory} stands for {' and '.join(map(str, named))}: two replicas have two",
            ("identity.directory-id-at-format",),
        )
    if voters and all(key.directory_id is None for key in voters):
        yield Reason("by id alone: a disk that was replaced is not seen", ("identity.replica-key",))


def _by_directory(voters: VoterSet) -> Iterator[tuple[str, tuple[ReplicaKey, ...]]]:
    """Yield directory ids with more than one voter, each with those voters, in order."""
    keys = defaultdict(list)
    for key in voters:
        if key.directory_id is not None:
            keys[key.directory_id].append(key)
    yield from ((directory, in_order(keys[directory])) for directory in sorted(keys) if len(keys[directory]) > 1)
