"""The data folder of a node holds what the effects say, also after a restart and with segments that Kafka left."""

import json
from pathlib import Path

from kraft_kafka.node.disk import Disk, format_folder
from kraft_kafka.node.trace import NodeTrace
from kraft_kafka.wire.disk_files import PARTITION
from kraft_kafka.wire.log_records import data_batch, number_of
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.effects import AppendRecords, DurableEffect, TruncateLog, WriteSnapshot
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.log import Snapshot
from kraft_reference.records import Record, RecordKind
from kraft_reference.state import new_replica

KEY = ReplicaKey(1, "A1")
VALUES = {number_of(value): value for value in (b"a", b"b", b"c")}


def snapshot(end_offset: int, epoch: int) -> Snapshot:
    return Snapshot(end_offset, epoch, 1, frozenset({KEY}), (VoterDetails(1, "127.0.0.1:9093", 0, 1),))


def formatted(folder: Path) -> Path:
    format_folder(folder / "data", "AAAAAAAAAAAAAAAAAAAAAg", KEY, snapshot(0, 0))
    return folder / "data"


def opened_after(folder: Path, *effects: DurableEffect) -> Disk:
    disk = Disk(folder, snapshot(0, 0))
    for effect in effects:
        disk.carry_out(effect, (), VALUES, (), None)
    disk.close()
    return Disk(folder, snapshot(0, 0))


def appended(offset: int, *values: bytes) -> AppendRecords:
    return AppendRecords(offset, tuple(Record(1, RecordKind.DATA, number_of(value)) for value in values))


def test_a_record_that_a_snapshot_and_the_log_have_is_there_once(tmp_path: Path) -> None:
    folder = formatted(tmp_path)
    disk = opened_after(folder, appended(0, b"a", b"b"), WriteSnapshot(snapshot(1, 1), False))
    assert disk.values(2) == (b"a", b"b")
    disk.close()


def test_a_log_may_end_inside_of_a_batch(tmp_path: Path) -> None:
    disk = opened_after(formatted(tmp_path), appended(0, b"a", b"b", b"c"), TruncateLog(2), appended(2, b"a"))
    assert (disk.state.log.end_offset, disk.values(3)) == (3, (b"a", b"b", b"a"))
    disk.close()


def test_several_segments_stay_whole_and_are_cut_from_the_end(tmp_path: Path) -> None:
    folder = formatted(tmp_path)
    for offset, value in enumerate((b"a", b"b", b"c")):
        (folder / PARTITION / f"{offset:020d}.log").write_bytes(data_batch(offset, 1, [value], 0))
    disk = opened_after(folder)
    assert disk.values(3) == (b"a", b"b", b"c")
    disk.close()
    disk = opened_after(folder, TruncateLog(1), appended(1, b"c"))
    assert (disk.state.log.end_offset, disk.values(2)) == (2, (b"a", b"c"))
    disk.close()


def test_a_folder_of_an_older_release_gets_a_directory_id_for_good(tmp_path: Path) -> None:
    """Rule: identity.directory-id-on-upgrade."""
    folder = formatted(tmp_path)
    meta = folder / "meta.properties"
    meta.write_text("".join(line for line in meta.read_text().splitlines(True) if "directory.id" not in line))
    disk = Disk(folder, snapshot(0, 0))
    made = disk.key.directory_id
    disk.close()
    disk = Disk(folder, snapshot(0, 0))
    disk.close()
    assert made is not None
    assert (disk.key.directory_id, meta.read_text().count("directory.id")) == (made, 1)


def test_a_trace_has_the_bootstrap_servers_of_every_start(tmp_path: Path) -> None:
    keys = {number: ReplicaKey(number, f"D{number}") for number in (1, 2, 3)}
    path = tmp_path / "trace.jsonl"
    for servers in ((1,), (2,)):
        replicas = {number: ReplicaConfiguration(keys[number], f"h:{number}") for number in (*servers, 3)}
        configuration = Configuration(replicas, frozenset(), 1, servers)
        NodeTrace(path, configuration, new_replica(keys[3], Snapshot(0, 0, 1, frozenset(), ()))).close()
    header = json.loads(path.read_text().splitlines()[0])
    assert (header["bootstrap_servers"], [replica["id"] for replica in header["replicas"]]) == ([1, 2], [1, 2, 3])
