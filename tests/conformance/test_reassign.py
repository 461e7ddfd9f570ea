"""`kraft-spec admin reassign`: what kafka-reassign-partitions does, as a user sees it."""

import json
import shutil
from pathlib import Path

import pytest
from tests.conformance.cluster_folder import format_node, properties, three_voters
from tests.conformance.partition_folder import (
    TRACE,
    Captured,
    asked,
    document,
    partitions,
    reassign,
    refused,
    rows_of,
    said,
    six_brokers,
    topics,
)

from kraft_conformance.exit_codes import ExitCode

A0 = [("A", 0, [4, 3, 2])]


pytestmark = pytest.mark.usefixtures("elsewhere")


# ---------------------------------------------------------------------------------------------------------
# run, plan, wait, verify.
# ---------------------------------------------------------------------------------------------------------


def test_a_reassignment_goes_the_way_of_scenario_s25(capsys: Captured) -> None:
    six_brokers()
    done = document(capsys, "admin", "reassign", "run", *asked(A0))
    assert done["results"] == [
        {"topic": "A", "partition": 0, "error": "NONE", "error_code": 0, "message": "started, replicas 1,4,3,2"}
    ]
    assert rows_of(done["steps"]) == [
        "0 A-0 before: 1,2,3 1,2,3 - - 1",
        "0 A-0 asked: 1,4,3,2 1,2,3 4 1 1",
        "1 A-0 4 in sync: 1,4,3,2 1,2,3,4 4 1 1",
        "2 A-0 complete, 1 stopped: 4,3,2 2,3,4 - - 4",
    ]
    assert partitions(capsys) == {"A-0": "4,3,2 2,3,4 - - 4", "A-1": "2,3,4 2,3,4 - - 2"}


def test_the_plan_is_what_run_does_and_changes_nothing(capsys: Captured) -> None:
    six_brokers()
    before = TRACE.read_bytes()
    words = asked([*A0, ("A", 1, [5, 6]), ("A", 9, [1])])
    planned = document(capsys, "admin", "reassign", "plan", *words, code=ExitCode.VIOLATION)
    assert TRACE.read_bytes() == before
    done = document(capsys, "admin", "reassign", "run", *words, code=ExitCode.VIOLATION)
    assert planned["results"] == done["results"]
    by_partition = sorted(done["steps"], key=lambda row: (row["topic"], row["partition"], row["round"]))
    assert planned["steps"] == by_partition
    assert planned["partitions"] == done["partitions"]
    assert planned["quorum"] is None


def test_the_answer_is_a_file_that_brings_the_old_replicas_back(capsys: Captured) -> None:
    six_brokers()
    back = document(capsys, "admin", "reassign", "run", *asked(A0))["rollback"]
    row = {"topic": "A", "partition": 0, "replicas": [1, 2, 3], "log_dirs": ["any", "any", "any"]}
    assert back == {"version": 1, "partitions": [row]}
    Path("back.json").write_text(json.dumps(back))
    assert reassign("run", "--reassignment-json-file", "back.json") == ExitCode.CONFORMANT
    assert partitions(capsys)["A-0"] == "1,2,3 1,2,3 - - 1"


def test_rounds_stop_half_way_and_wait_goes_on(capsys: Captured) -> None:
    six_brokers()
    words = asked([("A", 0, [4, 5]), ("A", 1, [1])])
    assert reassign("run", *words, "--rounds", "0") == ExitCode.CONFORMANT
    assert partitions(capsys) == {"A-0": "1,2,3,4,5 1,2,3 4,5 1,2,3 1", "A-1": "2,3,4,1 2,3,4 1 2,3,4 2"}
    one = document(capsys, "admin", "reassign", "wait", "--rounds", "1")
    assert rows_of(one["steps"]) == [
        "1 A-0 4 in sync: 1,2,3,4,5 1,2,3,4 4,5 1,2,3 1",
        "1 A-1 1 in sync: 2,3,4,1 1,2,3,4 1 2,3,4 2",
    ]
    rest = document(capsys, "admin", "reassign", "wait")
    assert rows_of(rest["steps"]) == [
        "1 A-0 5 in sync: 1,2,3,4,5 1,2,3,4,5 4,5 1,2,3 1",
        "1 A-1 complete, 2,3,4 stopped: 1 1 - - 1",
        "2 A-0 complete, 1,2,3 stopped: 4,5 4,5 - - 4",
    ]
    assert rest["in_progress"] == []
    assert said(capsys, "admin", "reassign", "wait") == "No partition reassignments found.\n"


