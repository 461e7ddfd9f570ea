"""The smallest parts of a line: numbers with their ranges, replica keys, records, and their way to and fro.

The ranges are those of the wire: 32 bits for ids and epochs, 64 bits for offsets and times.
Within them nothing is refused here: whether an epoch or an offset makes sense is for the model to say.
"""

from functools import lru_cache
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.records import Record, RecordKind

_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1

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
MessageId = Annotated[
    str,
    Meta(
        # The lookahead, because in Python `$` also stands before a newline at the end.
        pattern=r"^[1-9][0-9]{0,18}\.(0|[1-9][0-9]{0,9})$(?!\n)",
        description="'<sequence of the line that sent the message>.<id of the replica that it is for>'.",
    ),
]


class TracedKey(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A replica id with its directory id, which is null where it is not known."""

    id: ReplicaId
    directory_id: str | None


class TracedRecord(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A record of the log; it has voters if and only if its kind is Voters."""

    epoch: Epoch
    kind: RecordKind
    value: Number
    voters: tuple[TracedKey, ...] | UnsetType = UNSET


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


def traced_record(record: Record) -> TracedRecord:
    """The trace's form of a record."""
    voters = traced_voters(record.voters) if record.kind is RecordKind.VOTERS else UNSET
    return TracedRecord(record.epoch, record.kind, record.value, voters)


def replica_key(key: TracedKey) -> ReplicaKey:
    """The reference's form of a replica key."""
    return ReplicaKey(key.id, key.directory_id)


def voter_set(voters: tuple[TracedKey, ...]) -> VoterSet:
    """The reference's form of a voters set."""
    return frozenset(replica_key(key) for key in voters)


def record_of(record: TracedRecord) -> Record:
    """The reference's form of a record."""
    voters: VoterSet = frozenset() if record.voters is UNSET else voter_set(record.voters)
    return Record(record.epoch, record.kind, record.value, voters)
