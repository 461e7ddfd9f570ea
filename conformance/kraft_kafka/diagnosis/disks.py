"""Metadata log folders, and the output of kafka-dump-log, as stored records."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from kraft_kafka.diagnosis.evidence import Disk, StoredRecord, Voters
from kraft_kafka.node.properties import read_properties
from kraft_kafka.wire.disk_files import LOG, META, QUORUM_STATE, snapshot_id
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.log_records import Batch, batches_of, number_of, records_of, values_of
from kraft_kafka.wire.quorum_state import decode_quorum_state
from kraft_kafka.wire.snapshot_files import decode_snapshot
from kraft_reference.log import Snapshot
from kraft_reference.records import Record, RecordKind

DUMP = re.compile(r"^Dumping (\S+)")
_BATCH = re.compile(r"^baseOffset: (\d+) .*partitionLeaderEpoch: (\d+) .*isControl: (true|false)")
_RECORD = re.compile(r"^\| offset: (\d+)(.*)$")
_CONTROL = re.compile(r"(KRaftVoters|KRaftVersion|LeaderChange) (\{.*\})")
_PAYLOAD = re.compile(r"payload: (\{.*\})")
_NO_VOTERS = Snapshot(0, 0, 0, frozenset(), ())


def read_disk(folder: Path, skipped: list[str]) -> Disk:
    """Read a metadata log's folder; a damaged file is named in `skipped`."""
    records: dict[int, StoredRecord] = {}
    snapshots: dict[tuple[int, int], Voters] = {}
    state: dict[str, int] = {}
    for path in sorted(folder.iterdir()):
        try:
            if path.name.endswith(LOG):
                for batch in batches_of(path.read_bytes()):
                    records |= _read_batch(batch)
            elif place := snapshot_id(path.name):
                snapshot = decode_snapshot(path.read_bytes(), *place, _NO_VOTERS).snapshot
                snapshots[place] = frozenset(voter.id for voter in snapshot.voters)
            elif path.name == QUORUM_STATE:
                document = decode_quorum_state(path.read_text(encoding="utf-8"))
                state = {"epoch": document["leaderEpoch"], "leader": document["leaderId"], "voted": document["votedId"]}
        except (WireError, OSError, UnicodeDecodeError) as error:
            skipped.append(f"{path}: {error}")
    present = {name: value for name, value in state.items() if value >= 0}
    return Disk(folder, records, snapshots, present.get("epoch"), present.get("leader"), present.get("voted"))


def node_of_disk(folder: Path) -> int | None:
    """Return the node id in the meta.properties beside a metadata log's folder."""
    path = folder.parent / META
    text = (read_properties(path).get("node.id") if path.is_file() else None) or ""
    return int(text) if text.isdecimal() else None


def _read_batch(batch: Batch) -> dict[int, StoredRecord]:
    if batch.is_control:
        records = [_read_control_record(batch.epoch, record) for record in records_of(batch)]
    else:
        records = [StoredRecord(batch.epoch, f"{number_of(value):08x}", None) for value in values_of(batch)]
    return dict(enumerate(records, batch.base_offset))


def _read_control_record(epoch: int, record: Record) -> StoredRecord:
    if record.kind is RecordKind.VOTERS:
        ids = frozenset(voter.id for voter in record.voters)
        return StoredRecord(epoch, f"Voters {sorted(ids)}", ids)
    return StoredRecord(epoch, f"{record.kind.value} {record.value}", None)


def read_dump(path: Path, lines: Iterable[str]) -> Iterator[Disk]:
    """Read the output of kafka-dump-log: logs as records, snapshots as their voter sets."""
    name, epoch = "", 0
    records: dict[int, StoredRecord] = {}
    for line in lines:
        if match := DUMP.match(line):
            yield from _to_disks(path, name, records)
            name, records = match[1], {}
        elif match := _BATCH.match(line):
            epoch = int(match[2])
        elif match := _RECORD.match(line):
            records[int(match[1])] = _parse_record(epoch, match[2])
    yield from _to_disks(path, name, records)


def _to_disks(path: Path, name: str, records: dict[int, StoredRecord]) -> Iterator[Disk]:
    if not records:
        return
    if place := snapshot_id(Path(name).name):
        voters = [record.voters for record in records.values() if record.voters is not None]
        yield Disk(path, snapshots={place: voters[-1]} if voters else {})
    else:
        yield Disk(path, records)


def _parse_record(epoch: int, text: str) -> StoredRecord:
    if match := _CONTROL.search(text):
        try:
            value = json.loads(match[2])
        except json.JSONDecodeError:
            return StoredRecord(epoch, text.strip(), None)
        if match[1] == "KRaftVoters":
            ids = frozenset(int(voter["voterId"]) for voter in value["voters"])
            return StoredRecord(epoch, f"Voters {sorted(ids)}", ids)
        number = value.get("leaderId", value.get("kRaftVersion"))
        return StoredRecord(epoch, f"{match[1].removeprefix('KRaft')} {number}", None)
    payload = _PAYLOAD.search(text)
    return StoredRecord(epoch, payload[1] if payload else text.strip(), None)
