"""`kraft-spec live adapter`: vectors on conforming and wrong processes."""

import asyncio
import json
import shlex
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.adapter_builds import skipped_if_missing
from tests.conformance.commands import Captured, assert_said, newest_by_day

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.runner.campaign import Campaign, Plan
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.output.results import suite_version
from kraft_kafka.controllers import controllers
from kraft_kafka.live.differences import expected_failures
from kraft_kafka.live.holding import Holding
from kraft_kafka.live.kafka import kafka_commands
from kraft_kafka.live.peers import Peer
from kraft_kafka.live.translating import Translation
from kraft_kafka.live.wire_log import Event, Way, WireLog
from kraft_kafka.wire.log_records import batches_of
from kraft_vectors.catalogue import Catalogue

PROGRAM = [sys.executable, "-m", "kraft_cli.cli"]
NODE = shlex.join([*PROGRAM, "node", "run", "-c", "{properties}"])
ONE_VOTE = "vote.once-per-epoch"
SEEN = {
    ONE_VOTE: Status.PASS,
    "prevote.follower-refuses": Status.PASS,
    # It waits for an election timer, leads, and is fetched from.
    "announcement.stale": Status.PASS,
    # Its fetch timer fires.
    "scenario.new-voter-without-the-record.with-the-rule.replica-3": Status.PASS,
    # It is killed and starts again; nothing differs, and its timers are not to be seen.
    "restart.voted": Status.UNOBSERVED,
    # A lost election is over in a moment, whatever the vector does next.
    "candidate.lost-asks-nobody": Status.UNSUPPORTED,
    # The Votes that it sends as a Candidate wait behind an unanswered Pre-Vote, and its Fetch behind them.
    "scenario.own-vote-before-known-leader.right.replica-1": Status.UNSUPPORTED,
    # No process starts as a controller outside of its static voters.
    "restart.before-the-upgrade": Status.UNSUPPORTED,
    # An observer.
    "change.versions-told": Status.PASS,
    "change.busy": Status.PASS,
}


def played(names: list[str], *options: str) -> dict[str, Outcome]:
    """Return the outcomes of these vectors."""
    command = shlex.join([*PROGRAM, "live", "adapter", *options])
    return {item.id: item for item in Campaign(Plan(command, tuple(names), 90.0), Catalogue()).run()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of live runs."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_vectors_on_a_node(folder: Path) -> None:
    results = played([*SEEN], "--start", NODE)
    assert {name: result.status for name, result in results.items()} == SEEN, [
        result.reason for result in results.values()
    ]
    assert not [*folder.iterdir()]


@pytest.mark.nightly
def test_no_vector_fails_on_a_node() -> None:
    """All of them: which can be played at all is in docs/live.md."""
    results = played([*Catalogue()], "--start", NODE)
    assert {name: result.reason for name, result in results.items() if result.status in FAILING} == {}
    assert any(result.status is Status.PASS for result in results.values())


@pytest.mark.nightly
def test_a_rule_that_is_left_out_is_seen_over_tcp() -> None:
    rule, refuses = "prevote.follower.rejects-after-fetch", "prevote.follower-refuses"
    results = played([refuses, ONE_VOTE], "--start", f"{NODE} --mutant {rule}")
    assert results[ONE_VOTE].status is Status.PASS
    assert results[refuses].status is Status.FAIL
    assert "granted: expected false, actual true" in results[refuses].reason
    assert rule in results[refuses].rules


def test_the_end_of_the_input_ends_it_in_the_middle_of_a_request(folder: Path) -> None:
    vector = json.loads((Catalogue().folder / Catalogue().entries[ONE_VOTE].file).read_text())
    reset = {"type": "reset", "id": 1, "replica": vector["replica"], "cluster": vector["cluster"]}
    never_listens = shlex.join([sys.executable, "-c", "import time; time.sleep(600)"])
    command = [*PROGRAM, "live", "adapter", "--start", never_listens]
    done = subprocess.run(command, input=json.dumps(reset) + "\n", text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert not [*folder.iterdir()]


def test_it_wants_one_way_to_start(capsys: Captured) -> None:
    assert_said(capsys, ExitCode.USAGE, "expected --kafka or --start", "live", "adapter")
    assert_said(capsys, ExitCode.USAGE, "there are kip", "live", "adapter", "--start", "x", "--profile", "none")
    assert_said(capsys, ExitCode.USAGE, "--live plays vectors alone", "kafka", "run", "--live", "--seeds", "0:1")


def test_vectors_that_are_known_to_fail_are_vectors() -> None:
    assert set(expected_failures()) <= set(Catalogue())


ENDPOINTS = {1: "replica-1:9093", 2: "replica-2:9093"}


@given(st.integers(-1, 9), st.sampled_from(["fetch_offset", "end_offset", "high_watermark", "diverging_end_offset"]))
def test_a_vector_knows_nothing_of_what_a_controller_writes_by_itself(offset: int, name: str) -> None:
    places = Translation(ENDPOINTS)
    printed = {name: offset, "endpoint": ENDPOINTS[2], "details": [{"id": 2, "endpoint": ENDPOINTS[1]}]}
    assert places.from_local(places.to_local(printed)) == printed
    assert places.to_local(printed)["endpoint"] == f"127.0.0.1:{places.ports[2]}"
    places.hidden = 3
    assert places.to_local(printed)[name] == offset + (offset >= 3)
    assert places.from_local(places.to_local(printed)) == printed


def test_records_are_what_they_were() -> None:
    places = Translation(ENDPOINTS)
    voters = [{"id": 1, "directory_id": "U1"}]
    details = [{"id": 1, "endpoint": ENDPOINTS[1], "min_version": 0, "max_version": 1}]
    records = [
        {"epoch": 1, "kind": "LeaderChange", "value": 1},
        {"epoch": 1, "kind": "Voters", "value": 0, "voters": voters, "details": details},
        {"epoch": 1, "kind": "Data", "value": 7},
        {"epoch": 2, "kind": "Data", "value": 8},
    ]
    raw = places.batches(5, records)
    assert places.records(raw) == records
    log = [*batches_of(b64decode(raw))]
    assert [item.base_offset for item in log] == [5, 7, 8]
    places.hide(log)
    assert places.hidden is None


def test_what_is_held_makes_way() -> None:
    async def run() -> list[str]:
        holding = Holding()
        peer = Peer(WireLog(), 2, 0, ("127.0.0.1", 1))
        part = {"replicaEpoch": 4, "preVote": True}
        body = {"topics": [{"partitions": [part]}]}
        answering = asyncio.ensure_future(holding.answer_of(peer)(Event(0, 0.0, 2, Way.ASKED, "Vote", 2, body)))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        holding.make_way(["Send VoteRequest to 2"])
        names = [entry.name for entry in holding.all]
        holding.all[0].correlation_id = 1
        holding.make_way(["Send BeginQuorumEpochRequest to 2"])
        answer = await answering
        assert answer is not None
        assert answer["topics"][0]["partitions"][0]["voteGranted"] is False
        return names

    assert asyncio.run(run()) == ["Send VoteRequest to 2"]


@pytest.mark.parametrize("version", newest_by_day(controllers()))
def test_kafka(version: str, capsys: Captured) -> None:
    with skipped_if_missing():
        kafka_commands(version)
    assert main(["kafka", "run", "--live", "--version", version, "-k", "change.busy"]) == ExitCode.CONFORMANT
    assert capsys.readouterr().out.startswith(f"1 vector of suite {suite_version()}: 1 pass")
