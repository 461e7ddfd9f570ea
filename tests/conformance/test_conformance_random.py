"""`kraft-spec conformance random`: clusters of adapters that are right, show less, or do something else."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace
from tests.conformance import limited_adapter
from tests.conformance.test_conformance_run import ends

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.protocol.messages import (
    Crash,
    ObserveReply,
    Reply,
    Request,
    Reset,
    RestartReply,
    Step,
    StepReply,
)
from kraft_conformance.random_runs.abilities import restricted
from kraft_conformance.random_runs.campaign import RandomPlan, random_campaign
from kraft_conformance.random_runs.model import trace_of
from kraft_conformance.random_runs.outcome import RandomOutcome
from kraft_conformance.random_runs.running import RunSpec, run
from kraft_conformance.random_runs.seats import InProcess, Reference
from kraft_conformance.random_runs.table import Table
from kraft_conformance.runner.outcome import Status
from kraft_conformance.runner.reports import headline
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.effects import StartTimer, Timer
from kraft_spec.experiments import replicas_without
from kraft_traces.effects import TracedAppendRecords, TracedEffect, TracedFlushLog, TracedSend
from kraft_traces.latitude.ordering import happens_before
from kraft_traces.latitude.writes import NEW_DISK

REFERENCE = f"{shlex.quote(sys.executable)} -m kraft_conformance.adapters.reference"
PAGE = Path(__file__).parents[2] / "docs" / "conformance-random.md"
LIMITED = Path(__file__).with_name("limited_adapter.py")


def limited(mode: str, value: str = "") -> str:
    return shlex.join([sys.executable, str(LIMITED), mode, *([value] if value else [])])


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the JSON lines of `kraft-spec conformance random`."""
    capsys.readouterr()
    code = main(["conformance", "random", *words, "--json"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


class Changed(ReferenceAdapter):
    """The reference with something made of each of its replies."""

    def __init__(self, change: Callable[[Request, Reply], Reply]) -> None:
        super().__init__()
        self._change = change

    def answer(self, request: Request) -> Reply:
        return self._change(request, super().answer(request))


def without_rule(rule: str) -> ReferenceAdapter:
    """The reference without a rule."""
    return ReferenceAdapter(make_replica=replicas_without((rule,)))


def seat(mode: str) -> InProcess:
    """An adapter of `limited_adapter` in this process."""
    return InProcess(lambda: Changed(limited_adapter.MODES[mode]), mode)


def outcomes(*seats: InProcess | Reference, **fields: Any) -> tuple[RandomOutcome, ...]:
    settings: dict[str, Any] = {"steps": 250, "seeds": range(2)} | fields
    return random_campaign(RandomPlan(seats, **settings))


def statuses(*seats: InProcess | Reference, **fields: Any) -> set[Status]:
    return {one.outcome.status for one in outcomes(*seats, **fields)}


# -------------------------------------------------------------------------------------------------------------
# Right ones.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("differential", [False, True])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_reference_passes_every_workload(workload: str, differential: bool) -> None:
    (one,) = outcomes(
        seat("plain"),
        workloads=(workload,),
        seeds=(1,),
        steps=150,
        differential=differential,
        old_software_everywhere=True,
    )
    assert (one.outcome.status, one.remarks, one.restricted) == (Status.PASS, (), ())


def test_a_mixed_cluster_of_processes_passes_and_is_the_same_run_as_in_process(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("--adapter", REFERENCE, "--adapter", "reference", "--seeds", "3:5", "--steps", "120")
    code, lines = ran(capsys, *words, "--workload", "chaos")
    assert code == ExitCode.CONFORMANT
    assert [(one["id"], one["status"]) for one in lines[:-1]] == [("chaos.3", "pass"), ("chaos.4", "pass")]
    assert lines[-1] == {"kind": "summary", "counts": {"pass": 2}, "exit_code": 0}
    again = outcomes(seat("plain"), Reference(), seeds=range(3, 5), steps=120)
    assert [one.trace_sha256 for one in again] == [one["trace_sha256"] for one in lines[:-1]]


def recorded(mode: str, workload: str = "chaos") -> bytes:
    with Table((seat(mode),), 1.0) as table:
        preset = restricted(WORKLOADS[workload], table.hellos).preset
        configuration = table.configuration(preset, 5, 3, "kip", old_software_everywhere=False)
        spec = RunSpec(preset, configuration, 5, 150, differential=False)
        return b"".join(trace_of(table, spec, run(table, spec)))


@pytest.mark.parametrize("mode", ["plain", "effects", "wire"])
def test_a_recorded_run_is_a_trace_that_validates_and_is_the_same_each_time(tmp_path: Path, mode: str) -> None:
    trace = recorded(mode)
    assert trace == recorded(mode)
    (tmp_path / "run.jsonl").write_bytes(trace)
    assert main(["validate", str(tmp_path / "run.jsonl")]) == ExitCode.CONFORMANT
    events = [json.loads(line) for line in trace.splitlines()[1:-1]]
    own = [event for event in events if "replica" in event]
    assert ("state" in own[0], "effects" in own[0]) == (mode == "plain", mode != "wire")


class Free(ReferenceAdapter):
    """The reference where it makes use of what is left to an implementation: order, early syncs, fields left out."""

    def __init__(self, seed: int, hides: float, syncs_early: bool) -> None:
        super().__init__()
        self._chance = Random(seed)
        self._hides = hides
        self._syncs_early = syncs_early
        self._disk = NEW_DISK

    def answer(self, request: Request) -> Reply:
        if isinstance(request, Crash) and request.log_end_offset < self._disk.synced:
            raise ValueError(f"synced up to {self._disk.synced}, and {request.log_end_offset} shall survive")
        reply = super().answer(request)
        if isinstance(request, Reset) or (isinstance(request, Step) and request.event == "ReplaceDisk"):
            self._disk = NEW_DISK
        if isinstance(reply, StepReply | RestartReply):
            crash = getattr(request, "crash", UNSET)
            effects = self._synced(reply.effects)
            effects = self._shuffled(effects) if crash is UNSET else effects[: crash.completed]
            self._disk = self._disk.after(effects)
            if crash is not UNSET:
                self._disk = self._disk._replace(synced=crash.log_end_offset)
            reply = replace(reply, effects=tuple([self._without(one) for one in effects]))
            return replace(reply, refusal=UNSET) if self._chance.random() < self._hides else reply
        if isinstance(reply, ObserveReply):
            fields = [name for name in reply.state.__struct_fields__ if self._chance.random() < self._hides]
            fields += ["flushed_offset"] if self._syncs_early else []
            return replace(reply, state=replace(reply.state, **dict.fromkeys(fields, UNSET)))
        return reply

    def _synced(self, effects: tuple[TracedEffect, ...]) -> list[TracedEffect]:
        if not self._syncs_early:
            return list(effects)
        made: list[TracedEffect] = []
        for effect in effects:
            if isinstance(effect, TracedAppendRecords):
                made += [effect, TracedFlushLog(effect.base_offset + len(effect.records))]
            elif not isinstance(effect, TracedFlushLog):
                made.append(effect)
        return made

    def _shuffled(self, effects: list[TracedEffect]) -> list[TracedEffect]:
        left, made = list(range(len(effects))), []
        pairs = happens_before(effects)
        while left:
            free = [one for one in left if not any(first in left for first, other in pairs if other == one)]
            made.append(self._chance.choice(free))
            left.remove(made[-1])
        return [effects[one] for one in made]

    def _without(self, effect: TracedEffect) -> TracedEffect:
        if not isinstance(effect, TracedSend) or self._chance.random() >= self._hides:
            return effect
        return TracedSend(replace(effect.message, source=UNSET, correlation_id=UNSET))


@hypothesis_settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(["chaos", "crashes", "snapshots", "reassignments", "upgrade"]),
    st.integers(0, 50),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.2]),
    st.booleans(),
)
def test_what_an_implementation_is_free_to_do_is_never_a_failure(
    workload: str, seed: int, choices: int, hides: float, syncs_early: bool
) -> None:
    made: list[int] = []

    def make() -> Free:
        made.append(len(made))
        return Free(choices + len(made), hides, syncs_early)

    (one,) = outcomes(
        InProcess(make), workloads=(workload,), seeds=(seed,), steps=100, differential=True, shrinks=False
    )
    assert one.outcome.status is Status.PASS, one


