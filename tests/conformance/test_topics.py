"""`kraft-spec admin topics`: topics and brokers of a simulated cluster, and the trace that is their state."""

import json
from pathlib import Path

import pytest
from tests.conformance.partition_folder import (
    TRACE,
    Captured,
    asked,
    document,
    partitions,
    reassign,
    refused,
    said,
    six_brokers,
    topics,
)

from kraft_conformance.cli import main
from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.exit_codes import ExitCode

UNCLEAN = "unclean.leader.election.enable"


pytestmark = pytest.mark.usefixtures("elsewhere")


def create(topic: str, replicas: str, *words: str) -> tuple[str, ...]:
    return ("admin", "topics", "create", "--topic", topic, "--replica-assignment", replicas, *words)


# ---------------------------------------------------------------------------------------------------------
# create and describe.  Rule: cli.topics-describe.
# ---------------------------------------------------------------------------------------------------------


def test_describe_has_the_layout_of_kafka(capsys: Captured) -> None:
    six_brokers()
    assert topics("create", "--topic", "B", "--replica-assignment", "5", "--config", f"{UNCLEAN}=true") == 0
    assert reassign("run", *asked([("A", 0, [4, 3, 2]), ("A", 1, [2, 3, 4, 5])]), "--rounds", "0") == 0
    assert said(capsys, "admin", "topics", "describe") == (
        "Topic: A\tPartitionCount: 2\tReplicationFactor: 3\tConfigs:\n"
        "\tTopic: A\tPartition: 0\tLeader: 1\tReplicas: 1,4,3,2\tIsr: 1,2,3\t"
        "Adding Replicas: 4\tRemoving Replicas: 1\n"
        "\tTopic: A\tPartition: 1\tLeader: 2\tReplicas: 2,3,4,5\tIsr: 2,3,4\tAdding Replicas: 5\n"
        f"Topic: B\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: {UNCLEAN}=true\n"
        "\tTopic: B\tPartition: 0\tLeader: 5\tReplicas: 5\tIsr: 5\n"
    )
    assert said(capsys, "admin", "topics", "describe", "--topic", "B").startswith("Topic: B\t")
    (row,) = document(capsys, "admin", "topics", "describe", "--topic", "B")
    assert row == {
        "topic": "B",
        "partition": 0,
        "leader": 5,
        "replicas": [5],
        "in_sync": [5],
        "adding": [],
        "removing": [],
        "waits_for": None,
    }


def test_a_partition_without_a_leader_says_so(capsys: Captured) -> None:
    assert main([*create("A", "1:2", "--brokers", "3")]) == 0
    assert topics("brokers", "--stop", "1", "--stop", "2") == 0
    assert "Partition: 0\tLeader: none\tReplicas: 1,2\tIsr: 2" in said(capsys, "admin", "topics", "describe")
    assert document(capsys, "admin", "topics", "describe")[0]["leader"] is None


def test_brokers_are_shown_with_what_they_hold(capsys: Captured) -> None:
    six_brokers()
    shown = said(capsys, "admin", "topics", "brokers", "--stop", "1").splitlines()
    assert shown[:5:4] == ["broker 1 at b1:9092: stopped, holds A-0", "broker 5 at b5:9092: alive, holds nothing"]
    assert shown[6:] == [
        "A-0: at rest, replicas 1,2,3, in sync 2,3, leader 2",
        "A-1: at rest, replicas 2,3,4, in sync 2,3,4, leader 2",
    ]
    rows = document(capsys, "admin", "topics", "brokers", "--start", "1")
    assert rows[0] == {"broker": 1, "alive": True, "partitions": ["A-0"]}
    assert partitions(capsys)["A-0"] == "1,2,3 2,3 - - 2"
    assert reassign("wait") == 0
    assert partitions(capsys)["A-0"] == "1,2,3 1,2,3 - - 2"


