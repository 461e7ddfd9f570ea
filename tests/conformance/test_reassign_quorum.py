"""`kraft-spec admin reassign` and the quorum's own partition: KIP-642 on a simulated cluster, as a user sees it."""

import json
import shutil
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.cluster_folder import broker, format_node, properties, quorum, static_voters, three_voters
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
from kraft_conformance.directories.error_codes import CODES, meaning_of
from kraft_conformance.exit_codes import ExitCode
from kraft_reference.messages import Error

HISTORY = Path("quorum.jsonl")
OWN = "__cluster_metadata"


pytestmark = pytest.mark.usefixtures("elsewhere")


def to(*ids: int, name: str = "quorum.json") -> tuple[str, str]:
    """A file that asks for these voters."""
    return asked([(OWN, 0, ids)], name)


def voters(capsys: Captured) -> list[int]:
    status = document(capsys, "admin", "quorum", "describe", "--status")["status"]
    return [voter["id"] for voter in status["CurrentVoters"]]


def leader(capsys: Captured) -> int:
    return int(document(capsys, "admin", "quorum", "describe", "--status")["status"]["LeaderId"])


def changes(steps: Sequence[dict[str, Any]]) -> list[tuple[int, list[int], list[int] | None]]:
    """The steps that change voters or target: round, voters, target."""
    return [(one["round"], one["voters"], one["target"]) for one in steps if not one["step"].endswith(" leads")]


# ---------------------------------------------------------------------------------------------------------
# run, wait, verify.
# ---------------------------------------------------------------------------------------------------------


def test_three_voters_give_way_to_three_others(capsys: Captured) -> None:
    """Scenario S20: one voter at a time, additions first, the leader last."""
    three_voters(others=[4, 5, 6])
    first = leader(capsys)
    done = document(capsys, "admin", "reassign", "run", *to(6, 5, 4))
    assert done["results"] == [
        {
            "topic": OWN,
            "partition": 0,
            "error": "NONE",
            "error_code": 0,
            "message": "started, voters 1,2,3, target 4,5,6",
        }
    ]
    steps = done["quorum"]["steps"]
    assert [(one["round"], len(one["voters"])) for one in steps if not one["step"].endswith(" leads")] == [
        (0, 3),
        (0, 3),
        (1, 4),
        (2, 3),
        (3, 4),
        (4, 3),
        (5, 4),
        (6, 3),
        (7, 3),
    ]
    assert [one["step"] for one in (steps[0], steps[1], steps[-1])] == ["before", "asked", "complete"]
    assert steps[-2]["step"] == f"remove {first}-U{first}"
    assert all(first in one["voters"] for one in steps[:-2])
    handed_over = next(one for one in steps if one["step"].endswith(" leads"))
    assert handed_over == {
        "round": 5,
        "step": f"{handed_over['leader']} leads",
        "time_ms": handed_over["time_ms"],
        "leader": handed_over["leader"],
        "voters": [first, 4, 5, 6],
        "adding": [],
        "removing": [first],
        "target": [4, 5, 6],
    }
    assert handed_over["leader"] in (4, 5, 6)
    for before, after in pairwise(steps):
        assert len(set(before["voters"]) ^ set(after["voters"])) <= 1
        assert before["time_ms"] <= after["time_ms"]
    assert done["quorum"]["now"]["target"] is None
    assert (voters(capsys), leader(capsys)) == ([4, 5, 6], done["quorum"]["now"]["leader"])
    assert done["rollback"]["partitions"][0]["replicas"] == [1, 2, 3]
    assert said(capsys, "admin", "reassign", "verify", *to(4, 5, 6)) == "__cluster_metadata-0: complete\n"
    assert main(["validate", str(HISTORY)]) == 0