def test_who_counts_other_writes_is_not_made_to_die_between_them() -> None:
    crashes: list[Request] = []

    def change(request: Request, reply: Reply) -> Reply:
        """Who dies after an append has synced it."""
        if not isinstance(request, Step) or request.crash is UNSET or not isinstance(reply, StepReply):
            return reply
        crashes.append(request)
        last = reply.effects[-1] if reply.effects else None
        if not isinstance(last, TracedAppendRecords):
            return reply
        return replace(reply, effects=(*reply.effects, TracedFlushLog(last.base_offset + len(last.records))))

    with Table((InProcess(lambda: Changed(change)),), 1.0) as table:
        preset = WORKLOADS["crashes"]
        configuration = table.configuration(preset, 2, 3, "kip", old_software_everywhere=False)
        made = run(table, RunSpec(preset, configuration, 2, 600, differential=True))
    assert crashes
    assert made.notes.first is None
    assert [one for one in made.lines if one.crash is not UNSET] == []


def test_a_timer_that_may_be_missing_and_is_does_not_run() -> None:
    def change(request: Request, reply: Reply) -> Reply:
        """No timer is restarted for a vote."""
        voted = isinstance(request, Step) and request.event == "HandleVoteRequest"
        return limited_adapter.MODES["never-restarts"](request, reply) if voted else reply

    with Table((InProcess(lambda: Changed(change)),), 1.0) as table:
        preset = WORKLOADS["elections"]
        configuration = table.configuration(preset, 1, 3, "kip", old_software_everywhere=False)
        made = run(table, RunSpec(preset, configuration, 1, 100, differential=False))
    votes = [one for one in made.occurrences if type(getattr(one.event, "message", None)).__name__ == "VoteRequest"]
    timers = [effect for one in votes for effect in one.effects if isinstance(effect, StartTimer)]
    assert "vote.grant.resets-timer says SHOULD" in made.notes.latitude
    assert [timer for timer in timers if timer.timer is Timer.ELECTION] == []


