"""The agent inside Kafka: its jar, what it does where a hook point is missing, and traces of controllers."""

import json
import re
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conformance.adapter_builds import linked_checkout, skipped_if_missing
from tests.conformance.commands import Captured

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_kafka.agent import disk_lines
from kraft_kafka.agent.building import agent_jar
from kraft_kafka.agent.connections import Connections
from kraft_kafka.agent.progress import Progress
from kraft_kafka.agent.raw import AppendLine, FlushLine
from kraft_kafka.controllers import controller
from kraft_kafka.jars import released
from kraft_kafka.releases import releases
from kraft_kafka.whole.under_agent import record_controllers
from kraft_kafka.wire.decoding import Document
from kraft_spec.tlc.jar import find_java

RECORDED = Path(__file__).parent / "kafka_files" / "agent-single-controller.raw.jsonl"
"""The start of a controller of 4.3.1, the only voter, and a few writes."""
VERSION = "4.3.1"
HOST = 'public class Host { public static void main(String[] a) { System.out.println("host runs"); } }'


@pytest.fixture(scope="module")
def jar() -> Path:
    with skipped_if_missing():
        return agent_jar()


def run_host(jar: Path, folder: Path, *class_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a program with the agent."""
    (folder / "Host.java").write_text(HOST, encoding="utf-8")
    path = ":".join(map(str, class_path or (folder,)))
    command = [str(find_java().executable), f"-javaagent:{jar}={folder / 'traces'}", "-cp", path]
    return subprocess.run([*command, str(folder / "Host.java")], capture_output=True, text=True, check=True)


def agent_lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("kraft-spec agent: ")]


def test_the_jar_has_no_class_of_kafka_and_hides_javassist(jar: Path) -> None:
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if name.endswith(".class")]
    assert {name.partition("/")[0] for name in names} == {"kraft"}


def test_a_missing_hook_point_disables_the_agent_with_one_line(jar: Path, tmp_path: Path) -> None:
    done = run_host(jar, tmp_path)
    assert done.stdout == "host runs\n"
    (line,) = agent_lines(done)
    assert line.startswith("kraft-spec agent: disabled: hook point channel is missing: there is no class")
    assert not (tmp_path / "traces").exists()


def test_a_folder_that_cannot_be_made_disables_the_agent_with_one_line(jar: Path, tmp_path: Path) -> None:
    with skipped_if_missing():
        kafka = controller(VERSION)
    (tmp_path / "traces").write_text("a file", encoding="utf-8")
    done = run_host(jar, tmp_path, *kafka.class_path)
    assert done.stdout == "host runs\n"
    (line,) = agent_lines(done)
    assert "disabled: " in line
    assert str(tmp_path / "traces") in line


def test_a_recorded_start_is_accepted(tmp_path: Path, capsys: Captured) -> None:
    trace = tmp_path / "trace.jsonl"
    assert main(["kafka", "trace", str(RECORDED), "-o", str(trace)]) == ExitCode.CONFORMANT
    assert main(["validate", "--json", str(trace)]) == ExitCode.CONFORMANT, capsys.readouterr().out


def test_a_changed_record_is_rejected(tmp_path: Path) -> None:
    changed = tmp_path / "changed.raw.jsonl"
    changed.write_text(RECORDED.read_text(encoding="utf-8").replace('"high_watermark":13', '"high_watermark":12'))
    trace = tmp_path / "trace.jsonl"
    assert main(["kafka", "trace", str(changed), "-o", str(trace)]) == ExitCode.CONFORMANT
    assert main(["validate", str(trace)]) == ExitCode.VIOLATION


def test_dropped_lines_are_a_gap(tmp_path: Path, capsys: Captured) -> None:
    lines = RECORDED.read_text(encoding="utf-8").splitlines(keepends=True)
    dropped = tmp_path / "dropped.raw.jsonl"
    dropped.write_text("".join([*lines[:-6], '{"kind":"dropped","lines":3}\n', *lines[-3:]]))
    trace = tmp_path / "trace.jsonl"
    assert main(["kafka", "trace", str(dropped), "-o", str(trace)]) == ExitCode.CONFORMANT
    ends = json.loads(trace.read_text(encoding="utf-8").splitlines()[-1])
    assert ends["complete"] is False
    assert main(["validate", str(trace)]) == ExitCode.INCONCLUSIVE, capsys.readouterr().out


def test_a_file_that_ends_within_an_append_is_incomplete(tmp_path: Path, capsys: Captured) -> None:
    lines = RECORDED.read_text(encoding="utf-8").splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines, 1) if '"kind":"append"' in line)
    killed = tmp_path / "killed.raw.jsonl"
    killed.write_text("".join(lines[:last]))
    trace = tmp_path / "trace.jsonl"
    assert main(["kafka", "trace", str(killed), "-o", str(trace)]) == ExitCode.CONFORMANT
    assert main(["validate", str(trace)]) == ExitCode.INCONCLUSIVE, capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "a.raw.jsonl:1: expected a line of kind"),
        ('{"kind":"poll"}\n', "a.raw.jsonl:1: "),
        ('{"kind":"start","time_us":"x"}\n', "$.time_us"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, capsys: Captured, content: str, expected: str) -> None:
    file = tmp_path / "a.raw.jsonl"
    file.write_text(content, encoding="utf-8")
    assert main(["kafka", "trace", str(file), "-o", str(tmp_path / "t.jsonl")]) == ExitCode.BAD_INPUT
    assert expected in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.parametrize("version", releases())
def test_every_release_has_the_hook_points_of_the_client(jar: Path, tmp_path: Path, version: str) -> None:
    """The log of older releases is in the server's jar, which this does not fetch."""
    with skipped_if_missing():
        kafka = released(releases()[version])
    (line,) = agent_lines(run_host(jar, tmp_path, *kafka.class_path))
    is_in_the_client = "writes to" in line
    assert is_in_the_client or line.startswith("kraft-spec agent: disabled: hook point log is missing"), line


@pytest.mark.nightly
def test_three_controllers_are_accepted_or_show_the_known_finding(jar: Path, tmp_path: Path, capsys: Captured) -> None:
    with skipped_if_missing():
        kafka = controller(VERSION)
    traces = record_controllers(kafka, jar, tmp_path, print)
    trace = tmp_path / "trace.jsonl"
    assert main(["kafka", "trace", str(traces), "-o", str(trace)]) == ExitCode.CONFORMANT
    capsys.readouterr()
    code = main(["validate", str(trace)])
    judged = capsys.readouterr()
    report = judged.out + judged.err
    if code == ExitCode.VIOLATION:
        # Without a fault, an ordinary start of 4.3.1 may show the finding unread-voters.
        assert "state.voters" in report, report
    else:
        # The killed leader may have been within an event, so that its file ends with a gap.
        assert code == ExitCode.CONFORMANT or "are not recorded" in report, report
    counted = re.search(r"(\d+) (?:accepted )?events", report)
    assert counted is not None, report
    assert int(counted[1]) > 500, report


def judged_tests(capsys: Captured, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Run Kafka's own tests; return exit code and document."""
    capsys.readouterr()
    with skipped_if_missing():
        code = main(["kafka", "tests", "--version", VERSION, "--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


def test_a_test_of_kafka_is_accepted_without_its_peers(capsys: Captured) -> None:
    code, document = judged_tests(capsys, "-k", "KafkaRaftClientTest.testHandleBeginQuorumRequest$")
    assert document["counts"] == {"accepted": 2}
    assert all(test["events"] > 1 for test in document["tests"])
    assert code == ExitCode.CONFORMANT


def test_a_checkout_without_test_jars_is_refused(tmp_path: Path, capsys: Captured) -> None:
    with skipped_if_missing():
        linked_checkout(tmp_path)
    (tmp_path / "clients" / "build" / "libs" / f"kafka-clients-{VERSION}-test.jar").unlink()
    assert main(["kafka", "tests", "--jars", str(tmp_path)]) == ExitCode.UNAVAILABLE
    error = capsys.readouterr().err
    assert f"{tmp_path}: there is no kafka-clients-VERSION-test.jar in it or below" in error
    assert "./gradlew :raft:jar :raft:testJar " in error


def test_a_broken_rule_is_unexplained_in_a_test_of_kafka(capsys: Captured) -> None:
    code, document = judged_tests(
        capsys, "-k", "KafkaRaftClientTest.testHandleVoteRequestAsFollowerWithVotedCandidate", "--mutant", "votes-twice"
    )
    assert document["counts"]["unexplained"] > 0
    assert code == ExitCode.VIOLATION


def test_a_simulated_cluster_is_one_trace(capsys: Captured) -> None:
    code, document = judged_tests(capsys, "--seeds", "0:1")
    assert document["counts"] == {"accepted": 1}
    (test,) = document["tests"]
    assert (test["test"], test["parameters"]) == ("RaftEventSimulationTest.canElectInitialLeader", "[0, 1, 4]")
    assert test["events"] > 50
    assert code == ExitCode.CONFORMANT


def test_seeds_and_a_pattern_exclude_each_other(capsys: Captured) -> None:
    assert main(["kafka", "tests", "--seeds", "0:1", "-k", "Vote"]) == ExitCode.USAGE
    assert "-k and --seeds: expected one of them" in capsys.readouterr().err


@pytest.mark.nightly
def test_no_simulated_cluster_is_unexplained(capsys: Captured) -> None:
    """Restarts at kraft.version 0, which forgets directory ids of votes, and on an empty disk; network partitions."""
    _, document = judged_tests(capsys, "--seeds", "5:10")
    assert document["counts"] == {"accepted": 4, "not judged": 1}


def test_a_pattern_without_a_test_is_refused(capsys: Captured) -> None:
    with skipped_if_missing():
        assert main(["kafka", "tests", "--version", VERSION, "-k", "testNothing"]) == ExitCode.USAGE
    assert "no test matches 'testNothing'" in capsys.readouterr().err


@pytest.mark.nightly
def test_no_test_of_kafka_is_unexplained(capsys: Captured) -> None:
    _, document = judged_tests(capsys)
    counts = document["counts"]
    assert "unexplained" not in counts
    assert counts["accepted"] > 0.75 * len(document["tests"])


def test_a_fetch_whose_wait_is_over_is_answered_before_the_records_of_the_append() -> None:
    """The thread that ends the wait does not see the records that the client's thread appends."""
    progress = Progress()
    line = SimpleNamespace(time_us=1)
    progress.open = progress.event("ClientAppend", line)
    progress.open.is_data = True
    empty = {"type": "FetchResponse", "error": "NONE", "records": []}
    progress.add(line, {"kind": "Send", "message": empty})
    progress.add(line, {"kind": "Send", "message": {**empty, "records": ["the record"]}})
    events = [(draft.event, [effect["message"]["records"] for effect in draft.effects]) for draft in progress.events]
    assert events == [("Poll", [[]]), ("ClientAppend", [["the record"]])]


_DATA = "AAAAAAAAAdgAAAA8AAAAAgIbDdLCAAAAAAAAAAABoi0U7PkAAAGiLRTs+f//////////////////AAAAARQAAAABCAEUAAAA"
"""A client's record of 4.3.1 at offset 472."""
_VOTERS = (
    "AAAAAAAAAdkAAADbAAAAAgIjp+MQACAAAAAAAAABoi0U7QIAAAGiLRTtAv//////////////////AAAAAdACAAAACA"
    "AAAAa6AgAABAAAAAEAAAAAAAAAAAAAAAAAAAEBAgtDT05UUk9MTEVSCjEyNy4wLjAuMWmdAAAAAAEAAAAAAAIAAAAA"
    "AAAAAAAAAAAAAAICAgtDT05UUk9MTEVSCjEyNy4wLjAuMWmeAAAAAAEAAAAAAAMAAAAAAAAAAAAAAAAAAAMDAgtDT0"
    "5UUk9MTEVSCjEyNy4wLjAuMWmfAAAAAAEAAAAA"
)
"""The voters record at offset 473."""


def test_clients_whose_records_are_queued_first_come_before_a_voter_change() -> None:
    """The leader handles a RemoveVoter, and then appends a client's record before the voters record, with one sync."""
    progress = Progress()
    removal = progress.pending = progress.event("RemoveVoter", SimpleNamespace(time_us=1))
    for offset, records in ((472, _DATA), (473, _VOTERS)):
        disk_lines.append(progress, AppendLine(2, True, offset, offset + 1, True, records))
    disk_lines.flush(progress, FlushLine(3, 474, 474, 0, True))
    progress.settle({"log_end_offset": 474})
    events = [(draft.event, [(effect["kind"], _end(effect)) for effect in draft.effects]) for draft in progress.events]
    assert events == [
        ("ClientAppend", [("AppendRecords", 473), ("FlushLog", 473)]),
        ("RemoveVoter", [("AppendRecords", 474), ("FlushLog", 474)]),
    ]
    assert removal.state == {"log_end_offset": 474}


def test_fetches_whose_wait_is_over_are_answered_before_records_that_a_voter_change_follows() -> None:
    """Their answers are no part of the batch, so one sync is that of the client's record and of the voters record."""
    progress = Progress()
    removal = progress.open = progress.event("RemoveVoter", SimpleNamespace(time_us=1))
    empty = {"type": "FetchResponse", "error": "NONE", "records": [], "destination": 3, "correlation_id": 7}
    progress.add(SimpleNamespace(time_us=1), {"kind": "Send", "message": empty})
    progress.open, progress.handled = None, removal
    for offset, records in ((472, _DATA), (473, _VOTERS)):
        disk_lines.append(progress, AppendLine(2, True, offset, offset + 1, True, records))
    disk_lines.flush(progress, FlushLine(3, 474, 474, 0, True))
    events = [(draft.event, [effect["kind"] for effect in draft.effects]) for draft in progress.events]
    written = ["AppendRecords", "FlushLog"]
    assert events == [("Poll", ["Send"]), ("ClientAppend", written), ("RemoveVoter", written)]


def test_an_event_that_has_appended_before_the_records_of_clients_stays() -> None:
    progress = Progress()
    elected = progress.pending = progress.event("HandleVoteResponse", SimpleNamespace(time_us=1))
    elected.effects.append({"kind": "AppendRecords", "base_offset": 471, "records": ["LeaderChange"]})
    for offset, records in ((472, _DATA), (473, _VOTERS)):
        disk_lines.append(progress, AppendLine(2, True, offset, offset + 1, True, records))
    assert [draft.event for draft in progress.events] == ["HandleVoteResponse", "ClientAppend"]


def test_a_fetch_whose_wait_is_over_is_answered_before_the_voters_record() -> None:
    """The leader's other thread answers a Fetch while the leader handles the new voter's versions."""
    progress = Progress()
    handled = progress.open = progress.event("HandleApiVersionsResponse", SimpleNamespace(time_us=2))
    empty = {"type": "FetchResponse", "error": "NONE", "records": [], "destination": 3, "correlation_id": 7}
    progress.add(SimpleNamespace(time_us=2), {"kind": "Send", "message": empty})
    progress.open, progress.pending = None, handled
    disk_lines.append(progress, AppendLine(3, True, 473, 474, True, _VOTERS))
    events = [(draft.event, [effect["kind"] for effect in draft.effects]) for draft in progress.events]
    assert events == [("Poll", ["Send"]), ("HandleApiVersionsResponse", ["AppendRecords"])]


def test_the_request_that_a_new_voter_may_answer_is_given_up_before() -> None:
    """A voter that was killed has not answered the BeginQuorumEpoch of the leader that adds it again."""
    progress, connections = Progress(), Connections(1)
    connections.wait(2, 5)
    progress.open = progress.event("AddVoter", SimpleNamespace(time_us=1))
    connections.poll(progress, SimpleNamespace(time_us=2), "ApiVersionsRequest", 2)  # type: ignore[arg-type]
    assert [draft.event for draft in progress.events] == ["AddVoter", "RequestTimeout", "Poll"]


def _end(effect: Document) -> int:
    return int(effect["end_offset"] if effect["kind"] == "FlushLog" else effect["base_offset"] + len(effect["records"]))
