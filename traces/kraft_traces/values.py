"""Smallest parts of a line (numbers with ranges, replica keys, records), with conversions from and to the reference.

The ranges are those of the wire: 32 bits for ids and epochs, 64 bits for offsets and times.
The model, not the reader, rejects wrong numbers within them.
"""

from functools import lru_cache
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from kraft_reference.identity import ReplicaKey, Target, VoterDetails, VoterSet
from kraft_reference.log import Snapshot
from kraft_reference.records import SET_KINDS, Record, RecordKind

_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1

KraftVersion = Literal[0, 1]
Level = Annotated[int, Meta(ge=-(2**15), le=2**15 - 1, description="A kraft.version, supported or not.")]
ReplicaId = Annotated[int, Meta(ge=0, le=_INT32_MAX, description="A replica id.")]
Sequence = Annotated[int, Meta(ge=1, le=_INT64_MAX, description="Number of the event, from 1, without gaps.")]
TimeMs = Annotated[int, Meta(ge=0, le=_INT64_MAX, description="Milliseconds since the trace began.")]
DurationMs = Annotated[int, Meta(ge=0, le=_INT64_MAX, description="Milliseconds.")]
Count = Annotated[int, Meta(ge=0, le=_INT64_MAX, description="A number of things.")]
SmallCount = Annotated[int, Meta(ge=0, le=_INT32_MAX, description="A number of things, in 32 bits.")]
Epoch = Annotated[int, Meta(ge=-(2**31), le=_INT32_MAX, description="A leader epoch.")]
Offset = Annotated[int, Meta(ge=-(2**63), le=_INT64_MAX, description="A log offset; end offsets are exclusive.")]
Number = Annotated[int, Meta(ge=-(2**63), le=_INT64_MAX)]
CorrelationId = Annotated[int, Meta(ge=0, le=_INT64_MAX, description="Correlation id of a request and its response.")]
RequestNumber = Annotated[int, Meta(ge=0, le=_INT32_MAX, description="A client's number for its request.")]
CHANGE_SUFFIX = ".change"
"""Suffix of the id of a response to a voter change."""
FETCH_SUFFIX = ".fetch"
"""Suffix of the id of a late Fetch response, if the line sends another message to the same receiver."""

MessageId = Annotated[
    str,
    Meta(
        # The lookahead is needed because in Python `$` also matches before a newline at the end.
        pattern=r"^[1-9][0-9]{0,18}\.(0|[1-9][0-9]{0,9})(\.change|\.fetch)?$(?!\n)",
        description="'<sequence of the line that sent the message>.<id of the receiver>', followed by '.change' for a "
        "response to a voter change, and by '.fetch' for a response to a Fetch of an earlier line.",
    ),
]