# -------------------------------------------------------------------------------------------------------------
# Those that have less, or show less.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "remark"),
    [
        ("wire", "seen at the level wire: writes, state and refusals are the reference's"),
        ("effects", "seen at the level effects: state and refusals are the reference's"),
    ],
)
def test_a_pass_says_at_which_level_it_was_seen(mode: str, remark: str) -> None:
    for one in outcomes(seat(mode)):
        assert (one.outcome.status, one.remarks) == (Status.PASS, (remark,))


def test_a_run_in_which_nothing_was_seen_is_unobserved() -> None:
    """The third seat is that of an observer, of which the workload has none."""
    (one,) = outcomes(Reference(), Reference(), seat("plain"), workloads=("calm",), replicas=2, seeds=(0,), steps=50)
    assert (one.outcome.status, one.outcome.reason) == (Status.UNOBSERVED, "no adapter showed anything")


def test_what_an_adapter_lacks_is_not_drawn_or_the_workload_is_unsupported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    chaos, islands = outcomes(seat("unsupported"), seeds=(0,), workloads=("chaos", "islands"))
    assert (chaos.outcome.status, chaos.restricted) == (Status.PASS, ("observers", "voter-changes"))
    assert (islands.outcome.status, islands.restricted) == (Status.PASS, ("observers",))
    assert statuses(seat("kip-595-only")) == {Status.PASS}
    words = ("--workload", "voter-changes", "--workload", "static-voters", "--seeds", "0")
    code, lines = ran(capsys, "--adapter", limited("unsupported"), *words)
    assert code == ExitCode.NOTHING_JUDGED
    assert [(one["id"], one["status"], one["reason"]) for one in lines[:-1]] == [
        ("voter-changes.0", "unsupported", "needs observers, voter-changes"),
        ("static-voters.0", "unsupported", "needs voter-changes"),
    ]


def test_software_without_pre_vote_is_played_by_the_reference_or_by_who_has_none() -> None:
    def played(*seats: InProcess | Reference, everywhere: bool = False) -> list[tuple[str, bool]]:
        with Table(seats, 1.0) as table:
            preset = WORKLOADS["mixed-versions"]
            configuration = table.configuration(preset, 0, 4, "kip", old_software_everywhere=everywhere)
            return [(one.pre_vote, one.speaks_endpoints) for one in configuration.replicas.values()]

    old, new = played(Reference()), ("supported", True)
    assert {software for software, _ in old} == {"supported", "unsupported", "ignored"}
    assert played(seat("plain")) == [new] * 4
    assert played(seat("plain"), everywhere=True) == old
    assert played(Reference(), seat("plain")) == [old[0], new, old[2], new]
    assert played(seat("plain"), seat("kip-595-only")) == [new, ("unsupported", False)] * 2