def test_the_steps_stand_in_a_table(capsys: Captured) -> None:
    three_voters(others=[4])
    first = leader(capsys)
    gone = 3 if first != 3 else 2
    stay = sorted({1, 2, 3, 4} - {gone})
    lines = said(capsys, "admin", "reassign", "run", *to(*stay)).splitlines()
    table = lines[next(place for place, line in enumerate(lines) if line.startswith("Round")) :]
    assert [line.split()[:-1] for line in table[1:-1]] == [
        [f"{OWN}-0", "before", "1,2,3", "-", "-", str(first)],
        [f"{OWN}-0", "asked", "1,2,3", "4", str(gone), str(first)],
        ["1", f"{OWN}-0", "add", "4-U4", "1,2,3,4", "-", str(gone), str(first)],
        ["2", f"{OWN}-0", "remove", f"{gone}-U{gone}", ",".join(map(str, stay)), "-", "-", str(first)],
        ["3", f"{OWN}-0", "complete", ",".join(map(str, stay)), "-", "-", str(first)],
    ]
    assert table[0].split() == ["Round", "Partition", "Step", "Voters", "Adding", "Removing", "Leader", "Ms"]
    assert table[-1] == f"{OWN}-0: at rest, voters {','.join(map(str, stay))}, leader {first}"
    assert lines[-len(table) - 1].startswith("to go back: ")
    assert lines[-len(table) - 2] == f"{OWN}-0: NONE (0): started, voters 1,2,3, target {','.join(map(str, stay))}"


def test_the_same_voters_are_written_and_cleared(capsys: Captured) -> None:
    three_voters()
    done = document(capsys, "admin", "reassign", "run", *to(3, 1, 2))
    assert changes(done["quorum"]["steps"]) == [
        (0, [1, 2, 3], None),
        (0, [1, 2, 3], [1, 2, 3]),
        (1, [1, 2, 3], None),
    ]


def test_rounds_are_changes_of_the_voters_and_wait_goes_on(capsys: Captured) -> None:
    three_voters(others=[4, 5])
    words = to(1, 2, 3, 4, 5)
    done = document(capsys, "admin", "reassign", "run", *words, "--rounds", "0")
    assert changes(done["quorum"]["steps"]) == [(0, [1, 2, 3], None), (0, [1, 2, 3], [1, 2, 3, 4, 5])]
    assert said(capsys, "admin", "reassign", "verify", *words, code=ExitCode.INCONCLUSIVE) == (
        f"{OWN}-0: in progress; waits for one of 4,5 to catch up\n"
    )
    steps = document(capsys, "admin", "reassign", "wait", "--rounds", "1")["quorum_steps"]
    assert [one["round"] for one in steps] == [0, 1]
    assert len(voters(capsys)) == 4
    rest = document(capsys, "admin", "reassign", "wait")
    assert [one["round"] for one in rest["quorum_steps"]] == [0, 1, 2]
    assert (rest["quorum_steps"][-1]["step"], rest["in_progress"]) == ("complete", [])
    assert said(capsys, "admin", "reassign", "wait") == "No partition reassignments found.\n"


def test_a_node_that_is_stopped_is_waited_for(capsys: Captured) -> None:
    three_voters()
    assert format_node(properties(4), "--no-initial-controllers", "--directory-id", "U4") == 0
    lines = said(capsys, "admin", "reassign", "run", *to(1, 2, 3, 4), code=ExitCode.INCONCLUSIVE).splitlines()
    assert lines[-1] == (f"{OWN}-0: in progress, voters 1,2,3, target 1,2,3,4; waits for 4 to catch up; not running: 4")
    assert reassign("wait") == ExitCode.INCONCLUSIVE
    assert quorum("start", "4") == 0
    assert reassign("wait") == 0
    assert voters(capsys) == [1, 2, 3, 4]


# ---------------------------------------------------------------------------------------------------------
# While one is in progress.
# ---------------------------------------------------------------------------------------------------------


