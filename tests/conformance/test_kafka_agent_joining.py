"""Files of the agent as one trace: events that the files do not have, and files with damaged content."""

import json
import tarfile
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conformance.commands import Captured, error

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_kafka.agent.api_versions import VersionsAnswer, add_api_versions
from kraft_kafka.agent.drafts import Begin, Draft
from kraft_kafka.agent.joining import join_with_opaque, replica_events
from kraft_kafka.agent.reading import read_raw

RECORDED = Path(__file__).parent / "kafka_files" / "agent-single-controller.raw.jsonl"
"""The start of a controller of 4.3.1, the only voter, and a few writes."""
LEADER = RECORDED.parent / "agent-attached" / "leader.raw.jsonl"
"""A leader of 4.3.1 that the agent was attached to, up to its shutdown."""
ANSWER = {"type": "ApiVersionsResponse", "source": 2, "destination": 1, "correlation_id": 7}
ASKED = {"type": "ApiVersionsRequest", "source": 1, "destination": 2, "correlation_id": 7}


def begins_at(time_us: int) -> Any:
    return Begin(SimpleNamespace(time_us=time_us), {})  # type: ignore[arg-type]


def poll(time_us: int, **fields: Any) -> Draft:
    return Draft("Poll", time_us, **fields)


def replica(*drafts: Draft) -> Any:
    return SimpleNamespace(events=list(drafts))


@pytest.mark.parametrize(
    ("sent_us", "received_us", "place"),
    [
        (130, 180, 0),  # The checkpoint is at 100, the first event at 150.
        (90, 180, 0),
        (160, 180, 1),
    ],
)
def test_an_answer_after_the_first_checkpoint_has_an_event(sent_us: int, received_us: int, place: int) -> None:
    responder = replica(poll(150, begin=begins_at(100)))
    add_api_versions({2: responder}, [VersionsAnswer(sent_us, received_us, ANSWER, "a file:1")])
    assert responder.events[place].message == ASKED
    assert [draft.begin is not None for draft in responder.events] == [True, False]


def test_an_answer_before_the_first_checkpoint_has_none() -> None:
    responder = replica(poll(150, begin=begins_at(100)))
    add_api_versions({2: responder}, [VersionsAnswer(80, 95, ANSWER, "a file:1")])
    assert [draft.event for draft in responder.events] == ["Poll"]


@pytest.mark.parametrize(("sent_us", "observed"), [(80, [False, False, True]), (120, [False, True, False])])
def test_an_answer_in_or_after_a_gap_has_an_event(sent_us: int, observed: list[bool]) -> None:
    responder = replica(poll(50, gap="lines are missing"), poll(150, begin=begins_at(100)))
    add_api_versions({2: responder}, [VersionsAnswer(sent_us, 180, ANSWER, "a file:1")])
    assert responder.events[1].message == ASKED
    assert [draft.begin is not None for draft in responder.events] == observed


def test_an_answer_to_a_request_before_the_checkpoint_of_its_sender_has_an_event() -> None:
    asking = replica(Draft("HandleApiVersionsResponse", 180, ANSWER, begin=begins_at(100)))
    responder = replica(poll(50), poll(150))
    add_api_versions({1: asking, 2: responder})
    assert [draft.message for draft in responder.events] == [None, ASKED, None]


def test_an_answer_belongs_to_the_last_request_before_it() -> None:
    """A restarted process uses correlation ids again."""
    asks = {"kind": "Send", "message": ASKED}
    first, second = (
        [poll(at, effects=[asks]), Draft("HandleApiVersionsResponse", at + 20, ANSWER)] for at in (100, 300)
    )
    responder = replica(poll(50), poll(200), poll(400))
    add_api_versions({1: replica(*first, *second), 2: responder})
    assert [draft.time_us for draft in responder.events] == [50, 100, 200, 300, 400]


def damaged(text: str) -> str:
    """Return base64 whose last byte differs."""
    content = b64decode(text)
    return b64encode(content[:-1] + bytes([content[-1] ^ 1])).decode()


VOTE = {"name": "VoteRequest", "version": 1, "bytes": "AAAA"}
A_VOTE = {"kind": "request", "number": 99, "correlation_id": 1, "version": 1, "message": VOTE}


@pytest.mark.parametrize(
    ("kind", "change", "expected"),
    [
        ("append", lambda line: {**line, "records": damaged(line["records"])}, "$.records: byte 17: crc: expected"),
        ("append", lambda line: {**line, "records": line["records"] + "A"}, "$.records: Invalid base64"),
        (
            "request",
            lambda line: {**A_VOTE, "time_us": line["time_us"]},
            "$.message.bytes: byte 1: body.voterId: expected",
        ),
        ("start", lambda line: {**line, "log": "A" * 400}, "$.log: byte 0: magic: expected"),
        (
            "start",
            lambda line: {**line, "snapshot": {**line["snapshot"], "bytes": damaged(line["snapshot"]["bytes"])}},
            "$.snapshot.bytes: byte",
        ),
    ],
)
def test_a_damaged_field_is_named(
    tmp_path: Path, capsys: Captured, kind: str, change: Callable[[Any], Any], expected: str
) -> None:
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    index = next(at for at, line in enumerate(lines) if json.loads(line)["kind"] == kind)
    lines[index] = json.dumps(change(json.loads(lines[index])))
    file = tmp_path / "a.raw.jsonl"
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    code, text = error(capsys, "kafka", "trace", str(file), "-o", str(tmp_path / "trace.jsonl"))
    assert code == ExitCode.BAD_INPUT
    assert f"{file}:{index + 1}: {expected}" in text