# -------------------------------------------------------------------------------------------------------------
# Wrong ones.
# -------------------------------------------------------------------------------------------------------------


def test_a_rule_that_is_left_out_is_found_shrunk_saved_and_replayed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    adapter = limited("without-rule", "hw.own-epoch")
    words = ["--adapter", adapter, "--adapter", "reference", "--seeds", "0", "--workload", "elections"]
    words += ["--steps", "200", "--replicas", "3"]
    assert main(["conformance", "random", *words, "--save", str(tmp_path)]) == ExitCode.VIOLATION
    told = capsys.readouterr().out.splitlines()
    shown = PAGE.read_text().partition("```\nFAIL ")[2].partition("```")[0]
    shown = shown.replace("'python broken.py'", shlex.quote(adapter)).replace("python broken.py", adapter)
    assert told[:-1] == ("FAIL " + shown.replace("failures", str(tmp_path))).splitlines()
    assert told[-1].startswith("1 runs, ")
    assert told[-1].endswith(" events: 1 fail")
    replayed = ["replay", "random.elections-0", "--vectors", str(tmp_path), "--adapter"]
    assert main(["conformance", *replayed, adapter]) == ExitCode.VIOLATION
    assert "state.high_watermark: expected -1, actual 0" in capsys.readouterr().out
    assert main(["conformance", *replayed, REFERENCE]) == ExitCode.CONFORMANT
    for trace in ("elections-0.jsonl", "elections-0.shrunk.jsonl"):
        assert main(["validate", str(tmp_path / trace), "--prefixes", str(tmp_path)]) == ExitCode.VIOLATION
        assert "hw.own-epoch" in capsys.readouterr().out


FOUND = {
    "fetch.fetched-flag": "elections.0",
    "hw.monotonic": "elections.1",
    "prevote.follower.rejects-after-fetch": "elections.0",
    "state.resigned.timeout": "crashes.0",
    "state.same-epoch-preserves": "elections.0",
    "vote.voter-key": "storm.2",
    "voters.one-change-at-a-time": "chaos.4",
    "voters.epoch-committed-before-change": "chaos.1",
    "reassign.single-member-steps": "reassignments.0",
}


@pytest.mark.parametrize("rule", FOUND)
def test_the_vector_of_a_failure_fails_by_itself(tmp_path: Path, rule: str) -> None:
    workload, _, seed = FOUND[rule].rpartition(".")
    (one,) = outcomes(
        InProcess(lambda: without_rule(rule)),
        seeds=(int(seed),),
        workloads=(workload,),
        steps=400,
        differential=True,
        save=tmp_path,
        old_software_everywhere=True,
    )
    assert one.outcome.status is Status.FAIL
    assert one.shrunk is not None
    assert one.shrunk.moves < one.shrunk.moves_before
    assert one.saved is not None
    assert (one.saved.vector, one.saved.without_vector) == (f"random.{workload}-{seed}", None)


def test_a_folder_collects_vectors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for seeds in (range(1), range(2)):
        outcomes(seat("sends-first"), seeds=seeds, save=tmp_path, workloads=("elections",), shrinks=False)
    adapter = limited("sends-first")
    words = ["--adapter", adapter, "--vectors", str(tmp_path)]
    assert main(["conformance", "run", *words]) == ExitCode.VIOLATION
    assert capsys.readouterr().out.endswith("2 vectors: 2 fail\n")
    assert main(["conformance", "list", "--vectors", str(tmp_path), "--json"]) == ExitCode.CONFORMANT
    listed = [one["id"] for one in json.loads(capsys.readouterr().out)]
    assert listed == ["random.elections-0", "random.elections-1"]


def test_the_broken_one_of_a_mixed_cluster_is_named() -> None:
    (one,) = outcomes(Reference(), seat("grants-all"), seat("plain"), seeds=(1,), workloads=("elections",))
    assert (one.outcome.status, one.replica, one.adapter) == (Status.FAIL, 2, "grants-all")