def test_list_and_verify_show_it_in_the_middle(capsys: Captured) -> None:
    three_voters(others=[4, 5, 6])
    first = leader(capsys)
    assert reassign("run", *to(4, 5, 6), "--rounds", "2") == 0
    now = voters(capsys)
    assert len(now) == 3
    new, old = sorted({4, 5, 6} - set(now)), sorted({1, 2, 3} & set(now))
    text = [",".join(map(str, ids)) for ids in (now, new, old)]
    line = f"{OWN}-0: replicas: {text[0]}. adding: {text[1]}. removing: {text[2]}."
    assert said(capsys, "admin", "reassign", "list") == f"Current partition reassignments:\n{line}\n"
    assert document(capsys, "admin", "reassign", "list") == [
        {
            "topic": OWN,
            "partition": 0,
            "leader": first,
            "replicas": now,
            "in_sync": None,
            "adding": new,
            "removing": old,
            "target": [4, 5, 6],
            "waits_for": f"waits for one of {text[1]} to catch up",
        }
    ]
    other = said(capsys, "admin", "reassign", "verify", *to(1, 2, 3), code=ExitCode.VIOLATION)
    assert other == f"{OWN}-0: another reassignment is in progress, to 4,5,6\n"
    six_brokers()
    assert reassign("run", *asked([("A", 0, [4, 3, 2])]), "--additional", "--rounds", "0") == 0
    both = said(capsys, "admin", "reassign", "list").splitlines()
    assert both[1:] == ["A-0: replicas: 1,4,3,2. adding: 4. removing: 1.", line]


def test_topics_describe_points_to_the_quorum(capsys: Captured) -> None:
    six_brokers()
    error = refused(capsys, "admin", "topics", "describe", "--topic", OWN, code=ExitCode.VIOLATION)
    assert error.startswith(
        f"{OWN} is the log of the quorum, and no topic; `kraft-spec admin quorum describe --status`"
    )


def test_a_second_run_needs_additional_and_retargets(capsys: Captured) -> None:
    """Scenario S21: the voters from before come back step by step."""
    three_voters(others=[4, 5, 6])
    assert reassign("run", *to(4, 5, 6), "--rounds", "3") == 0
    middle, before = voters(capsys), HISTORY.read_bytes()
    six_brokers()
    for words in (to(1, 2, 3), asked([("A", 0, [4, 3, 2])])):
        error = refused(capsys, "admin", "reassign", "run", *words, code=ExitCode.VIOLATION)
        assert f"{OWN}-0: replicas: {','.join(map(str, middle))}. adding: " in error
    assert HISTORY.read_bytes() == before
    capsys.readouterr()
    assert reassign("plan", *to(1, 2, 3)) == 0
    assert "`run` needs --additional" in capsys.readouterr().err
    done = document(capsys, "admin", "reassign", "run", *to(1, 2, 3), "--additional")
    assert done["results"][0]["message"].startswith("replaces the running reassignment, voters ")
    steps = done["quorum"]["steps"]
    assert (steps[0]["voters"], steps[0]["target"], steps[-1]["step"]) == (middle, [4, 5, 6], "complete")
    assert "asked anew" in [one["step"].split("; ")[-1] for one in steps]
    assert all(len(set(one["voters"]) ^ set(two["voters"])) <= 1 for one, two in pairwise(steps))
    assert voters(capsys) == [1, 2, 3]


def test_the_same_target_again_changes_nothing(capsys: Captured) -> None:
    three_voters(others=[4])
    assert reassign("run", *to(1, 2, 3, 4), "--rounds", "0") == 0
    done = document(capsys, "admin", "reassign", "run", *to(4, 3, 2, 1), "--additional", "--rounds", "0")
    assert done["results"][0]["message"] == "in progress already, voters 1,2,3, target 1,2,3,4"
    assert [one["step"] for one in done["quorum"]["steps"]] == ["before"]


def test_to_cancel_stays_with_the_voters_that_there_are(capsys: Captured) -> None:
    """Rule: reassign.cancel-null."""
    three_voters(others=[4, 5, 6])
    assert reassign("run", *to(4, 5, 6), "--rounds", "3") == 0
    middle = voters(capsys)
    plan = said(capsys, "admin", "reassign", "cancel", "--dry-run")
    assert json.loads(plan)["partitions"] == [
        {"topic": OWN, "partition": 0, "replicas": [4, 5, 6], "log_dirs": ["any", "any", "any"]}
    ]
    assert len(document(capsys, "admin", "reassign", "list")) == 1, "a dry run cancels nothing"
    text = said(capsys, "admin", "reassign", "cancel")
    stay = ",".join(map(str, middle))
    assert f"{OWN}-0: NONE (0): cancelled, voters stay {stay}: for the quorum null restores nothing (KIP-642)" in text
    assert voters(capsys) == middle
    assert quorum("run", "--for-ms", "5000") == 0
    assert (voters(capsys), document(capsys, "admin", "reassign", "list")) == (middle, [])
    again = said(capsys, "admin", "reassign", "cancel", *to(4, 5, 6), code=ExitCode.VIOLATION).splitlines()
    assert again[-1] == (
        f"{OWN}-0: NO_REASSIGNMENT_IN_PROGRESS (85): nothing is being reassigned, so that there is nothing to cancel"
    )
    assert said(capsys, "admin", "reassign", "cancel") == "No partition reassignments found.\n"


