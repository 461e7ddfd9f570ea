"""`kraft-spec quorum`: nodes that run, stop and start, and changes of the voters, as a user sees them."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.cluster_folder import THREE, broker, format_node, properties, quorum, static_voters, three_voters

from kraft_conformance.cli import main
from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.exit_codes import ExitCode

Captured = pytest.CaptureFixture[str]
HISTORY = Path("quorum.jsonl")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KRAFT_SPEC_CLUSTER_DIR", raising=False)


def answered(capsys: Captured, *words: str) -> dict[str, Any]:
    """The JSON document of an admin request, with its exit code."""
    capsys.readouterr()
    code = quorum(*words, "--json")
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return {**document, "exit": code}


def remove(node_id: int, directory_id: str, *words: str) -> tuple[str, ...]:
    return ("remove-controller", "--controller-id", str(node_id), "--controller-uuid", directory_id, *words)


def add(node_id: int, *words: str) -> tuple[str, ...]:
    return ("add-controller", "--config", f"{node_id}.properties", *words)


def voters(capsys: Captured) -> list[str]:
    capsys.readouterr()
    assert quorum("describe", "--status", "--json") == 0
    status = json.loads(capsys.readouterr().out)["status"]
    return [f"{voter['id']}-{voter['directoryId']}@{voter['endpoints'][0]}" for voter in status["CurrentVoters"]]


def leader(capsys: Captured) -> int:
    capsys.readouterr()
    assert quorum("describe", "--status", "--json") == 0
    return int(json.loads(capsys.readouterr().out)["status"]["LeaderId"])


def events() -> Iterator[dict[str, Any]]:
    for line in HISTORY.read_text().splitlines():
        document = json.loads(line)
        if document["kind"] == "event":
            yield document


# ---------------------------------------------------------------------------------------------------------
# Adding and removing.
# ---------------------------------------------------------------------------------------------------------


def test_a_controller_is_added_with_the_ids_of_its_own_files(capsys: Captured) -> None:
    three_voters(others=[4])
    answer = answered(capsys, *add(4))
    assert (answer["error"], answer["error_code"], answer["exit"]) == ("NONE", 0, ExitCode.CONFORMANT)
    asked = [event["input"] for event in events() if event["event"] == "AddVoter"]
    assert asked[-1]["voter"] == {"id": 4, "directory_id": "U4"}
    assert (asked[-1]["endpoint"], asked[-1]["timeout_ms"]) == ("h4:9093", 30_000)
    assert voters(capsys)[-1] == "4-U4@CONTROLLER://h4:9093"


def test_a_controller_is_removed_by_both_of_its_ids(capsys: Captured) -> None:
    three_voters()
    one = next(node_id for node_id in (1, 2, 3) if node_id != leader(capsys))
    wrong = answered(capsys, *remove(one, "U9"))
    assert (wrong["error"], wrong["error_code"], wrong["exit"]) == ("VOTER_NOT_FOUND", 127, ExitCode.VIOLATION)
    assert len(voters(capsys)) == 3
    right = answered(capsys, "remove-controller", "--controller-id", str(one), "--controller-directory-id", f"U{one}")
    assert (right["error"], right["exit"]) == ("NONE", ExitCode.CONFORMANT)
    assert len(voters(capsys)) == 2


def test_the_removed_leader_hands_over(capsys: Captured) -> None:
    three_voters()
    first = leader(capsys)
    assert answered(capsys, *remove(first, f"U{first}"))["error"] == "NONE"
    assert quorum("run", "--for-ms", "5000") == 0
    assert leader(capsys) not in (first, -1)
    assert f"{first}-U{first}" not in " ".join(voters(capsys))


@pytest.mark.parametrize(
    ("words", "error", "number"),
    [
        (remove(1, "U1", "--cluster-id", "D"), "INCONSISTENT_CLUSTER_ID", 104),
        (("remove-controller", "--controller-id=-1", "--controller-uuid", "U1"), "INVALID_REQUEST", 42),
        (remove(9, "U9"), "VOTER_NOT_FOUND", 127),
        (add(1), "DUPLICATE_VOTER", 126),
        (add(4, "--timeout-ms", "2000"), "REQUEST_TIMED_OUT", 7),
    ],
)
def test_refusals_are_named_and_change_nothing(
    words: tuple[str, ...], error: str, number: int, capsys: Captured
) -> None:
    three_voters(others=[4])
    quorum("stop", "4")
    before = voters(capsys)
    answer = answered(capsys, *words)
    assert (answer["error"], answer["error_code"], answer["exit"]) == (error, number, ExitCode.VIOLATION)
    assert voters(capsys) == before


def test_a_new_voter_that_does_not_run_times_out_after_30_seconds(capsys: Captured) -> None:
    three_voters(others=[4])
    quorum("stop", "4")
    answer = answered(capsys, *add(4))
    assert answer["error"] == "REQUEST_TIMED_OUT"
    assert answer["answered_at_ms"] - answer["asked_at_ms"] == 30_000


def test_at_kraft_version_0_nobody_is_added(capsys: Captured) -> None:
    static_voters()
    assert format_node(properties(4), "-N") == 0
    assert quorum("start") == 0
    assert answered(capsys, *add(4))["error"] == "UNSUPPORTED_VERSION"


def test_text_names_code_number_and_meaning(capsys: Captured) -> None:
    three_voters()
    capsys.readouterr()
    assert quorum(*remove(3, "U9")) == ExitCode.VIOLATION
    assert "VOTER_NOT_FOUND (127): no voter has both this id and this directory id" in capsys.readouterr().out


# ---------------------------------------------------------------------------------------------------------
# Whom the client asks.
# ---------------------------------------------------------------------------------------------------------


def test_a_broker_forwards_to_the_leader(capsys: Captured) -> None:
    three_voters()
    assert format_node(broker(11)) == format_node(broker(12)) == 0
    assert quorum("start") == 0
    assert quorum("run", "--for-ms", "2000") == 0
    leads = leader(capsys)
    quorum("stop", "11")
    one = next(node_id for node_id in (1, 2, 3) if node_id != leads)
    answer = answered(capsys, *remove(one, f"U{one}", "--bootstrap-server", "b11:9092,b12:9092"))
    assert answer["hops"][0] == f"broker 12 forwards to controller {leads}"
    assert answer["error"] == "NONE"
    assert [event["replica"] for event in events() if event["event"] == "RemoveVoter"] == [leads]


def test_a_controller_that_does_not_lead_names_the_leader_and_the_client_goes_there(capsys: Captured) -> None:
    three_voters()
    leads = leader(capsys)
    one, other = (node_id for node_id in (1, 2, 3) if node_id != leads)
    answer = answered(capsys, *remove(other, f"U{other}", "--bootstrap-controller", f"h{one}:9093"))
    assert answer["hops"][0] == f"controller {one} answers NOT_LEADER_OR_FOLLOWER, the leader is {leads}"
    assert answer["error"] == "NONE"
    assert [event["replica"] for event in events() if event["event"] == "RemoveVoter"] == [one, leads]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bootstrap-server", "h1:9093"), "no broker listens there"),
        (("--bootstrap-controller", "b11:9092"), "no controller listens there; there are h1:9093"),
        (("--bootstrap-server", "b11:9092", "--bootstrap-controller", "h1:9093"), "expected one of the two"),
    ],
)
def test_a_wrong_route_is_explained(words: tuple[str, ...], said: str, capsys: Captured) -> None:
    three_voters()
    assert format_node(broker(11)) == 0
    before = HISTORY.read_bytes()
    assert quorum(*remove(3, "U3", *words)) == ExitCode.USAGE
    assert said in capsys.readouterr().err.replace("\n", " ")
    assert HISTORY.read_bytes() == before


def test_without_a_running_controller_nothing_is_sent(capsys: Captured) -> None:
    three_voters()
    assert quorum("stop", "1", "2", "3") == 0
    assert quorum(*remove(3, "U3")) == ExitCode.UNAVAILABLE
    assert "nothing was sent" in capsys.readouterr().err.replace("\n", " ")
    assert "RemoveVoter" not in {event["event"] for event in events()}


def test_a_record_that_was_appended_in_vain_may_still_take_effect(capsys: Captured) -> None:
    three_voters(others=[4])
    answer = answered(capsys, *add(4, "--timeout-ms", "150"))
    assert (answer["error"], answer["exit"], answer["outcome_open"]) == (
        "REQUEST_TIMED_OUT",
        ExitCode.INCONCLUSIVE,
        True,
    )
    assert quorum("run", "--for-ms", "2000") == 0
    assert any(voter.startswith("4-") for voter in voters(capsys)), "it did"


def test_a_request_that_nobody_took_on_has_changed_nothing(capsys: Captured) -> None:
    three_voters()
    leads = leader(capsys)
    one, other = (node_id for node_id in (1, 2, 3) if node_id != leads)
    quorum("stop", str(leads), str(one), "--kill")
    words = remove(one, f"U{one}", "--bootstrap-controller", f"h{other}:9093")
    assert quorum(*words) == ExitCode.UNAVAILABLE
    assert "nobody took it on, nothing has changed" in capsys.readouterr().err.replace("\n", " ")
    answer = answered(capsys, *words)
    assert (answer["exit"], answer["error"], answer["outcome_open"]) == (ExitCode.UNAVAILABLE, None, False)


def test_an_empty_cluster_id_is_another_cluster(capsys: Captured) -> None:
    three_voters()
    assert answered(capsys, *remove(1, "U1", "--cluster-id", ""))["error"] == "INCONSISTENT_CLUSTER_ID"


def test_a_change_that_cannot_commit_leaves_its_outcome_open(capsys: Captured) -> None:
    """The set without voter 3 needs all of the other two, and one of them is gone: the leader loses its epoch."""
    three_voters()
    leads = leader(capsys)
    one, other = (node_id for node_id in (1, 2, 3) if node_id != leads)
    quorum("stop", str(one), "--kill")
    quorum("run", "--for-ms", "500")
    quorum("stop", str(other), "--kill")
    answer = answered(capsys, *remove(other, f"U{other}", "--bootstrap-controller", f"h{leads}:9093"))
    assert answer["exit"] == ExitCode.INCONCLUSIVE
    assert answer["error"] == "NOT_LEADER_OR_FOLLOWER"
    assert answer["outcome_open"] is True


# ---------------------------------------------------------------------------------------------------------
# Nodes.
# ---------------------------------------------------------------------------------------------------------


def test_auto_join_replaces_a_lost_disk_by_itself(capsys: Captured) -> None:
    for node_id in (1, 2, 3):
        name = properties(node_id, "controller.quorum.auto.join.enable=true")
        assert format_node(name, "--initial-controllers", THREE) == 0
    assert quorum("start", "--seed", "3") == 0
    assert quorum("run", "--for-ms", "5000") == 0
    shutil.rmtree("node-3")
    assert format_node("3.properties", "-N", "--directory-id", "U3b") == 0
    assert quorum("start", "3") == 0
    assert quorum("run", "--for-ms", "20000") == 0
    assert voters(capsys)[-1] == "3-U3b@CONTROLLER://h3:9093"


def test_a_node_whose_directory_is_gone_dies(capsys: Captured) -> None:
    three_voters()
    shutil.rmtree("node-3")
    capsys.readouterr()
    assert quorum("nodes", "--json") == 0
    states = {row["node_id"]: row["state"] for row in json.loads(capsys.readouterr().out)}
    assert states[3] == "no disk"
    assert quorum("run", "--for-ms", "100") == 0
    assert [event["replica"] for event in events() if event["event"] == "Crash"][-1] == 3
    assert quorum("start", "3") == ExitCode.USAGE
    assert "no formatted metadata directory" in capsys.readouterr().err.replace("\n", " ")


def test_a_node_that_moves_tells_its_leader(capsys: Captured) -> None:
    three_voters()
    one = next(node_id for node_id in (1, 2, 3) if node_id != leader(capsys))
    quorum("stop", str(one))
    assert quorum("start", "--config", properties(one, endpoint="elsewhere:9093")) == 0
    assert quorum("run", "--for-ms", "5000") == 0
    assert f"{one}-U{one}@CONTROLLER://elsewhere:9093" in voters(capsys)
    quorum("stop", str(one))
    assert quorum("start", str(one)) == 0
    assert [event["input"]["endpoint"] for event in events() if event["event"] == "Restart"][-1] == "elsewhere:9093"


def test_a_snapshot_serves_a_node_that_comes_later(capsys: Captured) -> None:
    three_voters()
    leads = leader(capsys)
    assert quorum("snapshot", str(leads)) == 0
    assert format_node(properties(4, "controller.quorum.bootstrap.servers=h1:9093"), "-N") == 0
    assert quorum("start", "4") == 0
    assert quorum("run", "--for-ms", "3000") == 0
    assert "HandleFetchSnapshotResponse" in {event["event"] for event in events() if event.get("replica") == 4}
    assert quorum("snapshot", str(leads)) == ExitCode.VIOLATION


def test_standalone_then_more_voters(capsys: Captured) -> None:
    assert format_node(properties(1), "--standalone", "--directory-id", "U1") == 0
    assert quorum("start") == 0
    assert quorum("run", "--for-ms", "3000") == 0
    for node_id in (2, 3):
        assert format_node(properties(node_id), "-N", "--directory-id", f"U{node_id}") == 0
        assert quorum("start", str(node_id)) == 0
        assert quorum("run", "--for-ms", "1000") == 0
        assert answered(capsys, *add(node_id))["error"] == "NONE"
    assert [voter[:4] for voter in voters(capsys)] == ["1-U1", "2-U2", "3-U3"]


@pytest.mark.parametrize(("options", "tells"), [((), True), (("--kill",), False)])
def test_a_leader_that_stops_tells_the_others_unless_it_is_killed(
    options: tuple[str, ...], tells: bool, capsys: Captured
) -> None:
    three_voters()
    first = leader(capsys)
    assert quorum("stop", str(first), *options) == 0
    assert ("HandleEndQuorumEpochRequest" in {event["event"] for event in events()}) is tells
    assert quorum("run", "--for-ms", "8000") == 0
    assert leader(capsys) not in (first, -1)


def test_standalone_on_two_nodes_gives_one_epoch_two_leaders(capsys: Captured) -> None:
    """What bootstrap.sets-must-be-equal warns of: each node has the voters that it was formatted with."""
    for node_id in (1, 4):
        assert format_node(properties(node_id), "--standalone", "--directory-id", f"U{node_id}") == 0
    assert "bootstrap.sets-must-be-equal" in capsys.readouterr().err
    assert format_node(properties(5), "-N") == 0
    for node_id in (4, 1):
        assert quorum("start", str(node_id)) == 0
        assert quorum("run", "--for-ms", "4000") == 0
        assert quorum("stop", str(node_id)) == 0
    led = {
        (event["replica"], event["state"]["epoch"])
        for event in events()
        if event.get("state", {}).get("role") == "Leader"
    }
    assert led == {(1, 1), (4, 1)}
    header = json.loads(HISTORY.read_text().splitlines()[0])
    formatted = {replica["id"]: replica.get("initial_voters") for replica in header["replicas"]}
    assert formatted == {1: None, 4: [{"id": 4, "directory_id": "U4"}], 5: []}


def test_a_bootstrap_server_that_is_nobody_is_warned_about(capsys: Captured) -> None:
    assert format_node(properties(1, "controller.quorum.bootstrap.servers=h1:9093,h9:9093"), "--standalone") == 0
    assert quorum("start") == 0
    said = capsys.readouterr().err.replace("\n", " ")
    assert "node.properties:3: controller.quorum.bootstrap.servers: no node here is at h9:9093" in said


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("start", "9"), ExitCode.USAGE, "formatted: 1, 2, 3"),
        (("start",), ExitCode.VIOLATION, "running already"),
        (("start", "1"), ExitCode.VIOLATION, "node 1 is running already"),
        (("start", "--seed", "4"), ExitCode.VIOLATION, "first start"),
        (("stop", "9"), ExitCode.USAGE, "there are 1, 2, 3"),
        (("run", "--for-ms", "0"), ExitCode.USAGE, "--for-ms"),
        (("describe",), ExitCode.USAGE, "--status, --replication or both"),
        (("run", "-d", "elsewhere"), ExitCode.NO_INPUT, "elsewhere"),
        (("add-controller", "-c", "9.properties"), ExitCode.NO_INPUT, "9.properties"),
    ],
)
def test_what_cannot_be_done_is_explained_and_changes_nothing(
    words: tuple[str, ...], code: ExitCode, said: str, capsys: Captured
) -> None:
    three_voters()
    before = HISTORY.read_bytes()
    capsys.readouterr()
    assert quorum(*words) == code
    assert said in capsys.readouterr().err.replace("\n", " ")
    assert HISTORY.read_bytes() == before


def test_nothing_runs_before_the_first_start(capsys: Captured) -> None:
    assert quorum("run") == ExitCode.VIOLATION
    assert "quorum start" in capsys.readouterr().err
    assert quorum("start") == ExitCode.VIOLATION
    assert "storage format" in capsys.readouterr().err
    assert format_node(properties(4), "-N") == 0
    assert quorum("start") == ExitCode.VIOLATION
    assert "nobody can ever lead" in capsys.readouterr().err.replace("\n", " ")
    assert not HISTORY.exists()


# ---------------------------------------------------------------------------------------------------------
# The history.
# ---------------------------------------------------------------------------------------------------------


def test_the_same_commands_write_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    histories = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        three_voters(seed=7)
        assert quorum(*remove(3, "U3")) == 0
        histories.append(HISTORY.read_bytes())
    assert histories[0] == histories[1]


@pytest.mark.slow
def test_the_model_accepts_a_history_with_every_kind_of_change(capsys: Captured) -> None:
    three_voters(others=[4])
    assert quorum(*add(4)) == 0
    assert quorum(*remove(9, "U9")) == 1
    first = leader(capsys)
    assert quorum(*remove(first, f"U{first}")) == 0
    assert quorum("run", "--for-ms", "3000", "--appends", "3") == 0
    quorum("snapshot", str(leader(capsys)))
    assert main(["validate", str(HISTORY)]) == ExitCode.CONFORMANT


def test_an_altered_history_is_noticed_in_its_line(capsys: Captured) -> None:
    three_voters()
    lines = HISTORY.read_text().splitlines(keepends=True)
    at = next(index for index, line in enumerate(lines) if '"granted":true' in line)
    lines[at] = lines[at].replace('"granted":true', '"granted":false')
    HISTORY.write_text("".join(lines))
    before = HISTORY.read_bytes()
    assert quorum("run") == ExitCode.BAD_INPUT
    assert f"quorum.jsonl:{at + 1}: " in capsys.readouterr().err.replace("\n", " ")
    assert HISTORY.read_bytes() == before


def test_the_trace_of_something_else_is_no_history(capsys: Captured) -> None:
    three_voters()
    assert main(["simulate", "--steps", "50", "-o", str(HISTORY)]) == 0
    assert quorum("run") == ExitCode.BAD_INPUT
    assert "quorum.jsonl:1: $.generator" in capsys.readouterr().err.replace("\n", " ")


def test_a_failure_while_writing_leaves_the_history_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    three_voters()
    before = HISTORY.read_bytes()
    files = sorted(path.name for path in Path().iterdir())

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kraft_traces.streams.os.fsync", fail)
    assert quorum("run") == ExitCode.CANNOT_WRITE
    assert HISTORY.read_bytes() == before
    assert sorted(path.name for path in Path().iterdir()) == files


def test_two_commands_at_a_time_are_refused(capsys: Captured) -> None:
    three_voters()
    with ClusterDirectory(Path()).locked():
        assert quorum("run") == ExitCode.VIOLATION
    assert "another command" in capsys.readouterr().err.replace("\n", " ")


def test_reading_changes_nothing() -> None:
    three_voters()
    assert format_node(properties(4), "-N") == 0
    before = HISTORY.read_bytes()
    assert quorum("nodes") == quorum("describe", "--status") == main(["features", "describe"]) == 0
    assert HISTORY.read_bytes() == before


# ---------------------------------------------------------------------------------------------------------
# What does not fit the cluster.
# ---------------------------------------------------------------------------------------------------------


def said(capsys: Captured) -> str:
    return " ".join(capsys.readouterr().err.split())


def test_a_node_starts_at_no_endpoint_of_another(capsys: Captured) -> None:
    three_voters()
    assert quorum("stop", "3") == 0
    before = HISTORY.read_bytes()
    properties(3, endpoint="h2:9093")
    assert quorum("start", "--config", "3.properties") == ExitCode.BAD_INPUT
    assert "3.properties:2: controller.listener: h2:9093, expected another endpoint: node 2 is there" in said(capsys)
    assert HISTORY.read_bytes() == before


def test_two_nodes_do_not_move_to_one_endpoint(capsys: Captured) -> None:
    three_voters()
    assert quorum("stop", "2", "3") == 0
    words = [word for node_id in (2, 3) for word in ("--config", properties(node_id, endpoint="h5:9093"))]
    assert quorum("start", *words) == ExitCode.BAD_INPUT
    assert "3.properties:2: controller.listener: h5:9093, expected another endpoint: node 2 is there" in said(capsys)


def test_a_node_starts_on_its_own_directory_alone(capsys: Captured) -> None:
    three_voters()
    assert quorum("stop", "3") == 0
    properties(3, "log.dirs=elsewhere")
    assert quorum("start", "--config", "3.properties") == ExitCode.BAD_INPUT
    assert "3.properties:3: log.dirs: 'elsewhere', expected " in said(capsys)


def test_two_nodes_with_one_directory_id(capsys: Captured) -> None:
    three_voters()
    name = properties(4)
    assert format_node(name, "--no-initial-controllers", "--directory-id", "U2") == ExitCode.VIOLATION
    assert "node 2 has the directory id U2 already" in said(capsys)
    assert format_node(name, "--no-initial-controllers", "--directory-id", "U4") == 0
    (copied,) = [path for path in Path().rglob("meta.properties") if "node.id=4" in path.read_text()]
    copied.write_text(copied.read_text().replace("U4", "U2"))
    assert quorum("start", "4") == ExitCode.VIOLATION
    assert "have both the directory id U2, expected one of its own for each node" in said(capsys)


@pytest.mark.parametrize("command", [("quorum", "describe"), ("describe", ".")])
def test_an_altered_history_is_described_by_nobody(command: tuple[str, ...], capsys: Captured) -> None:
    three_voters()
    lines = HISTORY.read_text().splitlines(keepends=True)
    altered = next(number for number, line in enumerate(lines) if '"high_watermark":3' in line)
    lines[altered] = lines[altered].replace('"high_watermark":3', '"high_watermark":9')
    HISTORY.write_text("".join(lines))
    assert main([*command, "--status"]) == ExitCode.BAD_INPUT
    assert f"quorum.jsonl:{altered + 1}: is not what the reference does here" in said(capsys)
