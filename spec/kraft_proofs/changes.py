"""What changes from one voters set to another, by replica and not by id alone."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from heapq import nsmallest
from typing import NamedTuple

from kraft_reference.identity import ReplicaKey, VoterSet


class Reason(NamedTuple):
    """A sentence for the user and the rules that it rests on."""

    text: str
    rules: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.text} ({', '.join(self.rules)})" if self.rules else self.text


class Change(NamedTuple):
    """Two voters sets, and what the second has more and less than the first."""

    old: VoterSet
    new: VoterSet
    learned: tuple[ReplicaKey, ...] = ()
    """Voters whose directory id only the new set gives. Both sets hold them with it here."""
    forgotten: tuple[ReplicaKey, ...] = ()
    """Voters whose directory id only the old set gives. Both sets hold them with it here."""

    @property
    def given_old(self) -> VoterSet:
        """The old set as it was given, where a voter may lack its directory id."""
        return self.old - frozenset(self.learned) | _bare(self.learned)

    @property
    def given_new(self) -> VoterSet:
        """The new set as it was given."""
        return self.new - frozenset(self.forgotten) | _bare(self.forgotten)

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
        """Voters that are removed, each with one that is added under its id and another directory id."""
        added = {key.id: key for key in reversed(self.added)}
        return tuple((key, added[key.id]) for key in self.removed if key.id in added)

    @property
    def notes(self) -> tuple[Reason, ...]:
        """What a reader who thinks of ids would miss."""
        return tuple(_notes(self))


def change(old: Collection[ReplicaKey], new: Collection[ReplicaKey]) -> Change:
    """Compare two voters sets.

    An entry without a directory id stands for the replica that the other set knows under that id.
    So a directory id that is filled in is no change of voters.
    Rules: identity.replica-key, identity.unknown-directory-matches-id.
    """
    before, after = frozenset(old), frozenset(new)
    learned, forgotten = _known_only_in(after, before), _known_only_in(before, after)
    return Change(_filled_in(before, learned), _filled_in(after, forgotten), learned, forgotten)


def place(key: ReplicaKey) -> tuple[int, str]:
    """Where a voter comes in order: by ascending id, then by directory id; an unknown one comes first."""
    return key.id, key.directory_id or ""


def in_order(voters: Iterable[ReplicaKey]) -> tuple[ReplicaKey, ...]:
    """The voters sorted by `place`."""
    return tuple(sorted(voters, key=place))


def listed(voters: Collection[ReplicaKey], most: int = 12) -> str:
    """The voters in order, with commas; of a longer list the first `most` and how many there are besides."""
    if not voters:
        return "no voter"
    # Not sorted as a whole: the tables of long plans have thousands of long sets.
    first = ", ".join(map(str, nsmallest(most, voters, key=place)))
    rest = len(voters) - most
    return first if rest <= 0 else f"{first} and {rest} more"


def number_of(number: int, noun: str) -> str:
    """`1 voter`, `2 voters`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def _known_only_in(knowing: VoterSet, other: VoterSet) -> tuple[ReplicaKey, ...]:
    """Keys with a directory id where the other set has the bare id; an id that a set holds twice is left alone."""
    differing = other - knowing
    bare = {key.id for key in differing if key.directory_id is None}
    known = [key for key in knowing - other if key.id in bare] if bare else []
    if known:
        times, other_times = (Counter(key.id for key in voters) for voters in (knowing, other))
        known = [key for key in known if times[key.id] == other_times[key.id] == 1]
    return in_order(known)


def _filled_in(voters: VoterSet, known: tuple[ReplicaKey, ...]) -> VoterSet:
    return voters - _bare(known) | frozenset(known) if known else voters


def _bare(keys: Iterable[ReplicaKey]) -> VoterSet:
    return frozenset(ReplicaKey(key.id) for key in keys)


def _notes(of: Change) -> Iterator[Reason]:
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
    """Directory ids that more than one voter has, each with those voters, in order."""
    named = defaultdict(list)
    for key in voters:
        if key.directory_id is not None:
            named[key.directory_id].append(key)
    yield from ((directory, in_order(named[directory])) for directory in sorted(named) if len(named[directory]) > 1)