def test_nobody_adds_or_removes_a_voter_by_hand_meanwhile(capsys: Captured) -> None:
    three_voters(others=[4, 5])
    assert reassign("run", *to(1, 2, 3, 4), "--rounds", "0") == 0
    for words in (
        ("add-controller", "--config", "5.properties"),
        ("remove-controller", "--controller-id", "1", "--controller-uuid", "U1"),
    ):
        text = said(capsys, "admin", "quorum", *words, code=ExitCode.VIOLATION)
        assert "REASSIGNMENT_IN_PROGRESS (60): the quorum is being reassigned" in text


# ---------------------------------------------------------------------------------------------------------
# A file with both.
# ---------------------------------------------------------------------------------------------------------


def test_a_file_may_name_the_quorum_and_others(capsys: Captured) -> None:
    three_voters(others=[4])
    six_brokers()
    words = asked([("A", 1, [5]), (OWN, 0, [1, 2, 3, 4]), ("A", 7, [1])])
    done = document(capsys, "admin", "reassign", "run", *words, code=ExitCode.VIOLATION)
    assert [(row["topic"], row["partition"], row["error_code"]) for row in done["results"]] == [
        ("A", 1, 0),
        (OWN, 0, 0),
        ("A", 7, 3),
    ]
    assert (voters(capsys), partitions(capsys)["A-1"]) == ([1, 2, 3, 4], "5 5 - - 5")
    assert [row["topic"] for row in done["rollback"]["partitions"]] == ["A", OWN]
    Path("back.json").write_text(json.dumps(done["rollback"]))
    assert reassign("run", "--reassignment-json-file", "back.json", "--rounds", "1") == 0
    text = said(capsys, "admin", "reassign", "cancel")
    assert [line.split(": ")[1] for line in text.splitlines() if not line.startswith(" ")] == ["NONE (0)", "NONE (0)"]
    assert said(capsys, "admin", "reassign", "list") == "No partition reassignments found.\n"


def test_what_is_refused_for_the_quorum_does_not_keep_others_back(capsys: Captured) -> None:
    three_voters()
    six_brokers()
    words = asked([(OWN, 0, [1, 9]), ("A", 0, [4, 3, 2])])
    text = said(capsys, "admin", "reassign", "run", *words, code=ExitCode.VIOLATION)
    assert f"{OWN}-0: INVALID_REPLICA_ASSIGNMENT (39): no node 9; there are 1, 2, 3\n" in text
    assert "A-0: NONE (0): started, replicas 1,4,3,2\n" in text
    assert OWN not in next(line for line in text.splitlines() if line.startswith("to go back"))
    assert partitions(capsys)["A-0"] == "4,3,2 2,3,4 - - 4"
    assert quorum("stop", "1", "2", "3") == 0
    last = asked([("A", 0, [1, 2, 3]), (OWN, 0, [1, 2])])
    unanswered = document(capsys, "admin", "reassign", "run", *last, code=ExitCode.UNAVAILABLE)
    assert [row["error_code"] for row in unanswered["results"]] == [0, None]


def test_the_worst_of_both_is_the_exit_code(capsys: Captured) -> None:
    three_voters()
    assert format_node(properties(4), "--no-initial-controllers", "--directory-id", "U4") == 0
    six_brokers()
    words = asked([("A", 0, [4, 3, 2]), (OWN, 0, [1, 2, 3, 4])])
    assert reassign("run", *words) == ExitCode.INCONCLUSIVE
    assert said(capsys, "admin", "reassign", "verify", *words, code=ExitCode.INCONCLUSIVE).splitlines() == [
        "A-0: complete",
        f"{OWN}-0: in progress; waits for 4 to catch up; not running: 4",
    ]
    other = asked([("A", 0, [1]), (OWN, 0, [1, 2, 3, 4])])
    assert reassign("verify", *other) == ExitCode.VIOLATION


