"""`live infer` on captures that are written by hand: healthy ones, and ones of nodes that break a rule."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.commands import Captured, assert_said
from tests.conformance.live_captures import DATA_BATCH, FIRST_BATCH, Capture, elected, quorum_state

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_kafka.live.visible import VISIBLE
from kraft_traces.check.compared import PROPERTIES as PROPERTY_FIELDS

PROPERTIES = "controller.quorum.election.timeout.ms=1000\ncontroller.quorum.fetch.timeout.ms=2000\n"
END = (4, 1)
"""Log end and last epoch of all replicas after `elected`."""


@dataclass
class Result:
    code: int
    report: dict[str, Any]

    def fields(self) -> dict[str, tuple[str, str]]:
        """Expected and actual value by field of the first message that nothing explains."""
        return {item["field"]: (item["expected"], item["actual"]) for item in self.report["unexplained"]["nearest"]}


@pytest.fixture
def infer(tmp_path: Path, capsys: Captured) -> Callable[..., Result]:
    def run(capture: Capture, *, is_timed: bool = True) -> Result:
        path = capture.save(tmp_path / "capture")
        (tmp_path / "node.properties").write_text(PROPERTIES)
        timed = ("--properties", str(tmp_path / "node.properties")) if is_timed else ()
        words = ["live", "infer", str(path), "-o", str(tmp_path / "trace.jsonl"), "--profile", "kafka-4.1", *timed]
        capsys.readouterr()
        code = main([*words, "--json"])
        return Result(code, json.loads(capsys.readouterr().out))

    return run


def follower_stands(capture: Capture, *, granted: bool) -> None:
    """Replica 3 asks for a Pre-Vote of replica 2."""
    capture.voted(capture.vote(3, 2, 1, pre_vote=True, end=END), 1, granted=granted, leader=1)


# ---------------------------------------------------------------------------------------------------------
# Healthy captures.
# ---------------------------------------------------------------------------------------------------------
def overtaken(capture: Capture) -> None:
    """A Pre-Vote passes before a Fetch that was created earlier and waited for its connection."""
    capture.wait(2100)
    capture.vote(3, 2, 1, id_=101, pre_vote=True, end=END)
    capture.fetch(3, 1, END, id_=100)


def pipelined(capture: Capture) -> None:
    """A leader answers two requests of one connection in their order."""
    first = capture.fetch(2, 1, END)
    capture.wait(2100)
    second = capture.vote(2, 1, 1, pre_vote=True, end=END)
    capture.fetched(first, 1, 4)
    capture.voted(second, 1, granted=False, leader=1)


def reconnected(capture: Capture) -> None:
    """A client goes on with its correlation ids on a new connection; a request was lost with the old one."""
    capture.fetch(2, 1, END)
    capture.close(2, 1)
    capture.wait(50)
    capture.fetched(capture.fetch(2, 1, END), 1, 4)


def restarted(capture: Capture) -> None:
    """A process begins anew with its correlation ids."""
    capture.restart(3)
    capture.wait(3000)
    capture.fetched(capture.fetch(3, 1, END), 1, 4)
    capture.fetched(capture.fetch(3, 1, END), 1, 4)


def counted_by_connection(capture: Capture) -> None:
    """A client counts the requests of each connection for itself."""
    capture.wait(2100)
    for node in (1, 2):
        capture.connect(3, node)
        requested = capture.vote(3, node, 1, id_=1, pre_vote=True, end=END)
        capture.voted(requested, 1, granted=False, leader=1)


def timed_out(capture: Capture) -> None:
    """A Follower that nobody answers stands after its fetch timeout."""
    capture.fetch(3, 1, END)
    capture.wait(2100)
    follower_stands(capture, granted=False)


@pytest.mark.parametrize(
    "add",
    [overtaken, pipelined, reconnected, restarted, counted_by_connection, timed_out],
    ids=lambda item: item.__name__,
)
def test_healthy_captures_are_explained(infer: Callable[..., Result], tmp_path: Path, add: Callable[..., None]) -> None:
    capture = elected()
    add(capture)
    result = infer(capture)
    assert (result.code, result.report["unjudged"], result.report["faults"]) == (ExitCode.CONFORMANT, [], [])
    assert main(["validate", str(tmp_path / "trace.jsonl")]) == ExitCode.CONFORMANT


# ---------------------------------------------------------------------------------------------------------
# Order within a connection, and of a process.
# ---------------------------------------------------------------------------------------------------------
def test_a_log_that_is_lost_on_the_same_connection_is_rejected(infer: Callable[..., Result], tmp_path: Path) -> None:
    capture = elected().wait(60_000)
    capture.fetched(capture.fetch(2, 1, (0, 0)), 1, 4, FIRST_BATCH + DATA_BATCH)
    result = infer(capture)
    assert result.code == ExitCode.INCONCLUSIVE
    assert result.fields() == {"message.fetch_offset": ("4", "0"), "message.last_epoch": ("1", "0")}
    assert main(["validate", str(tmp_path / "trace.jsonl")]) == ExitCode.VIOLATION


@pytest.mark.parametrize("is_new", [False, True], ids=["same connection", "new connection"])
def test_an_epoch_that_falls_is_rejected(infer: Callable[..., Result], tmp_path: Path, *, is_new: bool) -> None:
    """On a new connection the correlation ids say which request is the later one."""
    capture = elected().wait(3000)
    for pre_vote, epoch in ((True, 1), (False, 2)):
        capture.voted(capture.vote(3, 2, epoch, pre_vote=pre_vote, end=END), epoch, leader=1 if pre_vote else None)
    if is_new:
        capture.connect(3, 1)
    capture.fetch(3, 1, END)
    result = infer(capture)
    assert result.code == ExitCode.INCONCLUSIVE
    assert result.fields() == {"message.epoch": ("2 or more", "1")}
    assert result.report["unexplained"]["rules"][0] == "state.epoch-monotonic"
    assert main(["validate", str(tmp_path / "trace.jsonl")]) == ExitCode.VIOLATION


# ---------------------------------------------------------------------------------------------------------
# Times.
# ---------------------------------------------------------------------------------------------------------
def test_a_follower_that_has_just_fetched_grants_no_pre_vote(infer: Callable[..., Result]) -> None:
    capture = elected()
    for _ in range(6):
        capture.fetched(capture.fetch(2, 1, END), 1, 4)
        capture.wait(400)
    follower_stands(capture, granted=True)
    result = infer(capture)
    assert (result.code, result.fields()) == (ExitCode.INCONCLUSIVE, {"message.granted": ("false", "true")})
    assert result.report["unexplained"]["rules"] == ["prevote.request.check-order"]


@pytest.mark.parametrize("is_timed", [True, False], ids=["configured", "not configured"])
def test_a_fetch_timer_fires_no_earlier_than_configured(infer: Callable[..., Result], *, is_timed: bool) -> None:
    """Without a configuration only a timer of less than 10 ms is too short."""
    capture = elected()
    for _ in range(3):
        capture.fetched(capture.fetch(3, 1, END), 1, 4)
        capture.wait(400 if is_timed else 0)
    follower_stands(capture, granted=False)
    result = infer(capture, is_timed=is_timed)
    assert result.code == ExitCode.INCONCLUSIVE
    assert [*result.fields()] == ["time_ms"]
    assert result.report["unexplained"]["rules"] == ["state.timers.random", "fetch.timer"]


# ---------------------------------------------------------------------------------------------------------
# Frames and files.
# ---------------------------------------------------------------------------------------------------------
def repeated(capture: Capture) -> None:
    requested = capture.fetch(2, 1, END)
    for _ in range(2):
        capture.fetched(requested, 1, 4)


def of_another_id(capture: Capture) -> None:
    capture.fetched(capture.fetch(2, 1, END), 1, 4, id_=77)


def malformed(capture: Capture) -> None:
    capture.fetch(2, 1, END)
    *_, last = capture.lines
    capture.frame(last.connection, "response", b"\0\0\0\x05\0\0\0\x05\x01")  # type: ignore[union-attr]


def never_opened(capture: Capture) -> None:
    capture.frame(99, "request", b"\0\0\0\0")


def after_close(capture: Capture) -> None:
    number = capture.connect(3, 2)
    capture.close(3, 2)
    capture.frame(number, "request", b"\0\0\0\0")


def not_voted(capture: Capture) -> None:
    capture.file(2, "quorum-state", quorum_state(1))


def older_epoch(capture: Capture) -> None:
    capture.file(2, "quorum-state", quorum_state(0))


def other_leader(capture: Capture) -> None:
    capture.file(2, "quorum-state", quorum_state(1, leader=3, voted=1))


def lost_record(capture: Capture) -> None:
    capture.file(2, "00000000000000000000.log", FIRST_BATCH)


@pytest.mark.parametrize(
    ("add", "code", "detail"),
    [
        (repeated, ExitCode.VIOLATION, "every request of the connection has its response"),
        (of_another_id, ExitCode.VIOLATION, "a response with correlation id 77: expected "),
        (malformed, ExitCode.VIOLATION, "FetchResponse cannot be read: "),
        (never_opened, ExitCode.INCONCLUSIVE, "connection 99 was never opened"),
        (after_close, ExitCode.INCONCLUSIVE, "is closed"),
        (not_voted, ExitCode.VIOLATION, "votedId: expected 1 in epoch 1, actual -1 (rule durable.write-before-act)"),
        (older_epoch, ExitCode.VIOLATION, "leaderEpoch: expected 1 or more, actual 0 (rule durable.write-before-act)"),
        (other_leader, ExitCode.VIOLATION, "leaderId: expected 1 in epoch 1, actual 3"),
        (lost_record, ExitCode.VIOLATION, "end of the log: expected 4 or more, actual 3"),
    ],
    ids=lambda item: getattr(item, "__name__", None),
)
def test_a_wrong_line_costs_no_other(
    infer: Callable[..., Result], add: Callable[..., None], code: ExitCode, detail: str
) -> None:
    capture = elected()
    add(capture)
    lines = len(capture.lines) + 1
    capture.fetched(capture.fetch(3, 1, END), 1, 4)
    result = infer(capture)
    (fault,) = result.report["faults"]
    assert (result.code, fault["line"], result.report["unjudged"]) == (code, lines, [])
    assert detail in fault["detail"]


def test_files_that_agree_with_the_messages_are_no_fault(infer: Callable[..., Result]) -> None:
    capture = elected()
    for node, content in ((1, quorum_state(1, leader=1)), (2, quorum_state(1, leader=1, voted=1))):
        capture.file(node, "quorum-state", content)
        capture.file(node, "00000000000000000000.log", FIRST_BATCH + DATA_BATCH)
    assert infer(capture).report["faults"] == []


# ---------------------------------------------------------------------------------------------------------
# What cannot be judged.
# ---------------------------------------------------------------------------------------------------------
def test_a_follower_is_judged_again_when_it_fetches_from_its_leader(infer: Callable[..., Result]) -> None:
    capture = elected()
    capture.vote(2, 3, 7, pre_vote=False, end=END)
    for _ in range(2):
        capture.fetched(capture.fetch(2, 1, END), 1, 4)
    capture.fetched(capture.fetch(2, 1, (0, 0)), 1, 4, FIRST_BATCH + DATA_BATCH)
    first, second = infer(capture).report["unjudged"]
    assert (first["message"], first["messages"], first["until_ms"] is None) == ("VoteRequest", 1, False)
    assert (second["message"], second["nearest"][0]["field"]) == ("FetchRequest", "message.fetch_offset")


def test_the_first_message_may_be_the_one_that_nothing_explains(infer: Callable[..., Result], tmp_path: Path) -> None:
    capture = Capture()
    capture.vote(1, 2, 5, pre_vote=True)
    result = infer(capture)
    assert (result.code, result.report["unexplained"]["message"]) == (ExitCode.INCONCLUSIVE, "VoteRequest")
    assert main(["validate", str(tmp_path / "trace.jsonl")]) == ExitCode.VIOLATION


def test_a_capture_that_began_while_the_quorum_ran_says_so(tmp_path: Path, capsys: Captured) -> None:
    capture = Capture()
    capture.fetched(capture.fetch(2, 1, END), 1, 4)
    path = str(capture.save(tmp_path / "capture"))
    text = "began while the quorum ran: node 1 leads epoch 1, whose election is not recorded"
    assert_said(capsys, ExitCode.INCONCLUSIVE, text, "live", "infer", path, "-o", str(tmp_path / "trace.jsonl"))


def test_the_report_says_of_each_property_what_a_verdict_sees(infer: Callable[..., Result]) -> None:
    assert VISIBLE.keys() == PROPERTY_FIELDS.keys()
    assert infer(elected()).report["properties"] == {name: item._asdict() for name, item in VISIBLE.items()}
