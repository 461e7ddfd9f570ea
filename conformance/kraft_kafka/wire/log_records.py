"""Kafka's metadata log records as records of the reference, and back.

The log is a sequence of batches of magic 2, as are a segment file, the records of a Fetch response and a snapshot.
A control record becomes the reference's record of the same kind.
The content of any other record concerns the controller, not the quorum: the reference has it as `Data` with a number,
computed from its bytes so that it is the same on every replica.
Rules: wire.control-records, wire.voters-record, wire.leader-change-message.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crc32c import crc32c

from kraft_kafka.wire.batches import (
    BATCH_HEADER,
    CONTROL,
    DEFAULTS,
    batch_bytes,
    decode_batch,
    encode_batch,
    record_bytes,
)
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.reading import Bytes
from kraft_kafka.wire.schema import Kind, messages_by_key, record_of, width_of
from kraft_kafka.wire.translation import directory_of, host_port, uuid_of
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.records import Record, RecordKind

_COMPRESSION = 0x7
_LENGTH_END = 12
"""End of a batch's length field, which counts the bytes after it."""
_HEADER_SIZE = sum(width_of(kind) for _, kind in BATCH_HEADER) + 4


class Batch(NamedTuple):
    """A batch of a log."""

    base_offset: int
    end_offset: int
    """The offset after its last record."""
    epoch: int
    is_control: bool
    raw: bytes


def batches_of(raw: bytes) -> Iterator[Batch]:
    """Yield the whole batches of some bytes; a last batch that a crash or a size limit cut short is ignored.

    Raises:
        WireError: a batch is damaged: not of magic 2, its checksum is wrong, or the number of its offsets is not that
            of its records.  The metadata log is never compacted, so no offset is missing.
    """
    start = 0
    while start + _HEADER_SIZE <= len(raw):
        end = start + _LENGTH_END + int.from_bytes(raw[start + 8 : start + _LENGTH_END], "big", signed=True)
        if end > len(raw):
            return
        batch = raw[start:end]
        if len(batch) < _HEADER_SIZE or batch[16] != 2:
            raise WireError(Reason.BAD_BATCH, "magic", "a whole batch of magic 2", batch[:_HEADER_SIZE].hex(), start)
        stored, computed = int.from_bytes(batch[17:21], "big"), crc32c(batch[21:])
        if stored != computed:
            raise WireError(Reason.BAD_CRC, "crc", f"{computed}, the CRC-32C of what follows", str(stored), start + 17)
        base, delta = int.from_bytes(batch[:8], "big"), int.from_bytes(batch[23:27], "big")
        is_control = bool(int.from_bytes(batch[21:23], "big") & CONTROL)
        count = int.from_bytes(batch[_HEADER_SIZE - 4 : _HEADER_SIZE], "big")
        if count != delta + 1:
            expected = f"{delta + 1} records, as lastOffsetDelta says"
            raise WireError(Reason.BAD_BATCH, "records", expected, str(count), start + _HEADER_SIZE - 4)
        yield Batch(base, base + delta + 1, int.from_bytes(batch[12:16], "big"), is_control, batch)
        start = end


def records_of(batch: Batch) -> tuple[Record, ...]:
    """Return the records of a batch.

    Raises:
        WireError: its records are compressed, damaged, or control records that no quorum's log has.
    """
    if batch.is_control:
        document, _ = decode_batch(batch.raw, is_lenient=True)
        return tuple(control_record(batch.epoch, record) for record in document["records"])
    return tuple(Record(batch.epoch, RecordKind.DATA, number_of(value)) for value in values_of(batch))


def values_of(batch: Batch) -> tuple[bytes, ...]:
    """Return the values of a batch without control records.

    Raises:
        WireError: the records are compressed or damaged.
    """
    if batch.raw[22] & _COMPRESSION:
        raise WireError(Reason.BAD_BATCH, "attributes", "records without compression", str(batch.raw[22]), 21)
    content = Bytes(batch.raw, _HEADER_SIZE - 4, is_lenient=True)
    count = content.number("int32", "records (length)")
    indices = content.elements(count, "records", "records", _HEADER_SIZE - 4)
    return tuple(_read_value(content, f"records[{number}]") for number in indices)


def _read_value(content: Bytes, where: str) -> bytes:
    size = content.signed(f"{where} (length)")
    if not 0 <= size <= content.left:
        raise WireError(Reason.BAD_LENGTH, where, f"a length of up to {content.left}", str(size), content.offset)
    part = content.part(size)
    part.take(1, where, "attributes")
    part.signed(f"{where}.timestampDelta", is_long=True)
    part.signed(f"{where}.offsetDelta")
    part.take(max(0, part.signed(f"{where}.key (length)")), where, "the key")
    return part.take(max(0, part.signed(f"{where}.value (length)")), where, "the value")


