"""States of one replica for `constructed`: products of what its fields can hold, reachable or not.

All of them are well-typed (TypeOk in Properties.tla); `constructing` asks the model for that.
The replica under test is in `EPOCH`, so that there is an epoch below and one above.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple, cast

from kraft_spec.edges.edge import ModelRecord
from kraft_spec.mapping_forms import function_entries
from kraft_spec.tlc.values import Function

EPOCH = 2
NO_LEADER = -1
NO_KEY = (-1, "")
NO_ENDPOINT = ""
OTHER_DIRECTORY = "Z"
"""A directory id that no replica has."""

Key = tuple[int, str]
Fields = Mapping[str, Any]
Log = tuple[ModelRecord, ...]


class Place(NamedTuple):
    """The replica under test, and two voters beside it: `first` sends most messages, `second` is somebody else.

    Attributes:
        full: Whether the products are whole here; elsewhere the votes and logs are fewer.
    """

    configuration: ModelRecord
    replica_id: int
    first: int
    second: int
    full: bool

    def key(self, replica_id: int) -> Key:
        key: Key = function_entries(self.configuration["keys"])[replica_id]
        return key

    def entry(self, replica_id: int) -> Key:
        """The entry of the first voters set for a voter, and the own key of an observer."""
        return next((voter for voter in self.configuration["voters"] if voter[0] == replica_id), self.key(replica_id))

    def endpoint(self, replica_id: int) -> str:
        endpoint: str = function_entries(self.configuration["endpoints"])[replica_id]
        return endpoint

    @property
    def own(self) -> Key:
        return self.key(self.replica_id)


def hashable(fields: Fields) -> ModelRecord:
    """A record that can be an element of a set, as the messages in the network are."""
    return cast(ModelRecord, Function(fields))


def record(epoch: int, kind: str, value: int = 0, voters: frozenset[Key] = frozenset()) -> ModelRecord:
    """A record of a log."""
    return hashable({"epoch": epoch, "kind": kind, "value": value, "voters": voters})


def voters_sets(place: Place) -> Mapping[str, frozenset[Key]]:
    """Voters sets that a record of the log may bring."""
    others = {place.key(place.first), place.key(place.second)}
    return {
        "all": frozenset({place.own, *others}),
        "without": frozenset(others),
        "moved": frozenset({(place.replica_id, OTHER_DIRECTORY), *others}),
        "pair": frozenset({place.own, place.key(place.first)}),
        "sole": frozenset({place.own}),
    }


def logs(place: Place) -> Mapping[str, Log]:
    """Logs by name; `ahead` is of a later epoch than the replica, as after the loss of its quorum state file."""
    first = record(1, "LeaderChange", place.first)
    behind = (first, record(1, "Data", 7))
    return {
        "empty": (),
        "behind": behind,
        "current": (first, record(2, "LeaderChange", place.first)),
        "longer": (*behind, record(1, "Data", 8)),
        "leads": (first, record(2, "LeaderChange", place.replica_id), record(2, "Data", 7)),
        "ahead": (first, record(3, "LeaderChange", place.second)),
        **{f"voters-{name}": (first, record(1, "Voters", 0, voters)) for name, voters in voters_sets(place).items()},
    }


def state(place: Place, role: str, log: str = "behind", **fields: Any) -> ModelRecord:
    """A state in `EPOCH` with a log of `logs`; a field that is not given holds what NewReplica gives it."""
    content = logs(place)[log]
    base = {"offset": -1, "voters": place.configuration["voters"]}
    changes = [
        {"offset": offset, "voters": one["voters"]} for offset, one in enumerate(content) if one["kind"] == "Voters"
    ]
    blank: dict[str, Any] = {
        "key": place.own,
        "role": role,
        "epoch": EPOCH,
        "leader": NO_LEADER,
        "endpoint": NO_ENDPOINT,
        "voted": NO_KEY,
        "log": content,
        "flushed": len(content),
        "voters": (base, *changes),
        "highWatermark": -1,
        **dict.fromkeys(("granted", "rejected", "fetchers", "acknowledged", "awaiting"), frozenset()),
        **dict.fromkeys(("fetched", "searching"), False),
        "epochStart": 0,
        "offsets": (),
        "preferred": (),
    }
    unknown = fields.keys() - blank.keys()
    if unknown:
        raise ValueError(f"no fields of a state: {sorted(unknown)}")
    return blank | fields


def leads(place: Place) -> Fields:
    """What a Leader or a Resigned replica knows of the leader."""
    return {"leader": place.replica_id, "endpoint": place.endpoint(place.replica_id)}


def follows(place: Place, leader: int) -> Fields:
    """What a replica knows of another that leads."""
    return {"leader": leader, "endpoint": place.endpoint(leader)}


def votes(place: Place) -> tuple[Key, ...]:
    """Whom it may have voted for: nobody, the sender, itself, somebody else, the sender with another disk."""
    some = (NO_KEY, place.key(place.first))
    if not place.full:
        return some
    return (*some, place.own, place.key(place.second), (place.first, OTHER_DIRECTORY))


def _known_leaders(place: Place) -> tuple[Fields, ...]:
    """What a Prospective may know of the leader."""
    return ({}, {"leader": place.first}, follows(place, place.first), follows(place, place.second))


def asked_states(place: Place) -> Iterator[ModelRecord]:
    """Every running role with every vote: states that requests meet."""
    first, second = place.first, place.second
    some_logs = ("behind", "empty", "current") if place.full else ("behind",)
    for voted, log in product(votes(place), some_logs):
        for leader in (NO_LEADER, first, second):
            yield state(place, "Unattached", log, leader=leader, voted=voted)
        yield state(place, "Resigned", log, voted=voted, **leads(place))
    alone = frozenset({place.replica_id})
    for voted in votes(place):
        for known in _known_leaders(place):
            yield state(place, "Prospective", voted=voted, granted=alone, **known)
        for leader, fetched, searching in product((first, second), (False, True), (False, True)):
            if not (fetched and searching):
                at = follows(place, leader)
                yield state(place, "Follower", voted=voted, fetched=fetched, searching=searching, **at)
        yield state(place, "Leader", "leads", voted=voted, epochStart=1, **leads(place))
        yield state(place, "Leader", "behind", voted=voted, **leads(place))
        if voted != NO_KEY:
            yield state(place, "Candidate", voted=voted, granted=alone)
    # Outside its own voters set it is an observer, whatever it was before.
    for log, leader in product(("voters-without", "voters-moved", "voters-sole"), (NO_LEADER, first)):
        yield state(place, "Unattached", log, leader=leader)
        if leader != NO_LEADER:
            yield state(place, "Follower", log, **follows(place, leader))
            yield state(place, "Follower", log, fetched=True, searching=True, **follows(place, leader))


def waiting_states(place: Place) -> Iterator[ModelRecord]:
    """Every running role while it waits for answers of both others; and once without."""
    own, first, second = place.replica_id, place.first, place.second
    both: Fields = {"awaiting": frozenset({(first, 1), (second, 1)})}
    alone = frozenset({own})
    nobody: frozenset[int] = frozenset()
    rounds = [(alone, nobody), (alone, frozenset({second}))]
    if place.full:
        rounds += [(alone, frozenset({first})), (alone | {first}, nobody)]
    for granted, rejected in rounds:
        count: Fields = {"granted": granted, "rejected": rejected}
        for known in _known_leaders(place):
            yield state(place, "Prospective", **count, **known, **both)
        yield state(place, "Prospective", voted=place.key(second), **count, **both)
        yield state(place, "Candidate", voted=place.own, **count, **both)
    for leader in (first, second):
        yield state(place, "Follower", voted=place.own, **follows(place, leader), **both)
        yield state(place, "Unattached", leader=leader, **both)
    yield state(place, "Unattached", voted=place.own, **both)
    for acknowledged in (nobody, frozenset({second})):
        announced: Fields = {"acknowledged": acknowledged, "voted": place.own, **leads(place)}
        yield state(place, "Leader", "leads", epochStart=1, **announced, **both)
        yield state(place, "Resigned", **announced, **both)
    # Nothing is outstanding at the sender of most messages.
    other: Fields = {"awaiting": frozenset({(second, 1)})}
    yield state(place, "Prospective", granted=alone, **other)
    yield state(place, "Candidate", granted=alone, voted=place.own, **other)
    yield state(place, "Follower", **follows(place, second), **other)
    yield state(place, "Leader", "leads", **leads(place), **other)


def leader_states(place: Place) -> Iterator[ModelRecord]:
    """What a leader counts: fetch offsets, fetchers, the high watermark; and voters sets it may be outside of."""
    sender, other = place.entry(place.first), place.entry(place.second)
    progress = ((), {sender: 1}, {sender: 2, other: 3}, {other: 2})
    nobody: frozenset[int] = frozenset()
    seen = (nobody, frozenset({place.first}), frozenset({place.second}))
    for offsets, fetchers, watermark in product(progress, seen, (-1, 1, 2)):
        counted: Fields = {"offsets": offsets, "fetchers": fetchers, "highWatermark": watermark}
        yield state(place, "Leader", "leads", epochStart=1, voted=place.own, **counted, **leads(place))
    for name, watermark, fetchers in product(voters_sets(place), (-1, 1), seen[:2]):
        counted = {"fetchers": fetchers, "highWatermark": watermark}
        yield state(place, "Leader", f"voters-{name}", **counted, **leads(place))
    # Announced to everybody, and one request outstanding: nothing, or less, is due.
    waiting: Fields = {"awaiting": frozenset({(place.first, 1)})}
    told = frozenset({place.first, place.second})
    yield state(place, "Leader", "leads", epochStart=1, acknowledged=told, **leads(place), **waiting)
    ordered = (place.entry(place.second), place.entry(place.first))
    yield state(place, "Resigned", preferred=ordered, **leads(place), **waiting)


def fetching_states(place: Place) -> Iterator[ModelRecord]:
    """A Follower that waits for an answer of its leader, with logs to truncate and high watermarks to keep."""
    at = {**follows(place, place.first), "awaiting": frozenset({(place.first, 1)})}
    for log, fetched, searching in product(("empty", "behind", "current", "longer"), (False, True), (False, True)):
        for watermark in (-1, 1, 2):
            if watermark <= len(logs(place)[log]) and not (fetched and searching and not place.full):
                fields: Fields = {"fetched": fetched, "searching": searching, "highWatermark": watermark}
                yield state(place, "Follower", log, **fields, **at)
    for name in voters_sets(place):
        yield state(place, "Follower", f"voters-{name}", flushed=1, **at)


def stopped_states(place: Place) -> Iterator[ModelRecord]:
    """What may be on a disk: epoch, leader, vote and log; the log may be ahead of the file."""
    leaders = (NO_LEADER, place.first, place.second, place.replica_id)
    for leader, voted, log in product(leaders, votes(place), logs(place)):
        yield state(place, "Stopped", log, leader=leader, voted=voted)
    observer = max(function_entries(place.configuration["keys"]))
    yield state(place, "Stopped", leader=observer if observer != place.replica_id else NO_LEADER)
    for voted in ((place.replica_id, ""), (place.replica_id, OTHER_DIRECTORY)):
        yield state(place, "Stopped", voted=voted)


def unflushed_states(place: Place) -> Iterator[ModelRecord]:
    """States whose next step has several effects, with a tail of the log that a crash may lose."""
    first = place.first
    alone = frozenset({place.replica_id})
    waiting: Fields = {"awaiting": frozenset({(first, 1)})}
    tail: Fields = {"log": "behind", "flushed": 1}
    for voted in (NO_KEY, place.key(first)):
        yield state(place, "Unattached", voted=voted, **tail)
        yield state(place, "Prospective", voted=voted, granted=alone, **tail, **waiting)
        yield state(place, "Follower", voted=voted, **tail, **follows(place, first), **waiting)
    yield state(place, "Follower", **tail, **follows(place, first))
    yield state(place, "Prospective", granted=alone, **tail)
    yield state(place, "Prospective", "voters-sole", granted=alone, flushed=1)
    yield state(place, "Candidate", voted=place.own, granted=alone, **tail, **waiting)
    for log in ("leads", "voters-without"):
        yield state(place, "Leader", log, flushed=1, fetchers=frozenset({place.second}), **leads(place))
    yield state(place, "Resigned", **tail, **leads(place))
    for log in ("ahead", "voters-sole"):
        yield state(place, "Stopped", log, voted=place.own, flushed=1)