# ---------------------------------------------------------------------------------------------------------
# Whom the tool asks, and what goes wrong.
# ---------------------------------------------------------------------------------------------------------


def test_the_request_takes_the_route_of_other_requests(capsys: Captured) -> None:
    three_voters()
    assert format_node(broker(7), "--no-initial-controllers", "--directory-id", "U7") == 0
    assert quorum("start") == 0
    assert quorum("run", "--for-ms", "2000") == 0
    first = leader(capsys)
    other = 1 if first != 1 else 2
    words = (*to(1, 2, 3), "--bootstrap-controller", f"h{other}:9093")
    assert said(capsys, "admin", "reassign", "run", *words).splitlines()[0] == (
        f"  controller {other} answers NOT_LEADER_OR_FOLLOWER, the leader is {first}"
    )
    hops = document(capsys, "admin", "reassign", "run", *to(1, 2, 3), "--bootstrap-server", "b7:9092")["quorum"]["hops"]
    assert hops[0] == f"broker 7 forwards to controller {first}"
    before = HISTORY.read_bytes()
    for bad in (
        ("--bootstrap-server", "b1:9092"),
        ("--bootstrap-controller", "b7:9092"),
        ("--bootstrap-server", "b7:9092", "--bootstrap-controller", "h1:9093"),
    ):
        assert refused(capsys, "admin", "reassign", "run", *to(1, 2, 3), *bad, code=ExitCode.USAGE)
    error = refused(capsys, "admin", "reassign", "run", *to(1, 2, 7), code=ExitCode.USAGE)
    assert error == f"{OWN}-0: node 7 is a broker, which cannot vote\n"
    six_brokers()
    of_topic = asked([("A", 0, [4, 3, 2])])
    for command in ("run", "cancel"):
        error = refused(
            capsys, "admin", "reassign", command, *of_topic, "--bootstrap-controller", "h1:9093", code=ExitCode.USAGE
        )
        assert "is for the quorum's own partition, which is not named" in error
    assert HISTORY.read_bytes() == before
    both = asked([(OWN, 0, [1, 2, 3]), ("A", 0, [4, 3, 2])])
    servers = ("--bootstrap-server", "b3:9092", "--bootstrap-controller", f"h{first}:9093")
    assert document(capsys, "admin", "reassign", "run", *both, *servers)["forwarded_by"] == 3


def test_where_nobody_answers_nothing_has_changed(capsys: Captured) -> None:
    three_voters()
    assert quorum("stop", "1", "2", "3", "--kill") == 0
    text = said(capsys, "admin", "reassign", "run", *to(1, 2), code=ExitCode.UNAVAILABLE).splitlines()
    assert text == [
        "  no controller of the list is running",
        f"{OWN}-0: no answer in 60000 ms; there was nobody to ask, nothing was sent",
    ]
    assert reassign("list") == 0
    assert said(capsys, "admin", "reassign", "verify", *to(1, 2), code=ExitCode.VIOLATION) == (
        f"{OWN}-0: voters 1,2,3, expected 1,2; nothing is in progress\n"
    )


def test_a_leader_that_cannot_commit_leaves_it_open(capsys: Captured) -> None:
    """Rules: reassign.client-retries, reassign.request-success-after-commit."""
    three_voters()
    first = leader(capsys)
    others = [str(one) for one in (1, 2, 3) if one != first]
    assert quorum("stop", *others, "--kill") == 0
    done = document(capsys, "admin", "reassign", "run", *to(first), code=ExitCode.INCONCLUSIVE)
    assert (done["quorum"]["outcome_open"], done["results"][0]["error_code"]) == (True, 6)
    assert "the next leader decides; ask again" in done["results"][0]["message"]
    assert [one["step"] for one in done["quorum"]["steps"]] == ["before"], "nothing is committed"
    assert quorum("start") == 0
    assert reassign("run", *to(first), "--additional") == 0
    assert voters(capsys) == [first]