def test_a_topic_that_comes_later_is_in_sync_at_all_brokers_that_are_alive(capsys: Captured) -> None:
    """In the trace it has been there from the beginning, so that its leader may be one who never failed."""
    six_brokers()
    assert topics("brokers", "--stop", "1", "--stop", "2") == 0
    assert topics("brokers", "--start", "2") == 0
    assert reassign("run", *asked([("A", 1, [5])])) == 0
    assert main([*create("B", "1:2:7", "--brokers", "7-8")]) == 0
    assert partitions(capsys)["B-0"] == "1,2,7 2,7 - - 7"
    assert partitions(capsys)["A-1"] == "5 5 - - 5"
    assert [row["broker"] for row in document(capsys, "admin", "topics", "brokers")] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_history_that_has_asked_for_a_topic_cannot_have_it(capsys: Captured) -> None:
    six_brokers()
    assert reassign("run", *asked([("A", 1, [5]), ("B", 0, [1]), ("A", 0, [9])])) == ExitCode.VIOLATION
    before = TRACE.read_bytes()
    assert "event 1 of the history" in refused(capsys, *create("B", "1"), code=ExitCode.VIOLATION)
    assert "event 1 of the history" in refused(capsys, *create("C", "1", "--brokers", "9"), code=ExitCode.VIOLATION)
    assert TRACE.read_bytes() == before
    assert main([*create("C", "1")]) == 0


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (create("A", "1"), ExitCode.VIOLATION, "TOPIC_ALREADY_EXISTS (36)"),
        (create("B", "1:7"), ExitCode.VIOLATION, "B-0: no broker 7; there are 1, 2, 3, 4, 5, 6"),
        (create("B", "1", "--profile", "kip"), ExitCode.VIOLATION, "--profile is for the first topic"),
        (create("B", "1:1"), ExitCode.USAGE, "--replica-assignment: partition 0: '1:1', expected each broker once"),
        (create("B", "1:2,3"), ExitCode.USAGE, "--replica-assignment: partition 1: 1 replicas, expected 2"),
        (create("B", "1:x"), ExitCode.USAGE, "--replica-assignment: 'x', expected a number from 0 to 2147483647"),
        (create("B", ""), ExitCode.USAGE, "--replica-assignment: '', expected a number"),
        (create("B", "1,,2"), ExitCode.USAGE, "--replica-assignment: '', expected a number"),
        (create("B", "1", "--brokers", "6-1"), ExitCode.USAGE, "--brokers: '6-1', expected the lower id first"),
        (create("B", "1", "--brokers", "0-2147483647"), ExitCode.USAGE, "--brokers: '0-2147483647', expected at most"),
        (create("B", "1", "--brokers", "-1"), ExitCode.USAGE, "--brokers: '', expected a number"),
        (create("B", "1", "--config", "retention.ms=1"), ExitCode.USAGE, "--config: 'retention.ms=1': only unclean"),
        (create("B", "1", "--config", f"{UNCLEAN}=yes"), ExitCode.USAGE, f"expected {UNCLEAN}=true"),
        (create("a b", "1"), ExitCode.USAGE, "--topic: 'a b', expected letters"),
        (create("..", "1"), ExitCode.USAGE, "--topic: '..', expected letters"),
        (create("b\n", "1"), ExitCode.USAGE, "--topic: 'b\\n', expected letters"),
        (create("__cluster_metadata", "1"), ExitCode.USAGE, "is the log of the quorum"),
        (
            ("admin", "topics", "describe", "--topic", "X"),
            ExitCode.VIOLATION,
            "UNKNOWN_TOPIC_OR_PARTITION (3): no topic X",
        ),
        (("admin", "topics", "brokers", "--stop", "9"), ExitCode.VIOLATION, "no broker 9; there are 1, 2"),
        (("admin", "topics", "brokers", "--start", "1"), ExitCode.VIOLATION, "broker 1 is alive already"),
        (("admin", "topics", "brokers", "--stop", "1", "--stop", "1"), ExitCode.VIOLATION, "broker 1 is not alive"),
    ],
)
def test_what_is_refused_is_named_and_changes_nothing(
    capsys: Captured, words: tuple[str, ...], code: ExitCode, problem: str
) -> None:
    six_brokers()
    before = TRACE.read_bytes()
    assert problem in " ".join(refused(capsys, *words, code=code).split())
    assert TRACE.read_bytes() == before