class TracedKey(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Replica id and directory id, which is null if it is unknown."""

    id: ReplicaId
    directory_id: str | None


RequestedId = Annotated[int, Meta(ge=-(2**31), le=_INT32_MAX, description="A replica id in a request.")]


class RequestedKey(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Replica key in a request for a voter change, valid or not."""

    id: RequestedId
    directory_id: str | None


TracedTarget = Annotated[tuple[ReplicaId, ...], Meta(min_length=1)] | None
"""Ids of the voters after a reassignment, at least one; null if there is no reassignment."""


class TracedDetails(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Endpoint and supported kraft.version range of a voter in a voter set."""

    id: ReplicaId
    endpoint: str
    min_version: Level
    max_version: Level


class TracedRecord(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Record of the log; a record with a voter set has voters, and may have details."""

    epoch: Epoch
    kind: RecordKind
    value: Number
    voters: tuple[TracedKey, ...] | UnsetType = UNSET
    details: tuple[TracedDetails, ...] | UnsetType = UNSET
    target: TracedTarget | UnsetType = UNSET
    """Target of a VoterAssignment; null if no reassignment is in progress."""


class TracedSnapshot(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Snapshot, with the parts that concern voters."""

    end_offset: Offset
    epoch: Epoch
    kraft_version: KraftVersion
    voters: tuple[TracedKey, ...]
    details: tuple[TracedDetails, ...]
    target: TracedTarget = None
    """Target of a reassignment that was in progress."""


def by_id_and_directory(key: ReplicaKey) -> tuple[int, str]:
    """Return the sort key of a replica key in a line."""
    return key.id, "" if key.directory_id is None else key.directory_id


# The same few keys and voter sets occur in every line of a trace, so caches save most of the cost.
@lru_cache(maxsize=4096)
def traced_key(key: ReplicaKey) -> TracedKey:
    """Return the trace form of a replica key."""
    return TracedKey(key.id, key.directory_id)


@lru_cache(maxsize=1024)
def traced_voters(voters: VoterSet) -> tuple[TracedKey, ...]:
    """Return the trace form of a voter set, by ascending id."""
    return tuple(traced_key(key) for key in sorted(voters, key=by_id_and_directory))


@lru_cache(maxsize=1024)
def traced_details(details: tuple[VoterDetails, ...]) -> tuple[TracedDetails, ...]:
    """Return the trace form of the details of voters, by ascending id."""
    return tuple(TracedDetails(*voter) for voter in sorted(details))


def traced_target(target: Target) -> TracedTarget:
    """Return the trace form of a target, by ascending id."""
    return None if target is None else tuple(sorted(target))


def traced_record(record: Record) -> TracedRecord:
    """Return the trace form of a record."""
    if record.kind not in SET_KINDS:
        return TracedRecord(record.epoch, record.kind, record.value)
    voters, details = traced_voters(record.voters), traced_details(record.details)
    target = traced_target(record.target) if record.kind is RecordKind.VOTER_ASSIGNMENT else UNSET
    return TracedRecord(record.epoch, record.kind, record.value, voters, details, target)


def traced_snapshot(snapshot: Snapshot) -> TracedSnapshot:
    """Return the trace form of a snapshot."""
    voters, details = traced_voters(snapshot.voters), traced_details(snapshot.details)
    target = traced_target(snapshot.target)
    return TracedSnapshot(snapshot.end_offset, snapshot.epoch, snapshot.kraft_version, voters, details, target)  # type: ignore[arg-type]


def requested_key(key: ReplicaKey) -> RequestedKey:
    """Return the trace form of a replica key in a request."""
    return RequestedKey(key.id, key.directory_id)


def replica_key(key: TracedKey | RequestedKey) -> ReplicaKey:
    """Return the reference's replica key."""
    return ReplicaKey(key.id, key.directory_id)


def voter_set(voters: tuple[TracedKey, ...]) -> VoterSet:
    """Return the reference's voter set."""
    return frozenset(replica_key(key) for key in voters)


def record_of(record: TracedRecord) -> Record:
    """Return the reference's record."""
    voters: VoterSet = frozenset() if record.voters is UNSET else voter_set(record.voters)
    details = () if record.details is UNSET else voter_details(record.details)
    target = None if record.target is UNSET else target_of(record.target)
    return Record(record.epoch, record.kind, record.value, voters, details, target)


def target_of(target: TracedTarget) -> Target:
    """Return the reference's target."""
    return None if target is None else frozenset(target)


def voter_details(details: tuple[TracedDetails, ...]) -> tuple[VoterDetails, ...]:
    """Return the reference's details of voters, by ascending id."""
    return tuple(sorted(VoterDetails(it.id, it.endpoint, it.min_version, it.max_version) for it in details))


def snapshot_of(snapshot: TracedSnapshot) -> Snapshot:
    """Return the reference's snapshot."""
    voters, details = voter_set(snapshot.voters), voter_details(snapshot.details)
    target = target_of(snapshot.target)
    return Snapshot(snapshot.end_offset, snapshot.epoch, snapshot.kraft_version, voters, details, target)
