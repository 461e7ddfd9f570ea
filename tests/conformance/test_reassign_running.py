"""`kraft-spec admin reassign` while something is in progress: list, a second run, cancel; and whom the tool asks."""

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

from kraft_conformance.exit_codes import ExitCode

A0 = [("A", 0, [4, 3, 2])]


pytestmark = pytest.mark.usefixtures("elsewhere")


# ---------------------------------------------------------------------------------------------------------
# Rule: cli.reassign-list.
# ---------------------------------------------------------------------------------------------------------


def test_list_has_the_words_of_kafka(capsys: Captured) -> None:
    six_brokers()
    assert said(capsys, "admin", "reassign", "list") == "No partition reassignments found.\n"
    assert document(capsys, "admin", "reassign", "list") == []
    assert topics("brokers", "--stop", "3") == 0
    assert reassign("run", *asked([*A0, ("A", 1, [2, 4, 5, 3])]), "--rounds", "0") == 0
    assert said(capsys, "admin", "reassign", "list") == (
        "Current partition reassignments:\n"
        "A-0: replicas: 1,4,3,2. adding: 4. removing: 1.\n"
        "A-1: replicas: 2,4,5,3. adding: 5.\n"
    )
    assert document(capsys, "admin", "reassign", "list")[1] == {
        "topic": "A",
        "partition": 1,
        "leader": 2,
        "replicas": [2, 4, 5, 3],
        "in_sync": [2, 4],
        "adding": [5],
        "removing": [],
        "waits_for": "waits for 5 to be in sync",
    }


# ---------------------------------------------------------------------------------------------------------
# Rule: cli.reassign-additional.
# ---------------------------------------------------------------------------------------------------------


def test_a_second_run_needs_additional(capsys: Captured) -> None:
    six_brokers()
    assert reassign("run", *asked(A0), "--rounds", "0") == 0
    before = TRACE.read_bytes()
    second = asked([("A", 1, [5])], "second.json")
    error = refused(capsys, "admin", "reassign", "run", *second, "--throttle", "1000", code=ExitCode.VIOLATION)
    assert "--additional" in error
    assert "A-0: replicas: 1,4,3,2. adding: 4. removing: 1." in error
    assert "throttle" not in error, "a refused one applies none"
    assert TRACE.read_bytes() == before
    assert reassign("run", *second, "--additional", "--throttle", "1000", "--rounds", "0") == 0
    assert "--throttle 1000: without effect" in capsys.readouterr().err
    moving = said(capsys, "admin", "reassign", "list").splitlines()[1:]
    assert [line.split(":")[0] for line in moving] == ["A-0", "A-1"]


def test_additional_replaces_the_running_one(capsys: Captured) -> None:
    """Scenario S27: what is copied to a replica of both stays, and the others of the first are stopped."""
    six_brokers()
    assert reassign("run", *asked([("A", 0, [4, 5])]), "--rounds", "1") == 0
    words = asked([("A", 0, [1, 4, 6])])
    assert "a reassignment is in progress" in _planned_warning(capsys, *words)
    done = document(capsys, "admin", "reassign", "run", *words, "--additional", "--rounds", "0")
    assert done["results"][0]["message"] == "replaces the running reassignment, replicas 2,3,1,4,6; 5 stopped"
    assert partitions(capsys)["A-0"] == "2,3,1,4,6 1,2,3,4 4,6 2,3 1"


def _planned_warning(capsys: Captured, *words: str) -> str:
    capsys.readouterr()
    assert reassign("plan", *words) == 0
    return capsys.readouterr().err


# ---------------------------------------------------------------------------------------------------------
# Rule: cli.reassign-cancel.
# ---------------------------------------------------------------------------------------------------------


def test_cancel_restores_what_was_there(capsys: Captured) -> None:
    six_brokers()
    assert reassign("run", *asked([("A", 0, [4, 5]), ("A", 1, [5])]), "--rounds", "1") == 0
    done = document(capsys, "admin", "reassign", "cancel")
    assert [row["message"] for row in done["results"]] == [
        "cancelled, replicas 1,2,3, in sync 1,2,3; 4,5 stopped",
        "cancelled, replicas 2,3,4, in sync 2,3,4; 5 stopped",
    ]
    assert said(capsys, "admin", "reassign", "cancel") == "No partition reassignments found.\n"
    assert document(capsys, "admin", "reassign", "cancel") == {"results": [], "partitions": []}


