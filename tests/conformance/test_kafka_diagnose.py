"""`kraft-spec kafka diagnose` on the files that runs on whole controllers of 4.3.1 and 4.4.0 have left."""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.commands import Captured

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode

FILES = Path(__file__).parent / "kafka_files"
FINDINGS = ("unread-voters", "outlived-voters-record", "own-vote-before-known-leader")


def unpacked(name: str, folder: Path) -> Path:
    with tarfile.open(FILES / f"{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def diagnosed(capsys: Captured, *paths: Path) -> tuple[int, list[dict[str, Any]]]:
    code = main(["kafka", "diagnose", *map(str, paths), "--json"])
    return code, json.loads(capsys.readouterr().out)["diagnoses"]


@pytest.mark.parametrize("name", FINDINGS)
def test_a_finding_is_named_with_the_lines_that_show_it(tmp_path: Path, capsys: Captured, name: str) -> None:
    code, diagnoses = diagnosed(capsys, unpacked(name, tmp_path))
    assert code == ExitCode.VIOLATION
    named = [diagnosis for diagnosis in diagnoses if diagnosis["finding"] == name]
    place = next(place for diagnosis in named for place in diagnosis["places"] if place["line"])
    line = Path(place["file"]).read_text().splitlines()[place["line"] - 1]
    assert place["text"].removesuffix("...") in line


@pytest.mark.parametrize("name", FINDINGS)
@pytest.mark.parametrize("kept", ["controller.log", "data"])
def test_logs_alone_or_disks_alone_do_not_accuse_another_finding(
    tmp_path: Path, capsys: Captured, name: str, kept: str
) -> None:
    for part in [*unpacked(name, tmp_path).glob("controller-*/*")]:
        if part.name != kept:
            shutil.rmtree(part) if part.is_dir() else part.unlink()
    _, diagnoses = diagnosed(capsys, tmp_path)
    assert {diagnosis["finding"] for diagnosis in diagnoses} <= {name, ""}


@pytest.mark.parametrize("name", ["healthy-own-vote", "healthy-snapshot"])
def test_nothing_is_wrong_in_the_files_of_a_kafka_with_the_fix(tmp_path: Path, capsys: Captured, name: str) -> None:
    assert main(["kafka", "diagnose", str(unpacked(name, tmp_path))]) == ExitCode.CONFORMANT
    assert "no sign of a bug in 6 files" in capsys.readouterr().out


def test_a_process_that_was_killed_before_it_read_its_newest_record_is_no_sign(
    tmp_path: Path, capsys: Captured
) -> None:
    """Its log has its start, and no truncation since."""
    for path in unpacked("unread-voters", tmp_path).glob("controller-*/controller.log"):
        kept = [line for line in path.read_text().splitlines(keepends=True) if "Truncated to offset" not in line]
        path.write_text("".join(kept))
    _, diagnoses = diagnosed(capsys, tmp_path)
    assert "unread-voters" not in {diagnosis["finding"] for diagnosis in diagnoses}


def log(*lines: str) -> str:
    return "".join(f"[2026-11-28 10:00:00,000] INFO [RaftManager id=1] {line} (org.apache.kafka)\n" for line in lines)


UNATTACHED = (
    "Completed transition to Unattached(epoch={}, leaderId=OptionalInt.empty, "
    "votedKey=Optional[ReplicaKey(id={}, directoryId=x)], voters=[1, 2, 3]) from null"
)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ((UNATTACHED.format(4, 2), UNATTACHED.format(4, 3)), "it has voted for both 2 and 3 in epoch 4"),
        ((UNATTACHED.format(4, 2), UNATTACHED.format(3, 2)), "its epoch falls from 4 to 3"),
    ],
)
def test_what_no_rule_allows_is_said(tmp_path: Path, capsys: Captured, lines: tuple[str, ...], text: str) -> None:
    (tmp_path / "server.log").write_text(log(*lines))
    code, diagnoses = diagnosed(capsys, tmp_path)
    assert code == ExitCode.VIOLATION
    assert text in diagnoses[0]["text"]


def test_output_of_kafkas_tools_is_read(tmp_path: Path, capsys: Captured) -> None:
    voters = '{"version":0,"voters":[{"voterId":1},{"voterId":2}]}'
    batch = "baseOffset: 7 lastOffset: 7 count: 1 partitionLeaderEpoch: 2 isTransactional: false isControl: true"
    for number, payload in enumerate(("KRaftVoters " + voters, "LeaderChange " + '{"version":1,"leaderId":2}')):
        (tmp_path / f"dump-{number}").write_text(
            f"Dumping /data/__cluster_metadata-0/00000000000000000000.log\n{batch}\n| offset: 7 keySize: 4 {payload}\n"
        )
    status = (
        "ClusterId: x\nLeaderId: {}\nLeaderEpoch: 2\nHighWatermark: 9\nCurrentVoters: [1,2]\nCurrentObservers: []\n"
    )
    for leader in (1, 2):
        (tmp_path / f"quorum-{leader}").write_text(status.format(leader))
    code, diagnoses = diagnosed(capsys, tmp_path)
    assert code == ExitCode.VIOLATION
    assert [diagnosis["text"] for diagnosis in diagnoses] == [
        "epoch 2 has 2 leaders: 1, 2",
        "different records of the same epoch at 1 offsets, from 7 on",
    ]


def test_a_damaged_file_is_named_and_the_others_are_judged(tmp_path: Path, capsys: Captured) -> None:
    segment = next(unpacked("unread-voters", tmp_path).glob("controller-2/data/__cluster_metadata-0/*.log"))
    segment.write_bytes(segment.read_bytes()[:200] + b"x" + segment.read_bytes()[201:])
    assert main(["kafka", "diagnose", str(tmp_path)]) == ExitCode.VIOLATION
    assert f"not read: {segment}" in capsys.readouterr().out.replace("\n", " ")


def test_paths_without_a_file_of_kafkas_are_refused(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "notes.txt").write_text("nothing of Kafka\n")
    assert main(["kafka", "diagnose", str(tmp_path)]) == ExitCode.NOTHING_JUDGED
    assert main(["kafka", "diagnose", str(tmp_path / "missing")]) == ExitCode.NO_INPUT
    assert "missing: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["controller.log", "data/__cluster_metadata-0/quorum-state", ""])
def test_validate_points_there(tmp_path: Path, capsys: Captured, name: str) -> None:
    path = unpacked("healthy-own-vote", tmp_path) / "controller-1" / name
    assert main(["validate", str(path)]) in (ExitCode.BAD_INPUT, ExitCode.NO_INPUT)
    assert f"kraft-spec kafka diagnose {path}" in capsys.readouterr().err.replace("\n", "")