def test_a_value_that_a_trace_cannot_have_is_named_with_its_own_file(tmp_path: Path, capsys: Captured) -> None:
    healthy = RECORDED.read_text(encoding="utf-8")
    other = healthy.replace('"client":"1', '"client":"2').replace('"replica":1,', '"replica":2,')
    lines = other.replace('"high_watermark":13', '"high_watermark":"thirteen"').splitlines()
    (tmp_path / "a.raw.jsonl").write_text(healthy, encoding="utf-8")
    (tmp_path / "b.raw.jsonl").write_text("\n".join([*lines, ""]), encoding="utf-8")
    code, text = error(capsys, "kafka", "trace", str(tmp_path), "-o", str(tmp_path / "trace.jsonl"))
    assert code == ExitCode.BAD_INPUT
    # The event begins with the append of the record.
    first = next(at for at, line in enumerate(lines, 1) if "thirteen" in line) - 2
    assert '"kind":"append"' in lines[first - 1]
    assert f"{tmp_path / 'b.raw.jsonl'}:{first}: ClientAppend has a value that a trace cannot have" in text


@pytest.mark.parametrize(("last_lines", "count"), [('{"kind":"end","time_us":1796022525000000}\n', 0), ("", 1)])
def test_only_a_process_that_was_not_closed_was_killed(tmp_path: Path, last_lines: str, count: int) -> None:
    first = RECORDED.read_text(encoding="utf-8")
    persisted = [json.loads(line) for line in first.splitlines() if '"kind":"persist"' in line][-1]
    election = json.dumps(persisted["election"])
    again = first.replace('"client":"1', '"client":"2').replace('"election":null', f'"election":{election}', 1)
    (tmp_path / "a.raw.jsonl").write_text(first + last_lines, encoding="utf-8")
    (tmp_path / "b.raw.jsonl").write_text(f'{again}{{"kind":"end","time_us":1796022525000000}}\n', encoding="utf-8")
    events = replica_events(read_raw(sorted(tmp_path.iterdir())), None)[1]
    crashes = [index for index, draft in enumerate(events.events) if draft.event == "Crash"]
    assert len(crashes) == 1
    assert events.kills == frozenset(crashes[:count])


def test_a_request_to_a_leader_that_shuts_down_is_not_handled(tmp_path: Path, capsys: Captured) -> None:
    """The leader answers BROKER_NOT_AVAILABLE, which has no step in the model."""
    lines = LEADER.read_text(encoding="utf-8").splitlines()
    kinds = [json.loads(line)["kind"] for line in lines]
    index = max(at for at, kind in enumerate(kinds) if kind == "answer" and kinds[at - 1] == "request")
    answer = json.loads(lines[index])
    content = bytearray(b64decode(answer["message"]["bytes"]))
    content[33] = 8
    answer["message"]["bytes"] = b64encode(content).decode()
    handled: list[int] = []
    for last in (lines[index], json.dumps(answer)):
        file, trace = tmp_path / f"{len(handled)}.raw.jsonl", tmp_path / f"{len(handled)}.jsonl"
        file.write_text("\n".join([*lines[:index], last, *lines[index + 1 :], ""]), encoding="utf-8")
        assert main(["kafka", "trace", str(file), "-o", str(trace)]) == ExitCode.CONFORMANT
        handled.append(trace.read_text(encoding="utf-8").count('"event":"HandleFetchRequest"'))
    capsys.readouterr()
    assert handled[1] == handled[0] - 1


def test_a_snapshot_in_pieces_is_one_request_and_one_response(tmp_path: Path, capsys: Captured) -> None:
    """A new controller fetches the snapshot of a leader of 4.3.1 whose log still has the records before its end."""
    with tarfile.open(RECORDED.parent / "agent-snapshot-in-pieces.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    trace = tmp_path / "trace.jsonl"
    assert main(["kafka", "trace", str(tmp_path), "-o", str(trace)]) == ExitCode.CONFORMANT
    events = [line["event"] for line in map(json.loads, trace.read_text().splitlines()) if line["kind"] == "event"]
    assert [events.count(f"HandleFetchSnapshot{kind}") for kind in ("Request", "Response")] == [1, 1]
    assert events[events.index("TakeSnapshot") + 1] == "HandleFetchRequest"
    capsys.readouterr()
    assert main(["validate", str(trace)]) == ExitCode.CONFORMANT


def test_an_upgrade_of_kraft_version_is_an_update_features(tmp_path: Path) -> None:
    """Recorded in testUpdateVoterAfterKRaftVersionUpgrade of 4.3.1, whose two other voters are not observed."""
    files = read_raw([RECORDED.parent / "agent-upgrade.raw.jsonl"])
    trace = tmp_path / "trace.jsonl"
    trace.write_bytes(b"".join(join_with_opaque(files, None).lines))
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    (upgrade,) = [place for place, line in enumerate(lines) if line.get("event") == "UpdateFeatures"]
    assert [record["kind"] for record in lines[upgrade]["effects"][0]["records"]] == ["KRaftVersion", "Voters"]
    without_effects = [line["state"]["high_watermark"] for line in lines if "state" in line and "effects" not in line]
    assert without_effects == [lines[upgrade]["state"]["log_end_offset"]]
    assert main(["validate", str(trace)]) == ExitCode.CONFORMANT