def number_of(value: bytes) -> int:
    """Return the number that represents a record's value: 31 bits of its SHA-256, as the model has numbers."""
    return int.from_bytes(hashlib.sha256(value).digest()[:4], "big") >> 1


def control_record(epoch: int, record: Document) -> Record:
    """Return the record for the JSON of a control record in a batch of this epoch.

    Raises:
        WireError: no quorum's log has it.
    """
    kind, value = messages_by_key(Kind.RECORD)[record["key"]["type"]].name, record["value"]
    match kind:
        case "LeaderChangeMessage":
            return Record(epoch, RecordKind.LEADER_CHANGE, value["leaderId"])
        case "KRaftVersionRecord":
            return Record(epoch, RecordKind.KRAFT_VERSION, value["kRaftVersion"])
        case "VotersRecord":
            voters = frozenset(
                ReplicaKey(voter["voterId"], directory_of(voter["voterDirectoryId"])) for voter in value["voters"]
            )
            details = sorted(_voter_details(voter) for voter in value["voters"])
            return Record(epoch, RecordKind.VOTERS, 0, voters, tuple(details))
        case _:
            raise WireError(Reason.BAD_BATCH, "key.type", "a control record of a log", kind)


def _voter_details(voter: Document) -> VoterDetails:
    listener = voter["endpoints"][0] if voter["endpoints"] else {"host": "", "port": 0}
    levels = voter["kRaftVersionFeature"]
    endpoint = f"{listener['host']}:{listener['port']}"
    return VoterDetails(voter["voterId"], endpoint, levels["minSupportedVersion"], levels["maxSupportedVersion"])


def control_batch(base_offset: int, records: Sequence[Record], timestamp_ms: int, voters: Sequence[int] = ()) -> bytes:
    """Encode control records of one epoch as a batch.

    Args:
        base_offset: offset of the first record.
        records: at least one record.
        timestamp_ms: milliseconds since 1970.
        voters: ids of the voters for a LeaderChange among them.

    Raises:
        WireError: a record is a Data record, or a VoterAssignment, for which Kafka has no bytes.
    """
    header = {"baseOffset": base_offset, "partitionLeaderEpoch": records[0].epoch}
    times = {"baseTimestamp": timestamp_ms, "maxTimestamp": timestamp_ms}
    return encode_batch(header | times | {"records": [control_document(record, voters) for record in records]})


def control_document(record: Record, voters: Sequence[int]) -> Document:
    """Return the JSON of a control record for a batch; `voters` are the ids for a LeaderChange.

    Raises:
        WireError: Kafka has no bytes for it.
    """
    match record.kind:
        case RecordKind.LEADER_CHANGE:
            listed = [{"voterId": id_} for id_ in sorted(voters)]
            name, value = "LeaderChangeMessage", {"leaderId": record.value, "voters": listed, "grantingVoters": []}
        case RecordKind.KRAFT_VERSION:
            name, value = "KRaftVersionRecord", {"kRaftVersion": record.value}
        case RecordKind.VOTERS:
            name, value = "VotersRecord", {"voters": [_voter(key, record) for key in sorted(record.voters)]}
        case _:
            raise WireError(Reason.BAD_BATCH, "records", "a control record of Kafka's", record.kind.value)
    return {"key": {"version": 0, "type": record_of(name).key}, "value": {"version": 0} | value}


def _voter(voter: ReplicaKey, record: Record) -> Document:
    details = next(details for details in record.details if details.id == voter.id)
    levels = {"minSupportedVersion": details.min_version, "maxSupportedVersion": details.max_version}
    return {
        "voterId": voter.id,
        "voterDirectoryId": uuid_of(voter.directory_id, "voters"),
        "endpoints": [{"name": "CONTROLLER", **host_port(details.endpoint, "details")}],
        "kRaftVersionFeature": levels,
    }


def data_batch(base_offset: int, epoch: int, values: Sequence[bytes], timestamp_ms: int) -> bytes:
    """Encode records without keys as a batch; `values` has at least one, `timestamp_ms` is milliseconds since 1970."""
    times = {"baseTimestamp": timestamp_ms, "maxTimestamp": timestamp_ms}
    header = {"baseOffset": base_offset, "partitionLeaderEpoch": epoch, "lastOffsetDelta": len(values) - 1}
    records = [record_bytes(bytes(2), number, None, value) for number, value in enumerate(values)]
    return batch_bytes(DEFAULTS | header | times | {"attributes": 0}, records)