def test_a_file_cancels_what_it_names_and_nothing_that_began_since(capsys: Captured) -> None:
    six_brokers()
    assert reassign("run", *asked(A0), "--rounds", "0") == 0
    plan = said(capsys, "admin", "reassign", "cancel", "--dry-run")
    Path("plan.json").write_text(plan)
    assert [row["partition"] for row in json.loads(plan)["partitions"]] == [0]
    assert reassign("run", *asked([("A", 1, [5])]), "--additional", "--rounds", "0") == 0
    assert reassign("cancel", "--reassignment-json-file", "plan.json") == 0
    assert said(capsys, "admin", "reassign", "list").splitlines()[1:] == [
        "A-1: replicas: 2,3,4,5. adding: 5. removing: 2,3,4."
    ]


def test_each_partition_of_a_cancellation_has_its_result(capsys: Captured) -> None:
    six_brokers()
    assert reassign("run", *asked(A0), "--rounds", "0") == 0
    words = asked([("A", 1, [1]), ("A", 0, [1]), ("B", 0, [1])])
    done = document(capsys, "admin", "reassign", "cancel", *words, code=ExitCode.VIOLATION)
    assert [(row["topic"], row["partition"], row["error"], row["error_code"]) for row in done["results"]] == [
        ("A", 1, "NO_REASSIGNMENT_IN_PROGRESS", 85),
        ("A", 0, "NONE", 0),
        ("B", 0, "UNKNOWN_TOPIC_OR_PARTITION", 3),
    ]
    assert partitions(capsys)["A-0"] == "1,3,2 1,2,3 - - 1"


def test_a_cancellation_leaves_somebody_in_sync(capsys: Captured) -> None:
    """Scenario S26: all who were there before have fallen out, so that only who was added is in sync."""
    six_brokers()
    assert topics("create", "--topic", "U", "--replica-assignment", "1", "--config", _UNCLEAN) == 0
    assert topics("create", "--topic", "C", "--replica-assignment", "1") == 0
    assert reassign("run", *asked([("C", 0, [5, 6]), ("U", 0, [5, 6])]), "--rounds", "1") == 0
    assert topics("brokers", "--stop", "1") == 0
    done = document(capsys, "admin", "reassign", "cancel", code=ExitCode.VIOLATION)
    assert [(row["topic"], row["error"], row["message"]) for row in done["results"]] == [
        (
            "C",
            "INVALID_REPLICA_ASSIGNMENT",
            "no replica in sync would be left, and with it acknowledged records would be lost",
        ),
        ("U", "NONE", "cancelled, replicas 1, in sync 1; 5,6 stopped"),
    ]


_UNCLEAN = "unclean.leader.election.enable=true"

# ---------------------------------------------------------------------------------------------------------
# Rule: cli.reassign-connection.
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["plan", "run", "verify", "list", "cancel"])
def test_zookeeper_is_refused(capsys: Captured, command: str) -> None:
    six_brokers()
    words = () if command == "list" else asked(A0)
    before = TRACE.read_bytes()
    error = refused(capsys, "admin", "reassign", command, *words, "--zookeeper", "z:2181", code=ExitCode.USAGE)
    assert "--bootstrap-server" in error
    assert TRACE.read_bytes() == before


def test_a_broker_that_is_alive_forwards(capsys: Captured) -> None:
    six_brokers()
    assert topics("brokers", "--stop", "6", "--stop", "5") == 0
    words = asked(A0)
    done = document(capsys, "admin", "reassign", "run", *words, "--bootstrap-server", "b6:9092, b3:9092,b2:9092")
    assert done["forwarded_by"] == 3
    for command in (("run", *words), ("plan", *words), ("verify", *words), ("cancel", *words), ("list",)):
        error = refused(
            capsys, "admin", "reassign", *command, "--bootstrap-server", "b5:9092,b6:9092", code=ExitCode.UNAVAILABLE
        )
        assert "b5:9092, b6:9092" in error
    error = refused(capsys, "admin", "reassign", "list", "--bootstrap-server", "h1:9093", code=ExitCode.USAGE)
    assert "--bootstrap-server h1:9093: no broker listens there; there are b1:9092, b2:9092" in error