def test_a_target_that_is_in_a_log_only_is_waited_for(capsys: Captured) -> None:
    """The next leader has it and goes on, or has it not, and then there is nothing to wait for."""
    three_voters()
    first = leader(capsys)
    others = [str(one) for one in (1, 2, 3) if one != first]
    assert quorum("stop", *others) == 0
    assert reassign("run", *to(first)) == ExitCode.INCONCLUSIVE
    assert quorum("start") == 0
    before = len(HISTORY.read_text().splitlines())
    reassign("wait")
    assert len(HISTORY.read_text().splitlines()) > before
    assert document(capsys, "admin", "reassign", "list") == []
    assert voters(capsys) in ([first], [1, 2, 3])


def test_static_voters_are_upgraded_first(capsys: Captured) -> None:
    static_voters()
    for command in ("plan", "run"):
        text = said(capsys, "admin", "reassign", command, *to(1, 2), code=ExitCode.VIOLATION)
        assert f"{OWN}-0: UNSUPPORTED_VERSION (35): the quorum is at kraft.version 0" in text


def test_there_must_be_a_quorum_and_its_files_must_be_whole(capsys: Captured) -> None:
    six_brokers()
    for command in ("run", "plan", "verify", "cancel"):
        error = refused(capsys, "admin", "reassign", command, *to(1, 2), code=ExitCode.VIOLATION)
        assert "nothing has run here yet; begin with `kraft-spec admin quorum start`" in error
    assert said(capsys, "admin", "reassign", "list") == "No partition reassignments found.\n"
    three_voters()
    topics_before, before = TRACE.read_bytes(), HISTORY.read_bytes()
    meta = Path("node-1/meta.properties")
    text = meta.read_text()
    meta.write_text(text.replace("node.id=1", "node.id=x"))
    both = asked([(OWN, 0, [1, 2]), ("A", 0, [4, 3, 2])])
    for command in ("run", "plan", "verify", "cancel"):
        error = refused(capsys, "admin", "reassign", command, *both, code=ExitCode.BAD_INPUT)
        assert error.startswith("node-1/meta.properties:")
    meta.write_text(text)
    assert (TRACE.read_bytes(), HISTORY.read_bytes()) == (topics_before, before)
    TRACE.unlink()
    error = refused(capsys, "admin", "reassign", "run", *both, code=ExitCode.VIOLATION)
    assert "topics create" in error
    assert topics("create", "--topic", "A", "--replica-assignment", "1") == 0


def test_a_disk_that_is_lost_on_the_way_is_waited_for(capsys: Captured) -> None:
    three_voters(others=[4])
    words = to(1, 2, 3, 4)
    assert reassign("run", *words, "--rounds", "0") == 0
    shutil.rmtree("node-4")
    assert "not running: 4" in said(capsys, "admin", "reassign", "wait", code=ExitCode.INCONCLUSIVE)
    assert format_node("4.properties", "--no-initial-controllers", "--directory-id", "U4b") == 0
    # The leader remembers the disk that it has heard from, and would add that one; the next leader does not know it.
    first = str(leader(capsys))
    assert quorum("stop", first) == 0
    assert quorum("start", first, "4") == 0
    steps = document(capsys, "admin", "reassign", "wait")["quorum_steps"]
    assert "add 4-U4b" in [one["step"] for one in steps]


def test_every_error_has_its_number_and_what_it_means() -> None:
    """Rule: wire.error-codes."""
    assert set(CODES) == set(Error)
    assert len(set(CODES.values())) == len(CODES)
    of_reassignments = {
        Error.INVALID_REPLICA_ASSIGNMENT: 39,
        Error.REASSIGNMENT_IN_PROGRESS: 60,
        Error.NO_REASSIGNMENT_IN_PROGRESS: 85,
    }
    assert {error: CODES[error] for error in of_reassignments} == of_reassignments
    assert all(meaning_of(error) for error in of_reassignments)


def test_the_same_commands_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        three_voters(others=[4, 5, 6])
        assert reassign("run", *to(4, 5, 6)) == 0
        written.append(HISTORY.read_bytes())
    assert written[0] == written[1]