def test_adding_replicas_catch_up_before_others(capsys: Captured) -> None:
    six_brokers()
    assert topics("brokers", "--stop", "3") == topics("brokers", "--start", "3") == 0
    done = document(capsys, "admin", "reassign", "run", *asked([("A", 0, [3, 2, 4])]), "--rounds", "1")
    assert rows_of(done["steps"])[-2:] == [
        "1 A-0 4 in sync: 1,3,2,4 1,2,4 4 1 1",
        "1 A-1 3 in sync: 2,3,4 2,3,4 - - 2",
    ]


def test_a_stopped_broker_is_waited_for(capsys: Captured) -> None:
    six_brokers()
    assert topics("brokers", "--stop", "4") == 0
    words = asked(A0)
    assert reassign("plan", *words) == ExitCode.INCONCLUSIVE
    stuck = document(capsys, "admin", "reassign", "run", *words, code=ExitCode.INCONCLUSIVE)
    assert stuck["partitions"][0]["waits_for"] == "waits for 4 to be in sync; not alive: 4"
    assert reassign("verify", *words) == ExitCode.INCONCLUSIVE
    assert reassign("wait") == ExitCode.INCONCLUSIVE
    assert reassign("wait", "--rounds", "3") == ExitCode.CONFORMANT
    assert topics("brokers", "--start", "4") == 0
    assert reassign("wait") == ExitCode.CONFORMANT
    assert said(capsys, "admin", "reassign", "verify", *words) == "A-0: complete\n"
    assert partitions(capsys)["A-0"] == "4,3,2 2,3,4 - - 4"


def test_nothing_in_sync_that_stays_is_waited_for(capsys: Captured) -> None:
    """Scenario S28: AR is empty, and who stays is not in sync."""
    six_brokers()
    assert topics("brokers", "--stop", "2", "--stop", "3") == 0
    stuck = document(capsys, "admin", "reassign", "run", *asked([("A", 0, [2, 3])]), code=ExitCode.INCONCLUSIVE)
    assert stuck["partitions"][0]["waits_for"] == "waits for one of 2,3 to be in sync; not alive: 2,3"


def test_verify_tells_what_is_there_from_what_was_asked(capsys: Captured) -> None:
    six_brokers()
    assert reassign("run", *asked(A0), "--rounds", "1") == 0
    words = asked([("A", 0, [5]), ("A", 1, [6]), ("A", 8, [1])], "other.json")
    assert said(capsys, "admin", "reassign", "verify", *words, code=ExitCode.VIOLATION).splitlines() == [
        "A-0: another reassignment is in progress, to 4,3,2",
        "A-1: replicas 2,3,4, expected 6; nothing is in progress",
        "A-8: there is no such partition",
    ]
    found = document(capsys, "admin", "reassign", "verify", *asked(A0), code=ExitCode.INCONCLUSIVE)
    assert found == [{"topic": "A", "partition": 0, "status": "in progress"}]


def test_only_the_order_is_done_at_once(capsys: Captured) -> None:
    six_brokers()
    done = document(capsys, "admin", "reassign", "run", *asked([("A", 0, [3, 1, 2])]))
    assert done["results"][0]["message"] == "done at once, replicas 3,1,2"
    assert said(capsys, "admin", "reassign", "list") == "No partition reassignments found.\n"


# ---------------------------------------------------------------------------------------------------------
# Profiles, errors, the quorum's partition.
# ---------------------------------------------------------------------------------------------------------


