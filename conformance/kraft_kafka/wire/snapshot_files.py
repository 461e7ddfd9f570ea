"""Snapshot files: header, kraft.version and voters as control records, the controller's records, footer.

Rules: snapshot.control-records-first, snapshot.bootstrap-checkpoint.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kraft_kafka.wire.batches import decode_batch, encode_batch
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.log_records import batches_of, control_document, control_record, data_batch, values_of
from kraft_kafka.wire.schema import record_of
from kraft_reference.log import Snapshot
from kraft_reference.records import Record, RecordKind

_HEADER, _FOOTER = "SnapshotHeaderRecord", "SnapshotFooterRecord"


class SnapshotFile(NamedTuple):
    """Contents of a snapshot file."""

    snapshot: Snapshot
    values: tuple[bytes, ...]
    """The controller's records, in order."""


def file_name(snapshot: Snapshot) -> str:
    """Return Kafka's file name: end offset and epoch."""
    return f"{snapshot.end_offset:020d}-{snapshot.epoch:010d}.checkpoint"


def encode_snapshot(snapshot: Snapshot, values: Sequence[bytes], timestamp_ms: int) -> bytes:
    """Encode a snapshot file; at kraft.version 0 it has no voters.  Rule: kraft-version.record-gate."""
    records = [_framing_record(_HEADER, {"lastContainedLogTimestamp": timestamp_ms})]
    if snapshot.kraft_version > 0:
        level = Record(snapshot.epoch, RecordKind.KRAFT_VERSION, snapshot.kraft_version)
        voters = Record(snapshot.epoch, RecordKind.VOTERS, 0, snapshot.voters, snapshot.details)
        records += [control_document(level, ()), control_document(voters, ())]
    raw = _encode_batch(0, records, timestamp_ms)
    if values:
        raw += data_batch(len(records), 0, values, timestamp_ms)
    return raw + _encode_batch(len(records) + len(values), [_framing_record(_FOOTER, {})], timestamp_ms)


def _framing_record(name: str, value: Document) -> Document:
    return {"key": {"version": 0, "type": record_of(name).key}, "value": {"version": 0, **value}}


def _encode_batch(base_offset: int, records: list[Document], timestamp_ms: int) -> bytes:
    times = {"baseTimestamp": timestamp_ms, "maxTimestamp": timestamp_ms}
    return encode_batch({"baseOffset": base_offset, **times, "records": records})


def decode_snapshot(raw: bytes, end_offset: int, epoch: int, static: Snapshot) -> SnapshotFile:
    """Decode a snapshot file; if it has no voters, they are those of `static`.

    Raises:
        WireError: the bytes are damaged or empty.
    """
    if not raw:
        raise WireError(Reason.TRUNCATED, "snapshot", "a header and a footer at least", "no bytes")
    level, voters, details = 0, static.voters, static.details
    values: list[bytes] = []
    framing = {record_of(_HEADER).key, record_of(_FOOTER).key}
    for batch in batches_of(raw):
        if not batch.is_control:
            values += values_of(batch)
            continue
        for document in decode_batch(batch.raw, is_lenient=True)[0]["records"]:
            if document["key"]["type"] in framing:
                continue
            record = control_record(batch.epoch, document)
            if record.kind is RecordKind.KRAFT_VERSION:
                level = record.value
            elif record.kind is RecordKind.VOTERS:
                voters, details = record.voters, record.details
    return SnapshotFile(Snapshot(end_offset, epoch, level, voters, details), tuple(values))
