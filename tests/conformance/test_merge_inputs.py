"""`trace merge` of damaged files: the file and the place are named, and nothing is written but where a line is torn."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.commands import Captured, assert_said

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.samples import sample_folder

Lines = list[dict[str, Any]]


def written(path: Path, lines: Lines) -> Path:
    for number, line in enumerate(lines[1:], start=1):
        line["sequence"] = number
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def traces(tmp_path: Path) -> dict[int, Path]:
    """A sample as the traces of three processes, which know no ids of messages."""
    header, *lines = map(json.loads, (sample_folder() / "ping-pong.jsonl").read_text(encoding="utf-8").splitlines())
    own: dict[int, Lines] = {1: [header], 2: [header], 3: [header]}
    for line in lines:
        line.pop("cause", None)
        for message in (line.get("message"), *(effect.get("message") for effect in line.get("effects", ()))):
            (message or {}).pop("id", None)
        if "replica" in line:
            own[line["replica"]].append(line)
    return {number: written(tmp_path / f"{number}.jsonl", lines) for number, lines in own.items()}


def merge(traces: dict[int, Path], output: Path) -> tuple[str, ...]:
    return ("trace", "merge", *(str(path) for path in traces.values()), "-o", str(output))


def test_the_traces_of_three_processes_are_one(traces: dict[int, Path], tmp_path: Path) -> None:
    assert main([*merge(traces, tmp_path / "merged.jsonl")]) == ExitCode.CONFORMANT


def test_a_message_that_is_received_before_it_can_be_sent(
    traces: dict[int, Path], tmp_path: Path, capsys: Captured
) -> None:
    lines = [json.loads(line) for line in traces[1].read_text(encoding="utf-8").splitlines()]
    response = next(number for number, line in enumerate(lines) if line.get("event") == "HandleVoteResponse")
    # Before the event that sent the request.
    lines.insert(1, lines.pop(response))
    written(traces[1], lines)
    output = tmp_path / "merged.jsonl"
    assert_said(capsys, ExitCode.BAD_INPUT, "is received before it is sent", *merge(traces, output))
    assert not output.exists()


def test_a_torn_last_line_is_left_out(traces: dict[int, Path], tmp_path: Path, capsys: Captured) -> None:
    """A process that is killed while it writes leaves one."""
    traces[2].write_bytes(traces[2].read_bytes()[:-40])
    output = tmp_path / "merged.jsonl"
    text = f"{traces[2]}: the last line is incomplete and is omitted: the merged trace is not complete"
    assert_said(capsys, ExitCode.CONFORMANT, text, *merge(traces, output))
    *_, end = map(json.loads, output.read_text(encoding="utf-8").splitlines())
    assert (end["kind"], end["complete"]) == ("end", False)


def torn_in_the_middle(content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join([*lines[:3], lines[3][:50], *lines[4:]])


def zeros_in_the_middle(content: bytes) -> bytes:
    """The hole that a machine leaves that loses power while it writes."""
    middle = len(content) // 2
    return content[:middle] + bytes(4096) + content[middle:]


def cut_gzip(content: bytes) -> bytes:
    return gzip.compress(content)[:-100]


def damaged_gzip(content: bytes) -> bytes:
    packed = bytearray(gzip.compress(content))
    packed[len(packed) // 2] ^= 0xFF
    return bytes(packed)


@pytest.mark.parametrize(
    "damage", [torn_in_the_middle, zeros_in_the_middle, cut_gzip, damaged_gzip], ids=lambda item: item.__name__
)
def test_a_damaged_trace_is_named(
    damage: Callable[[bytes], bytes], traces: dict[int, Path], tmp_path: Path, capsys: Captured
) -> None:
    traces[2].write_bytes(damage(traces[2].read_bytes()))
    output = tmp_path / "merged.jsonl"
    assert_said(capsys, ExitCode.BAD_INPUT, str(traces[2]), *merge(traces, output))
    assert not output.exists()


@pytest.mark.parametrize("damage", [cut_gzip, damaged_gzip], ids=lambda item: item.__name__)
def test_a_damaged_capture_is_named(damage: Callable[[bytes], bytes], tmp_path: Path, capsys: Captured) -> None:
    sample = Path(__file__).with_name("live") / "from-disks.capture.gz"
    capture = tmp_path / "damaged.capture.gz"
    capture.write_bytes(damage(gzip.decompress(sample.read_bytes())))
    assert_said(
        capsys, ExitCode.BAD_INPUT, str(capture), "live", "infer", str(capture), "-o", str(tmp_path / "t.jsonl")
    )
