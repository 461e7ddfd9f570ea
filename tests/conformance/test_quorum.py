"""`kraft-spec admin quorum`: nodes that run, stop and start, and changes of the voters, as a user sees them."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.cluster_folder import THREE, broker, format_node, properties, quorum, static_voters, three_voters
from tests.conformance.commands import Captured, document, error

from kraft_conformance.cli import main
from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.exit_codes import ExitCode

HISTORY = Path("quorum.jsonl")


pytestmark = pytest.mark.usefixtures("elsewhere")


def answered(capsys: Captured, *words: str) -> dict[str, Any]:
    """The JSON document of an admin request, with its exit code."""
    code, found = document(capsys, "admin", "quorum", *words)
    return {**found, "exit": code}


def status(capsys: Captured) -> dict[str, Any]:
    code, found = document(capsys, "admin", "quorum", "describe", "--status")
    assert code == 0
    return found["status"]  # type: ignore[no-any-return]


def refused(capsys: Captured, *words: str) -> tuple[int, str]:
    """Exit code and standard error of `kraft-spec admin quorum`."""
    return error(capsys, "admin", "quorum", *words)


def remove(node_id: int, directory_id: str, *words: str) -> tuple[str, ...]:
    return ("remove-controller", "--controller-id", str(node_id), "--controller-uuid", directory_id, *words)


def add(node_id: int, *words: str) -> tuple[str, ...]:
    return ("add-controller", "--config", f"{node_id}.properties", *words)


def voters(capsys: Captured) -> list[str]:
    found = status(capsys)["CurrentVoters"]
    return [f"{voter['id']}-{voter['directoryId']}@{voter['endpoints'][0]}" for voter in found]


def leader(capsys: Captured) -> int:
    return int(status(capsys)["LeaderId"])


def runs(*steps: tuple[str, ...]) -> None:
    """`kraft-spec admin quorum`, one after the other."""
    for words in steps:
        assert quorum(*words) == 0, words


def follower(capsys: Captured) -> int:
    return next(node_id for node_id in (1, 2, 3) if node_id != leader(capsys))


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
        (remove(1, "U1", "--cluster-id", ""), "INCONSISTENT_CLUSTER_ID", 104),
        (("remove-controller", "--controller-id=-1", "--controller-uuid", "U1"), "INVALID_REQUEST", 42),
        (remove(3, "U9"), "VOTER_NOT_FOUND", 127),
        (add(1), "DUPLICATE_VOTER", 126),
        (add(4), "REQUEST_TIMED_OUT", 7),
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
    waited = answer["answered_at_ms"] - answer["asked_at_ms"]
    assert (waited == 30_000) is (error == "REQUEST_TIMED_OUT")
    assert voters(capsys) == before


def test_at_kraft_version_0_nobody_is_added(capsys: Captured) -> None:
    static_voters()
    assert format_node(properties(4), "-N") == 0
    assert quorum("start") == 0
    assert answered(capsys, *add(4))["error"] == "UNSUPPORTED_VERSION"


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
    one = follower(capsys)
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
    code, told = refused(capsys, *remove(3, "U3", *words))
    assert (code, said in told) == (ExitCode.USAGE, True), told
    assert HISTORY.read_bytes() == before


def test_without_a_running_controller_nothing_is_sent(capsys: Captured) -> None:
    three_voters()
    assert quorum("stop", "1", "2", "3") == 0
    code, told = refused(capsys, *remove(3, "U3"))
    assert (code, "nothing was sent" in told) == (ExitCode.UNAVAILABLE, True), told
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
    code, told = refused(capsys, *words)
    assert (code, "nobody took it on, nothing has changed" in told) == (ExitCode.UNAVAILABLE, True), told
    answer = answered(capsys, *words)
    assert (answer["exit"], answer["error"], answer["outcome_open"]) == (ExitCode.UNAVAILABLE, None, False)


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
    states = {row["node_id"]: row["state"] for row in document(capsys, "admin", "quorum", "nodes")[1]}
    assert states[3] == "no disk"
    assert quorum("run", "--for-ms", "100") == 0
    assert [event["replica"] for event in events() if event["event"] == "Crash"][-1] == 3
    code, told = refused(capsys, "start", "3")
    assert (code, "no formatted metadata directory" in told) == (ExitCode.USAGE, True), told


def test_a_node_that_moves_tells_its_leader(capsys: Captured) -> None:
    three_voters()
    one = follower(capsys)
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
    found, told = refused(capsys, *words)
    assert (found, said in told) == (code, True), told
    assert HISTORY.read_bytes() == before


def test_nothing_runs_before_the_first_start(capsys: Captured) -> None:
    code, told = refused(capsys, "run")
    assert (code, "quorum start" in told) == (ExitCode.VIOLATION, True), told
    code, told = refused(capsys, "start")
    assert (code, "storage format" in told) == (ExitCode.VIOLATION, True), told
    assert format_node(properties(4), "-N") == 0
    code, told = refused(capsys, "start")
    assert (code, "nobody can ever lead" in told) == (ExitCode.VIOLATION, True), told
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


@pytest.mark.parametrize(
    ("words", "before", "after"),
    [
        (("admin", "quorum", "run"), '"granted":true', '"granted":false'),
        (("admin", "quorum", "describe", "--status"), '"high_watermark":3', '"high_watermark":9'),
        (("describe", ".", "--status"), '"high_watermark":3', '"high_watermark":9'),
    ],
)
def test_an_altered_history_is_noticed_in_its_line(
    words: tuple[str, ...], before: str, after: str, capsys: Captured
) -> None:
    three_voters()
    lines = HISTORY.read_text().splitlines(keepends=True)
    at = next(index for index, line in enumerate(lines) if before in line)
    lines[at] = lines[at].replace(before, after)
    HISTORY.write_text("".join(lines))
    code, told = error(capsys, *words)
    assert code == ExitCode.BAD_INPUT
    assert f"quorum.jsonl:{at + 1}: is not what the reference does here" in told
    assert HISTORY.read_text() == "".join(lines)


def test_the_trace_of_something_else_is_no_history(capsys: Captured) -> None:
    three_voters()
    assert main(["simulate", "--steps", "50", "-o", str(HISTORY)]) == 0
    code, told = refused(capsys, "run")
    assert (code, "quorum.jsonl:1: $.generator" in told) == (ExitCode.BAD_INPUT, True), told


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
        code, told = refused(capsys, "run")
    assert (code, "another command" in told) == (ExitCode.VIOLATION, True), told


def test_reading_changes_nothing() -> None:
    three_voters()
    assert format_node(properties(4), "-N") == 0
    before = HISTORY.read_bytes()
    assert quorum("nodes") == quorum("describe", "--status") == main(["admin", "features", "describe"]) == 0
    assert HISTORY.read_bytes() == before


# ---------------------------------------------------------------------------------------------------------
# What does not fit the cluster.
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stopped", "lines", "endpoint", "said"),
    [
        (
            "3",
            (),
            "h2:9093",
            "3.properties:2: controller.listener: h2:9093, expected another endpoint: node 2 is there",
        ),
        (
            "23",
            (),
            "h5:9093",
            "3.properties:2: controller.listener: h5:9093, expected another endpoint: node 2 is there",
        ),
        ("3", ("log.dirs=elsewhere",), None, "3.properties:3: log.dirs: 'elsewhere', expected "),
    ],
)
def test_a_node_starts_on_its_own_directory_at_no_endpoint_of_another(
    stopped: str, lines: tuple[str, ...], endpoint: str | None, said: str, capsys: Captured
) -> None:
    three_voters()
    assert quorum("stop", *stopped) == 0
    before = HISTORY.read_bytes()
    names = [properties(int(one), *lines, endpoint=endpoint) for one in stopped]
    code, told = refused(capsys, "start", *[word for name in names for word in ("--config", name)])
    assert (code, said in told) == (ExitCode.BAD_INPUT, True), told
    assert HISTORY.read_bytes() == before


def test_two_nodes_with_one_directory_id(capsys: Captured) -> None:
    three_voters()
    words = ("admin", "storage", "format", "--cluster-id", "C", "--config", properties(4), "-N", "--directory-id", "U2")
    code, told = error(capsys, *words)
    assert (code, "node 2 has the directory id U2 already" in told) == (ExitCode.VIOLATION, True)
    assert format_node("4.properties", "--no-initial-controllers", "--directory-id", "U4") == 0
    (copied,) = [path for path in Path().rglob("meta.properties") if "node.id=4" in path.read_text()]
    copied.write_text(copied.read_text().replace("U4", "U2"))
    code, told = refused(capsys, "start", "4")
    assert code == ExitCode.VIOLATION
    assert "have both the directory id U2, expected one of its own for each node" in told