@pytest.mark.parametrize("mode", ["plain", "wire"])
def test_a_wrong_answer_is_found_at_any_level(mode: str) -> None:
    def change(request: Request, reply: Reply) -> Reply:
        return limited_adapter.MODES[mode](request, limited_adapter.MODES["grants-all"](request, reply))

    (one,) = outcomes(InProcess(lambda: Changed(change)), seeds=(0,), workloads=("elections",))
    assert one.outcome.status is Status.FAIL
    assert str(one.outcome.differences[0]) == "Send VoteResponse to 2.granted: expected false, actual true"
    assert one.outcome.rules[0] == "prevote.follower.rejects-after-fetch"


def test_what_an_invariant_sees_is_said_with_the_step_it_comes_from() -> None:
    (one,) = outcomes(seat("grants-all"), seeds=(0,), workloads=("elections",), shrinks=False)
    assert one.violation is not None
    assert one.violation.startswith("DurableBeforeSend violated by event 73 at replica 3: a vote for 2-A2")
    assert (one.sequence, one.replica) == (68, 1)
    assert one.outcome.reason.startswith(one.violation)
    assert one.outcome.rule_level == "MUST"


def test_a_failure_says_whether_a_must_is_broken() -> None:
    (one,) = outcomes(
        InProcess(lambda: without_rule("update-voter.reply-time")),
        seeds=(1,),
        workloads=("auto-join",),
        steps=600,
        differential=True,
        shrinks=False,
        checks_model=False,
    )
    assert headline(one.outcome) == f"FAIL {one.outcome.id} (SHOULD)"
    assert one.outcome.rules[0] == "update-voter.reply-time"


def test_a_timer_is_judged_by_what_comes_of_it_unless_the_run_is_differential() -> None:
    (one,) = outcomes(seat("never-restarts"), seeds=(1,))
    assert one.outcome.status is Status.PASS
    assert "StartTimer election: expected" in one.remarks[-1]
    (one,) = outcomes(seat("never-restarts"), seeds=(1,), differential=True)
    assert (one.outcome.status, one.outcome.event) == (Status.FAIL, "ElectionTimeout")
    (one,) = outcomes(seat("never-restarts"), seeds=(0,), steps=300)
    assert (one.outcome.status, str(one.violation)[:14]) == (Status.FAIL, "EventualChange")


