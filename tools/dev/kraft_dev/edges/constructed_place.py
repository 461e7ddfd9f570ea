"""Replica under test of the constructed states, and its possible logs."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from kraft_dev.edges.edge import ModelRecord
from kraft_spec.mapping_forms import ModelDetails, ModelKey, ModelSnapshotId, function_entries
from kraft_spec.tlc.values import Function

EPOCH = 2
NO_LEADER = -1
NO_ENDPOINT = ""
NO_CHANGE: Mapping[str, Any] = {"kind": "none"}
NO_SNAPSHOT = ModelSnapshotId(-1, -1)
NO_TARGET: frozenset[int] = frozenset()
OTHER_DIRECTORY = "Z"
"""A directory id that no replica has."""

Fields = dict[str, Any]
Log = tuple[ModelRecord, ...]


class Place(NamedTuple):
    """Replica under test and its two peers; `first` sends most messages.

    Attributes:
        full: True if the products are complete; otherwise there are fewer votes and logs.
    """

    configuration: ModelRecord
    replica_id: int
    first: int
    second: int
    full: bool

    def key(self, replica_id: int) -> ModelKey:
        key: ModelKey = function_entries(self.configuration["keys"])[replica_id]
        return key

    def entry(self, replica_id: int) -> ModelKey:
        """Return the voter's entry in the first voter set, or the observer's own key."""
        return next((voter for voter in self.configuration["voters"] if voter.id == replica_id), self.key(replica_id))

    def endpoint(self, replica_id: int) -> str:
        endpoint: str = function_entries(self.configuration["endpoints"])[replica_id]
        return endpoint

    def leader(self, replica_id: int) -> Fields:
        """Return the fields that describe a leader and its endpoint."""
        return {"leader_id": replica_id, "leader_endpoint": self.endpoint(replica_id)}

    @property
    def ids(self) -> frozenset[int]:
        """Ids of all replicas."""
        return frozenset(function_entries(self.configuration["keys"]))

    @property
    def own(self) -> ModelKey:
        return self.key(self.replica_id)


def hashable(fields: Fields) -> ModelRecord:
    """Return a record that can be an element of a set, like the messages in the network."""
    return cast(ModelRecord, Function(fields))


def record(epoch: int, kind: str, value: int = 0) -> ModelRecord:
    """Return a log record other than a VotersRecord."""
    return hashable({"epoch": epoch, "kind": kind, "value": value, "voters": frozenset(), "details": frozenset()})


def voters_record(place: Place, epoch: int, voters: frozenset[ModelKey]) -> ModelRecord:
    """Return a VotersRecord with the configured details of the voters."""
    content = {"voters": voters, "details": details(place, voters)}
    return hashable({"epoch": epoch, "kind": "Voters", "value": 0, **content})


def assignment(place: Place, epoch: int, voters: frozenset[ModelKey], target: frozenset[int]) -> ModelRecord:
    """Return a VoterAssignment with the configured details of the voters; an empty target means none."""
    content = {"voters": voters, "details": details(place, voters), "target": target}
    return hashable({"epoch": epoch, "kind": "VoterAssignment", "value": 0, **content})


def details(place: Place, voters: Iterable[ModelKey]) -> frozenset[ModelDetails]:
    """Return the configured details of voters; a static voter has only an endpoint."""
    ids = {voter.id for voter in voters} & place.ids
    lowest, highest = (function_entries(place.configuration[name]) for name in ("min_version", "max_version"))
    if not place.configuration["kraft_version"]:
        return frozenset(ModelDetails(i, place.endpoint(i), 0, 0) for i in ids)
    return frozenset(ModelDetails(i, place.endpoint(i), lowest[i], highest[i]) for i in ids)


def checkpoint(place: Place) -> ModelRecord:
    """Return the checkpoint that the replica under test was formatted with."""
    voters = function_entries(place.configuration["initial_voters"])[place.replica_id]
    level = place.configuration["kraft_version"] if voters else 0
    formatted = {"voters": voters, "details": details(place, voters), "target": NO_TARGET}
    return {"end_offset": 0, "epoch": 0, "kraft_version": level, **formatted}


def voters_sets(place: Place) -> Mapping[str, frozenset[ModelKey]]:
    """Return the voter sets that a log record may contain."""
    peers = {place.key(place.first), place.key(place.second)}
    return {
        "all": frozenset({place.own, *peers}),
        "without": frozenset(peers),
        "moved": frozenset({ModelKey(place.replica_id, OTHER_DIRECTORY), *peers}),
        "pair": frozenset({place.own, place.key(place.first)}),
        "sole": frozenset({place.own}),
    }


def logs(place: Place) -> Mapping[str, Log]:
    """Return logs by name; `ahead` has a later epoch than the replica, as after the loss of its quorum state file."""
    first = record(1, "LeaderChange", place.first)
    behind = (first, record(1, "Data", 7))
    return {
        "empty": (),
        "behind": behind,
        "current": (first, record(2, "LeaderChange", place.first)),
        "longer": (*behind, record(1, "Data", 8)),
        "leads": (first, record(2, "LeaderChange", place.replica_id), record(2, "Data", 7)),
        "ahead": (first, record(3, "LeaderChange", place.second)),
        **{f"voters-{name}": (first, voters_record(place, 1, voters)) for name, voters in voters_sets(place).items()},
        **{
            f"target-{name}": (first, assignment(place, 1, voters_sets(place)["pair"], target))
            for name, target in targets(place).items()
        },
    }


def targets(place: Place) -> Mapping[str, frozenset[int]]:
    """Return targets for a voter set of the replica itself and `first`."""
    own, first, second = place.replica_id, place.first, place.second
    return {
        "added": frozenset({own, first, second}),
        "replaced": frozenset({own, second}),
        "left": frozenset({own}),
        "handed-over": frozenset({first}),
        "reached": frozenset({own, first}),
        "moved": frozenset({first, second}),
    }