def test_the_first_topic_needs_a_folder_and_a_profile_that_exists(capsys: Captured) -> None:
    assert "no such folder" in refused(capsys, *create("A", "1", "-d", "nowhere"), code=ExitCode.NO_INPUT)
    assert "there are kip, kafka-4" in refused(capsys, *create("A", "1", "--profile", "kafka"), code=ExitCode.VIOLATION)
    assert not TRACE.exists()


# ---------------------------------------------------------------------------------------------------------
# The trace.
# ---------------------------------------------------------------------------------------------------------


def a_history() -> None:
    """Six lines: a reassignment that completes, a broker that fails, and one that is cancelled."""
    six_brokers()
    assert reassign("run", *asked([("A", 0, [4, 3, 2])])) == 0
    assert topics("brokers", "--stop", "6") == 0
    assert reassign("run", *asked([("A", 1, [6])]), "--rounds", "0") == 0
    assert reassign("cancel") == 0


def test_the_same_commands_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_history()
    (tmp_path / "again").mkdir()
    monkeypatch.chdir(tmp_path / "again")
    a_history()
    assert TRACE.read_bytes() == (tmp_path / TRACE).read_bytes()


@pytest.mark.parametrize("line", [2, 4, 7])
def test_an_altered_line_is_noticed_and_named(capsys: Captured, line: int) -> None:
    a_history()
    lines = TRACE.read_text().splitlines(keepends=True)
    assert len(lines) == 7
    altered = json.loads(lines[line - 1])
    altered["state"]["partitions"][0]["leader_epoch"] += 1
    lines[line - 1] = json.dumps(altered, separators=(",", ":")) + "\n"
    TRACE.write_text("".join(lines))
    error = refused(capsys, "admin", "reassign", "list", code=ExitCode.BAD_INPUT)
    assert f"partitions.jsonl:{line}: is not what the reference does here" in error


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: text.replace('"seed":null', '"seed":7', 1), "1: is not a header as"),
        (lambda text: text.replace('"switched_off":[]', '"switched_off":["x"]', 1), "1: $.switched_off: expected no"),
        (lambda text: text.replace('"profile":"kip"', '"profile":"kap"', 1), "1: $.profile: 'kap' is none of"),
        (lambda text: text[:-1], "7: expected a whole line"),
        (lambda text: text.replace('"sequence":3', '"sequence":4', 1), "4: $.sequence: sequence 4 leaves a gap"),
        (lambda text: text.replace('"refusal":null', '"refusal":none', 1), "2"),
        (lambda text: "", " the file is empty, expected a header"),
        (lambda text: "{}\n", "1: "),
    ],
)
def test_a_file_that_is_no_history_is_refused(capsys: Captured, change: object, problem: str) -> None:
    a_history()
    assert callable(change)
    text = TRACE.read_text()
    TRACE.write_text(change(text))
    assert TRACE.read_text() != text
    assert f"partitions.jsonl:{problem}" in refused(capsys, "admin", "topics", "describe", code=ExitCode.BAD_INPUT)


def test_two_commands_at_a_time_are_refused(capsys: Captured) -> None:
    six_brokers()
    with ClusterDirectory(Path()).locked():
        error = refused(capsys, *create("B", "1"), code=ExitCode.VIOLATION)
    assert "another command works on this cluster directory" in error


@pytest.mark.slow
def test_the_model_accepts_the_trace(capsys: Captured) -> None:
    """What it says of a trace that is wrong, `test_cli` and `test_view_partitions` show."""
    a_history()
    shown = said(capsys, "validate", "partitions.jsonl")
    assert shown == "partitions.jsonl: accepted, 6 events, compared: complete\n"
    Path("cut.jsonl").write_text(TRACE.read_text().splitlines(keepends=True)[0])
    assert "a header and no event" in refused(capsys, "validate", "cut.jsonl", code=ExitCode.BAD_INPUT)