def test_what_a_rule_leaves_open_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replica that remembers whom it voted for at kraft.version 0 is right, and where it comes from is not known."""
    monkeypatch.setattr(limited_adapter, "VALUE", "A1")
    (one,) = outcomes(seat("keeps-the-disk-it-voted-for"), seeds=(1,), workloads=("static-voters",), steps=300)
    assert (one.outcome.status, one.remarks[-1]) == (
        Status.PASS,
        "left open: durable.vote.v0-uuid-in-memory says MAY",
    )


def test_a_wrong_beginning_fails_before_the_first_event() -> None:
    def change(_: Request, reply: Reply) -> Reply:
        return replace(reply, state=replace(reply.state, epoch=7)) if isinstance(reply, ObserveReply) else reply

    (one,) = outcomes(InProcess(lambda: Changed(change)), seeds=(0,))
    assert one.outcome.reason == "before the first event at replica 1: state.epoch: expected 0, actual 7"


# -------------------------------------------------------------------------------------------------------------
# Those that misbehave.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "fault", "said"),
    [
        ("hangs", "hang", "no reply within 4 s"),
        ("exits", "died", "it ended with exit code 101 where a reply was due"),
        ("only-a-log-line", "stray-output", "a line on standard output that is no reply: 'INFO became Candidate'"),
        ("other-type", "malformed", "a reply of type reset, expected step"),
    ],
)
def test_an_adapter_that_misbehaves_is_an_error(
    capsys: pytest.CaptureFixture[str], mode: str, fault: str, said: str
) -> None:
    # Long enough for a hello on a busy machine.
    timeout = "4" if mode == "hangs" else "20"
    words = ("--adapter", limited(mode), "--seeds", "0", "--timeout", timeout, "--replicas", "1", "--workload", "calm")
    code, lines = ran(capsys, *words)
    assert code == ExitCode.VIOLATION
    assert (lines[0]["status"], lines[0]["fault"], lines[0]["replica"]) == ("error", fault, 1)
    assert lines[0]["reason"].startswith("replica 1, event ")
    assert lines[0]["reason"].endswith(said)
    assert lines[0]["repeat"].startswith("kraft-spec conformance random --adapter ")


def test_after_an_error_the_next_run_begins_anew() -> None:
    made: list[ReferenceAdapter] = []

    class Dies(ReferenceAdapter):
        def answer(self, request: Request) -> Reply:
            if made.index(self) == 0 and type(request).__name__ == "Step":
                raise AssertionError("gone")
            return super().answer(request)

    def make() -> Dies:
        made.append(Dies())
        return made[-1]  # type: ignore[return-value]

    first, second = outcomes(InProcess(make), seeds=range(2))
    assert (first.outcome.status, first.outcome.fault) == (Status.ERROR, "died")
    assert first.outcome.reason.endswith("it raised AssertionError: gone")
    assert second.outcome.status is Status.PASS


def test_an_adapter_that_says_unsupported_is_believed(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = ran(capsys, "--adapter", limited("refuses", "unsupported"), "--seeds", "0")
    assert (code, lines[0]["status"]) == (ExitCode.NOTHING_JUDGED, "unsupported")
    assert lines[0]["reason"].endswith("no such thing here")


def test_nothing_is_left_of_an_adapter(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    words = ("--adapter", limited("has-a-child", str(noted)), "--seeds", "0", "--steps", "20", "--replicas", "1")
    assert ran(capsys, *words, "--workload", "calm")[0] == ExitCode.CONFORMANT
    assert ends(int(noted.read_text()))


def test_runs_that_are_terminated_take_their_adapters_along(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    words = [sys.executable, "-m", "kraft_conformance.cli", "conformance", "random", "--workload", "calm"]
    words += ["--replicas", "1", "--seeds", "0:1000", "--adapter", limited("has-a-child", str(noted))]
    runner = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))
    for _ in range(3000):
        if noted.exists() and noted.read_text():
            break
        time.sleep(0.01)
    runner.send_signal(signal.SIGTERM)
    assert runner.wait(timeout=60) == ExitCode.INTERRUPTED
    assert ends(int(noted.read_text()))


# -------------------------------------------------------------------------------------------------------------
# The command line.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--seed", "5:5"), ExitCode.USAGE, "--seed 5:5: expected a seed, or FIRST:END with FIRST below END"),
        (("--seeds", "many"), ExitCode.USAGE, "--seed many: expected a seed, or FIRST:END"),
        (("--workload", "wild"), ExitCode.USAGE, "no workload 'wild'; there are calm, elections"),
        (("--profile", "raft"), ExitCode.USAGE, "no profile 'raft'; there are kip, kafka-4"),
        (("--adapter", "/no/such"), ExitCode.UNAVAILABLE, "the adapter cannot be started: /no/such: No such file"),
        (("--adapter", limited("other-version")), ExitCode.BAD_INPUT, "the adapter speaks kraft-adapter/2"),
    ],
)
def test_wrong_use_is_said(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: ExitCode, said: str
) -> None:
    given = words if "--adapter" in words else ("--adapter", "reference", *words)
    assert main(["conformance", "random", *given]) == code
    assert said in capsys.readouterr().err


def test_stopping_at_the_first_failure(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "--adapter",
        limited("sends-first"),
        "--seeds",
        "0:3",
        "--workload",
        "elections",
        "-x",
        "--shrink-runs",
        "0",
    )
    code, lines = ran(capsys, *words)
    assert code == ExitCode.VIOLATION
    assert [one["status"] for one in lines[:-1]] == ["fail", "skipped", "skipped"]
    assert "shrunk" not in lines[0]


def test_a_folder_that_cannot_be_written_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    words = ("--adapter", limited("sends-first"), "--seeds", "0", "--workload", "elections")
    code = main(["conformance", "random", *words, "--save", str(tmp_path / "file")])
    assert code == ExitCode.CANNOT_WRITE
    assert "cannot be written" in capsys.readouterr().err


def test_the_example_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example = PAGE.read_text().partition("```python\n")[2].partition("```")[0]
    exec(compile(example, str(PAGE), "exec"), {})
    said = [line.rpartition(" ")[0] for line in capsys.readouterr().out.splitlines()]
    assert said == [f"elections.{seed} pass" for seed in range(5)]
