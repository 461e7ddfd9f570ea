"""The smallest parts of a line: numbers with their ranges, replica keys, records, and their way to and fro.

The ranges are those of the wire: 32 bits for ids and epochs, 64 bits for offsets and times.
Within them nothing is refused here: whether an epoch or an offset makes sense is for the model to say.
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
Level = Annotated[int, Meta(ge=-(2**15), le=2**15 - 1, description="A level of kraft.version, known or not.")]
ReplicaId = Annotated[int, Meta(ge=0, le=_INT32_MAX, description="A replica id.")]
Sequence = Annotated[int, Meta(ge=1, le=_INT64_MAX, description="Counts the events from 1, without gaps.")]
TimeMs = Annotated[int, Meta(ge=0, le=_INT64_MAX, description="Milliseconds since the trace began.")]
DurationMs = Annotated[int, Meta(ge=0, le=_INT64_MAX, description="Milliseconds.")]
Count = Annotated[int, Meta(ge=0, le=_INT64_MAX, description="How many.")]
SmallCount = Annotated[int, Meta(ge=0, le=_INT32_MAX, description="How many, in 32 bits.")]
Epoch = Annotated[int, Meta(ge=-(2**31), le=_INT32_MAX, description="A leader epoch.")]
Offset = Annotated[int, Meta(ge=-(2**63), le=_INT64_MAX, description="A log offset; end offsets are exclusive.")]
Number = Annotated[int, Meta(ge=-(2**63), le=_INT64_MAX)]
CorrelationId = Annotated[
    int, Meta(ge=0, le=_INT64_MAX, description="Of a request, and of the response that answers it.")
]
RequestNumber = Annotated[int, Meta(ge=0, le=_INT32_MAX, description="A client's number for its request.")]
CHANGE_SUFFIX = ".change"
"""What the id of an answer to a voter change ends with."""
FETCH_SUFFIX = ".fetch"
"""What the id of the answer to a Fetch of an earlier line may end with, beside another message to the same receiver."""

MessageId = Annotated[
    str,
    Meta(
        # The lookahead, because in Python `$` also stands before a newline at the end.
        pattern=r"^[1-9][0-9]{0,18}\.(0|[1-9][0-9]{0,9})(\.change|\.fetch)?$(?!\n)",
        description="'<sequence of the line that sent the message>.<id of the replica that it is for>', and '.change' "
        "after that for the answer to a voter change, '.fetch' for that to a Fetch of an earlier line.",
    ),
]


class TracedKey(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A replica id with its directory id, which is null where it is not known."""

    id: ReplicaId
    directory_id: str | None


AskedId = Annotated[int, Meta(ge=-(2**31), le=_INT32_MAX, description="An id that a request names.")]


class AskedKey(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A replica key that a request for a voter change names, whether such a replica can be or not."""

    id: AskedId
    directory_id: str | None


TracedTarget = Annotated[tuple[ReplicaId, ...], Meta(min_length=1)] | None
"""The ids of the voters that a reassignment shall end with, one at least; null for none."""


class TracedDetails(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What a voters set says of one of its voters beside its key."""

    id: ReplicaId
    endpoint: str
    min_version: Level
    max_version: Level


class TracedRecord(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A record of the log; it has voters, and may have details, if it holds a voters set."""

    epoch: Epoch
    kind: RecordKind
    value: Number
    voters: tuple[TracedKey, ...] | UnsetType = UNSET
    details: tuple[TracedDetails, ...] | UnsetType = UNSET
    target: TracedTarget | UnsetType = UNSET
    """Of a VoterAssignment; null when no reassignment is under way."""


class TracedSnapshot(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A snapshot as far as it carries voters."""

    end_offset: Offset
    epoch: Epoch
    kraft_version: KraftVersion
    voters: tuple[TracedKey, ...]
    details: tuple[TracedDetails, ...]
    target: TracedTarget = None
    """Of a reassignment that was under way."""


def by_id_and_directory(key: ReplicaKey) -> tuple[int, str]:
    """The order of replica keys in a line."""
    return key.id, "" if key.directory_id is None else key.directory_id


# The same few keys and voters sets come back in every line of a trace: the caches take most of their cost away.
@lru_cache(maxsize=4096)
def traced_key(key: ReplicaKey) -> TracedKey:
    """The trace's form of a replica key."""
    return TracedKey(key.id, key.directory_id)


@lru_cache(maxsize=1024)
def traced_voters(voters: VoterSet) -> tuple[TracedKey, ...]:
    """The trace's form of a voters set: by ascending id."""
    return tuple(traced_key(key) for key in sorted(voters, key=by_id_and_directory))


@lru_cache(maxsize=1024)
def traced_details(details: tuple[VoterDetails, ...]) -> tuple[TracedDetails, ...]:
    """The trace's form of what a voters set says of its voters: by ascending id."""
    return tuple(TracedDetails(*one) for one in sorted(details))


def traced_target(target: Target) -> TracedTarget:
    """The trace's form of a target: by ascending id."""
    return None if target is None else tuple(sorted(target))


def traced_record(record: Record) -> TracedRecord:
    """The trace's form of a record."""
    if record.kind not in SET_KINDS:
        return TracedRecord(record.epoch, record.kind, record.value)
    voters, details = traced_voters(record.voters), traced_details(record.details)
    target = traced_target(record.target) if record.kind is RecordKind.VOTER_ASSIGNMENT else UNSET
    return TracedRecord(record.epoch, record.kind, record.value, voters, details, target)


def traced_snapshot(snapshot: Snapshot) -> TracedSnapshot:
    """The trace's form of a snapshot."""
    voters, details = traced_voters(snapshot.voters), traced_details(snapshot.details)
    target = traced_target(snapshot.target)
    return TracedSnapshot(snapshot.end_offset, snapshot.epoch, snapshot.kraft_version, voters, details, target)  # type: ignore[arg-type]


def asked_key(key: ReplicaKey) -> AskedKey:
    """The trace's form of the replica key that a request names."""
    return AskedKey(key.id, key.directory_id)


def replica_key(key: TracedKey | AskedKey) -> ReplicaKey:
    """The reference's form of a replica key."""
    return ReplicaKey(key.id, key.directory_id)


def voter_set(voters: tuple[TracedKey, ...]) -> VoterSet:
    """The reference's form of a voters set."""
    return frozenset(replica_key(key) for key in voters)


def record_of(record: TracedRecord) -> Record:
    """The reference's form of a record."""
    voters: VoterSet = frozenset() if record.voters is UNSET else voter_set(record.voters)
    details = () if record.details is UNSET else voter_details(record.details)
    target = None if record.target is UNSET else target_of(record.target)
    return Record(record.epoch, record.kind, record.value, voters, details, target)


def target_of(target: TracedTarget) -> Target:
    """The reference's form of a target."""
    return None if target is None else frozenset(target)


def voter_details(details: tuple[TracedDetails, ...]) -> tuple[VoterDetails, ...]:
    """The reference's form of what a voters set says of its voters: by ascending id."""
    return tuple(sorted(VoterDetails(one.id, one.endpoint, one.min_version, one.max_version) for one in details))


def snapshot_of(snapshot: TracedSnapshot) -> Snapshot:
    """The reference's form of a snapshot."""
    voters, details = voter_set(snapshot.voters), voter_details(snapshot.details)
    target = target_of(snapshot.target)
    return Snapshot(snapshot.end_offset, snapshot.epoch, snapshot.kraft_version, voters, details, target)