def test_the_kafka_profile_completes_in_the_step_that_makes_it_possible(capsys: Captured) -> None:
    six_brokers("--profile", "kafka-4")
    done = document(capsys, "admin", "reassign", "run", *asked(A0))
    assert rows_of(done["steps"]) == [
        "0 A-0 before: 1,2,3 1,2,3 - - 1",
        "0 A-0 asked: 4,3,2,1 1,2,3 4 1 1",
        "1 A-0 4 in sync; complete, 1 stopped: 4,3,2 2,3,4 - - 4",
    ]


def test_of_what_is_refused_as_a_whole_nothing_is_kept(capsys: Captured) -> None:
    six_brokers()
    before = TRACE.read_bytes()
    words = asked([("B", 0, [1]), ("A", 0, [1, 99])])
    answer = document(capsys, "admin", "reassign", "run", *words, code=ExitCode.VIOLATION)
    assert [(row["error_code"], row["message"]) for row in answer["results"]] == [
        (3, "there is no such partition"),
        (39, "no broker 99; there are 1, 2, 3, 4, 5, 6"),
    ]
    assert (answer["steps"], answer["partitions"]) == ([], [])
    assert TRACE.read_bytes() == before
    assert topics("create", "--topic", "B", "--replica-assignment", "2:3") == 0


def test_there_must_be_topics(capsys: Captured) -> None:
    for command in ("run", "plan", "verify", "cancel"):
        assert "topics create" in refused(capsys, "admin", "reassign", command, *asked(A0), code=ExitCode.VIOLATION)
    assert "topics create" in refused(capsys, "admin", "reassign", "list", code=ExitCode.VIOLATION)
    assert refused(capsys, "admin", "reassign", "list", "-d", "nowhere", code=ExitCode.NO_INPUT)


def test_the_plan_of_the_quorum_is_kip_642s(capsys: Captured) -> None:
    three_voters(others=[4])
    assert format_node(properties(5), "--no-initial-controllers", "--directory-id", "U5") == 0
    leader = document(capsys, "admin", "quorum", "describe", "--status")["status"]["LeaderId"]
    rows = [("__cluster_metadata", 0, [4, 5, leader])]
    planned = document(capsys, "admin", "reassign", "plan", *asked(rows))["quorum"]
    assert (planned["leader"], planned["not_formatted"]) == (leader, [])
    assert [len(voters) for voters in planned["sets"]] == [3, 4, 3, 4, 3]
    assert all(f"{leader}-U{leader}" in voters for voters in planned["sets"])
    assert sorted(planned["sets"][-1]) == sorted(["4-U4", "5-U5", f"{leader}-U{leader}"])
    six_brokers()
    both = asked([*rows, *A0])
    assert "A-0: at rest, replicas 4,3,2" in said(capsys, "admin", "reassign", "plan", *both)


def test_the_plan_of_the_quorum_names_nodes_without_a_disk(capsys: Captured) -> None:
    three_voters(others=[4])
    shutil.rmtree("node-4")
    words = asked([("__cluster_metadata", 0, [1, 2, 3, 4])])
    lines = said(capsys, "admin", "reassign", "plan", *words, code=ExitCode.INCONCLUSIVE).splitlines()
    assert lines[1:] == [
        "  1. add 4: voters 1-U1, 2-U2, 3-U3, 4",
        "  node 4 is not formatted: it could not catch up",
    ]
    nobody = asked([("__cluster_metadata", 0, [1, 2, 3, 9])])
    assert said(capsys, "admin", "reassign", "plan", *nobody, code=ExitCode.VIOLATION) == (
        "__cluster_metadata-0: INVALID_REPLICA_ASSIGNMENT (39): no node 9; there are 1, 2, 3, 4\n"
    )
    same = asked([("__cluster_metadata", 0, [3, 2, 1])])
    assert said(capsys, "admin", "reassign", "plan", *same).splitlines()[1:] == ["  nothing is to be done"]
