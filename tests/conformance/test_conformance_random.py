"""`kraft-spec conformance random`: clusters of adapters that conform, hide parts, or differ."""

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace as replaced
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace
from tests.conformance.altered_adapter import Altered
from tests.conformance.choices import Change, Effects, Moment, each, of_effects
from tests.conformance.commands import REFERENCE, Captured, altered, block, document, error, lines, output

from kraft_cli.cli import main
from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.protocol.messages import ObserveReply, Reply, Request, Reset, Step, StepReply
from kraft_conformance.random_runs.abilities import restrict
from kraft_conformance.random_runs.campaign import RandomPlan, random_campaign, why_not_enough
from kraft_conformance.random_runs.model import trace_of
from kraft_conformance.random_runs.outcome import RandomOutcome
from kraft_conformance.random_runs.plan import KnownDifference
from kraft_conformance.random_runs.running import Recorded, RunSpec, run
from kraft_conformance.random_runs.seats import InProcess, Reference
from kraft_conformance.random_runs.table import Table
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_reference.effects import StartTimer, Timer
from kraft_simulation.workload import WORKLOADS
from kraft_traces.effects import TracedAppendRecords, TracedFlushLog, TracedStartTimer
from kraft_traces.message_types import TracedEndQuorumEpochRequest


def ran(capsys: Captured, *words: str) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit code and JSON lines of `kraft-spec conformance random`."""
    return lines(capsys, "conformance", "random", *words)


def seat(*modes: str, changes: tuple[Change, ...] = ()) -> InProcess:
    """Return an `altered_adapter` in this process."""
    return InProcess(lambda: Altered(*modes, changes=changes), *modes[:1])


def outcomes(*seats: InProcess | Reference, **fields: Any) -> tuple[RandomOutcome, ...]:
    settings: dict[str, Any] = {"steps": 250, "seeds": range(2)} | fields
    return random_campaign(RandomPlan(seats, **settings))


def made(
    seats: InProcess, workload: str, seed: int, steps: int, *, differential: bool = False
) -> tuple[Table, RunSpec, Recorded]:
    """Return the saved files of a run."""
    with Table((seats,), 1.0) as table:
        preset = restrict(WORKLOADS[workload], table.hellos).preset
        configuration = table.configuration(preset, seed, 3, "kip", old_software_everywhere=False)
        spec = RunSpec(preset, configuration, seed, steps, differential)
        return table, spec, run(table, spec)


# -------------------------------------------------------------------------------------------------------------
# Right ones.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("differential", [False, True])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_reference_passes_every_workload(workload: str, differential: bool) -> None:
    (item,) = outcomes(
        seat("state"),
        workloads=(workload,),
        seeds=(1,),
        steps=150,
        differential=differential,
        old_software_everywhere=True,
    )
    assert (item.outcome.status, item.remarks, item.restricted) == (Status.PASS, (), ())


def test_a_mixed_cluster_of_processes_passes_and_is_the_same_run_as_in_process(
    capsys: Captured,
) -> None:
    words = ("--adapter", REFERENCE, "--adapter", "reference", "--seeds", "3:5", "--steps", "120")
    code, results = ran(capsys, *words, "--workload", "chaos")
    assert code == ExitCode.CONFORMANT
    assert [(result["id"], result["status"]) for result in results[:-1]] == [("chaos.3", "pass"), ("chaos.4", "pass")]
    assert results[-1] == {"kind": "summary", "counts": {"pass": 2}, "exit_code": 0}
    again = outcomes(seat("state"), Reference(), seeds=range(3, 5), steps=120)
    assert [item.trace_sha256 for item in again] == [result["trace_sha256"] for result in results[:-1]]


@pytest.mark.parametrize("mode", ["state", "effects", "wire"])
def test_a_recorded_run_is_a_trace_that_validates_and_is_the_same_each_time(tmp_path: Path, mode: str) -> None:
    trace, again = (b"".join(trace_of(*made(seat(mode), "chaos", 5, 150))) for _ in range(2))
    assert trace == again
    (tmp_path / "run.jsonl").write_bytes(trace)
    assert main(["validate", str(tmp_path / "run.jsonl")]) == ExitCode.CONFORMANT
    events = [json.loads(line) for line in trace.splitlines()[1:-1]]
    own = [event for event in events if "replica" in event]
    assert ("state" in own[0]) is (mode == "state")
    # A step that only sends is shown whole at every level.
    displayed = {effect["kind"] for event in own for effect in event.get("effects", ())}
    assert (displayed == {"Send"}) is (mode == "wire")
    assert any("refusal" in event for event in own) is (mode == "state")


@hypothesis_settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(["chaos", "crashes", "snapshots", "reassignments", "upgrade"]),
    st.integers(0, 50),
    st.integers(0, 2**32),
    st.sets(st.sampled_from(["hides", "syncs-at-once"])),
)
def test_what_an_implementation_is_free_to_do_is_never_a_failure(
    workload: str, seed: int, chance: int, modes: set[str]
) -> None:
    words = [f"{mode}={chance}" for mode in sorted({"shuffles", *modes})]
    (item,) = outcomes(seat(*words), workloads=(workload,), seeds=(seed,), steps=100, differential=True, shrinks=False)
    assert item.outcome.status is Status.PASS, item


def test_who_counts_other_writes_is_not_made_to_die_between_them() -> None:
    crashes: list[Request] = []

    def change(moment: Moment, reply: Reply) -> Reply:
        """A replica that crashes after an append has synced it."""
        request = moment.request
        if not isinstance(request, Step) or request.crash is UNSET or not isinstance(reply, StepReply):
            return reply
        crashes.append(request)
        last = reply.effects[-1] if reply.effects else None
        if not isinstance(last, TracedAppendRecords):
            return reply
        return replace(reply, effects=(*reply.effects, TracedFlushLog(last.base_offset + len(last.records))))

    *_, results = made(seat(changes=(change,)), "crashes", 2, 600, differential=True)
    assert crashes
    assert results.notes.first is None
    assert [line for line in results.lines if line.crash is not UNSET] == []


def _started(moment: Moment, effects: Effects) -> Effects:
    """An unneeded timer at each Fetch, without consequences."""
    return (*effects, TracedStartTimer(Timer.FETCH, 1000)) if moment.event == "PollFetch" else effects


@pytest.mark.parametrize("workload", ["elections", "static-voters"])
def test_an_early_sync_is_not_forgotten_after_a_difference(workload: str) -> None:
    (item,) = outcomes(seat("syncs-at-once", changes=(of_effects(_started),)), seeds=(1,), workloads=(workload,))
    assert item.outcome.status is Status.PASS, item
    assert "no check of this mode depends on it" in item.remarks[-1]


def test_a_difference_in_timers_hides_no_later_one() -> None:
    hasty = seat("without-rule=add-voter.catch-up-first", changes=(of_effects(_started),))
    (item,) = outcomes(hasty, seeds=(1,), workloads=("voter-changes",), steps=300)
    assert (item.outcome.event, item.outcome.rules[0]) == ("HandleApiVersionsResponse", "add-voter.catch-up-first")
    assert item.shrunk is not None
    assert item.shrunk.moves < item.shrunk.moves_before


def test_what_is_not_shown_breaks_no_invariant() -> None:
    """The reference beside it waits for a new voter to catch up, of whom the record stands already."""
    hasty = seat("without-field=pending_change", "without-rule=add-voter.catch-up-first")
    (item,) = outcomes(hasty, seeds=(1,), workloads=("voter-changes",), steps=300)
    assert (item.violation, item.outcome.rules[0]) == (None, "add-voter.catch-up-first")


HASTY = KnownDifference(
    "hasty",
    {
        "HandleApiVersionsResponse": (
            *("AppendRecords", "FlushLog", "state.log_end_offset", "state.flushed_offset", "state.high_watermark"),
            *("state.voters.offset", "state.voters.voters", "state.voters.voters[N].id", "state.pending_change"),
        )
    },
)


def test_a_run_goes_on_after_what_is_known_to_differ() -> None:
    hasty = seat("without-field=pending_change", "without-rule=add-voter.catch-up-first")
    (item,) = outcomes(hasty, seeds=(1,), workloads=("voter-changes",), steps=300, known=(HASTY,))
    assert (item.outcome.status, item.known) == (Status.EXPECTED_FAILURE, ("hasty",)), item
    assert item.until_known < item.events - 50
    ended = outcomes(
        hasty, seeds=(1,), workloads=("voter-changes",), steps=300, known=(replaced(HASTY, ends_run=True),)
    )
    assert [(end.outcome.status, end.events) for end in ended] == [(Status.EXPECTED_FAILURE, item.until_known + 1)]


def _unsynced(moment: Moment, effects: Effects) -> Effects:
    """A voter change that is not synced."""
    return tuple(
        [effect for effect in effects if moment.event != "RemoveVoter" or not isinstance(effect, TracedFlushLog)]
    )


def test_what_is_known_to_differ_hides_nothing_that_comes_after() -> None:
    modes = ("without-field=pending_change", "without-rule=add-voter.catch-up-first")
    late = seat(*modes, changes=(of_effects(_unsynced),))
    (item,) = outcomes(late, seeds=(1,), workloads=("voter-changes",), steps=300, known=(HASTY,))
    assert (item.outcome.status, item.outcome.event, item.known) == (Status.FAIL, "RemoveVoter", ("hasty",))
    assert item.outcome.differences[0].field == "FlushLog"
    assert item.outcome.step is not None
    assert item.outcome.step > item.until_known + 1
    assert item.shrunk is not None
    assert item.shrunk.moves < item.shrunk.moves_before


def test_what_a_leader_commits_as_it_resigns_is_committed() -> None:
    """Its removal is committed in a step after which it knows no high watermark, and a follower has been told of it."""
    (item,) = outcomes(seat("high-watermark-unknown"), seeds=(32,), workloads=("voter-changes",))
    assert item.outcome.status is Status.PASS, item


def test_a_timer_that_may_be_missing_and_is_does_not_run() -> None:
    *_, results = made(seat("never-restarts=HandleVoteRequest"), "elections", 1, 100)
    votes = [
        occurrence
        for occurrence in results.occurrences
        if type(getattr(occurrence.event, "message", None)).__name__ == "VoteRequest"
    ]
    timers = [effect for vote in votes for effect in vote.effects if isinstance(effect, StartTimer)]
    assert "vote.grant.resets-timer says SHOULD" in results.notes.latitude
    assert [timer for timer in timers if timer.timer is Timer.ELECTION] == []


# -------------------------------------------------------------------------------------------------------------
# Those that have less, or show less.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "remark"),
    [
        ("wire", "observability wire: writes, state and refusals are the reference's"),
        ("effects", "observability effects: state and refusals are the reference's"),
    ],
)
def test_a_pass_says_at_which_level_it_was_seen(mode: str, remark: str) -> None:
    for outcome in outcomes(seat(mode)):
        assert (outcome.outcome.status, outcome.remarks) == (Status.PASS, (remark,))


def test_a_timer_and_a_field_that_are_never_shown_are_not_judged() -> None:
    hidden = "unobserved=StartTimer.election+VoteResponse.leader_id+state.voted_key"
    for outcome in outcomes(seat(hidden, "never-restarts", "misreads")):
        assert outcome.outcome.status is Status.PASS, outcome
        assert outcome.remarks[0] == "not shown: VoteResponse.leader_id, state.voted_key"
    for outcome in outcomes(seat(hidden.removesuffix("+state.voted_key"), "misreads")):
        assert outcome.outcome.differences[0].field == "state.voted_key"


def test_a_run_in_which_nothing_was_seen_is_unobserved() -> None:
    """The third seat is that of an observer, of which the workload has none."""
    (item,) = outcomes(Reference(), Reference(), seat("state"), workloads=("calm",), replicas=2, seeds=(0,), steps=50)
    assert (item.outcome.status, item.outcome.reason) == (Status.UNOBSERVED, "no adapter showed any output")


def test_what_an_adapter_lacks_is_not_drawn_or_the_workload_is_unsupported(
    capsys: Captured,
) -> None:
    chaos, islands = outcomes(seat("unsupported"), seeds=(0,), workloads=("chaos", "islands"))
    assert (chaos.outcome.status, chaos.restricted) == (Status.PASS, ("observers", "voter-changes"))
    assert (islands.outcome.status, islands.restricted) == (Status.PASS, ("observers",))
    assert {outcome.outcome.status for outcome in outcomes(seat("kip-595-only"))} == {Status.PASS}
    words = ("--workload", "voter-changes", "--workload", "static-voters", "--seeds", "0")
    code, results = ran(capsys, "--adapter", altered("unsupported"), *words)
    assert code == ExitCode.NOTHING_JUDGED
    assert [(result["id"], result["status"], result["reason"]) for result in results[:-1]] == [
        ("voter-changes.0", "unsupported", "needs observers, voter-changes"),
        ("static-voters.0", "unsupported", "needs voter-changes"),
    ]


def test_a_leader_that_cannot_limit_its_responses_is_not_asked_to() -> None:
    (item,) = outcomes(seat("no-limit"), seeds=(0,), workloads=("storm",), steps=150)
    assert (item.outcome.status, item.restricted) == (Status.PASS, ("fetch-limit",))


@pytest.mark.parametrize(
    ("status", "reason", "text"),
    [
        (Status.FAIL, "wrong", None),
        (Status.PASS, "", "the adapter passes the vector alone; the failure needs the whole run"),
        (Status.UNSUPPORTED, "needs fetch-limit", "the vector alone is unsupported: needs fetch-limit"),
    ],
)
def test_a_saved_vector_that_does_not_fail_says_why(status: Status, reason: str, text: str | None) -> None:
    assert why_not_enough(Outcome("random.storm-0", status, reason)) == text


@pytest.mark.parametrize(("modes", "status"), [(("without-pre-vote",), Status.PASS), ((), Status.FAIL)])
def test_a_vote_beside_a_leader_is_kept_for_pre_vote(modes: tuple[str, ...], status: Status) -> None:
    results = outcomes(seat(*modes, "forgets-votes-beside-a-leader"), workloads=("elections",), seeds=range(1))
    assert [result.outcome.status for result in results] == [status]


def test_software_without_pre_vote_is_played_by_the_reference_or_by_who_has_none() -> None:
    def played(*seats: InProcess | Reference, everywhere: bool = False) -> list[tuple[str, bool]]:
        with Table(seats, 1.0) as table:
            preset = WORKLOADS["mixed-versions"]
            configuration = table.configuration(preset, 0, 4, "kip", old_software_everywhere=everywhere)
            return [(replica.pre_vote, replica.sends_leader_endpoint) for replica in configuration.replicas.values()]

    old, new = played(Reference()), ("supported", True)
    assert {software for software, _ in old} == {"supported", "unsupported", "ignored"}
    assert played(seat("state")) == [new] * 4
    assert played(seat("state"), everywhere=True) == old
    assert played(Reference(), seat("state")) == [old[0], new, old[2], new]
    assert played(seat("state"), seat("kip-595-only")) == [new, ("unsupported", False)] * 2


@pytest.mark.parametrize("workload", ["rolling-upgrade", "rolling-upgrade-static"])
def test_the_software_of_a_rolling_upgrade_begins_on_the_disk_that_the_other_left(workload: str) -> None:
    """A third seat is the reference, which a rolling upgrade does not need."""
    requested: dict[str, list[Request]] = {"old": [], "new": []}

    def listening(name: str, *modes: str) -> InProcess:
        def change(moment: Moment, reply: Reply) -> Reply:
            requested[name].append(moment.request)
            return reply

        return seat(*modes, changes=(change,))

    old, new = listening("old", "without-pre-vote"), listening("new", "state")
    results = outcomes(old, new, workloads=(workload,), steps=500, seeds=range(1))
    assert [result.outcome.status for result in results] == [Status.PASS]
    begun = [request for request in requested["new"] if isinstance(request, Reset)]
    assert [(session.replica, session.before.state.role) for session in begun if session.before] == [
        (replica, "Stopped") for replica in (1, 2, 3)
    ]
    assert all(not item.before for item in requested["old"] if isinstance(item, Reset))


# An adapter that is not told a state cannot begin on the disk of another one.
@pytest.mark.parametrize(
    ("seats", "reason"),
    [
        (("without-pre-vote", "history"), "needs state_injection"),
        (("kip-595-only", "state"), "needs KIP-853"),
    ],
)
def test_a_rolling_upgrade_needs_adapters_that_can_play_it(seats: tuple[str, str], reason: str) -> None:
    (result,) = outcomes(*map(seat, seats), workloads=("rolling-upgrade",), seeds=range(1))
    assert result.outcome.status is Status.UNSUPPORTED
    assert result.outcome.reason.startswith(reason)


# -------------------------------------------------------------------------------------------------------------
# Wrong ones.
# -------------------------------------------------------------------------------------------------------------


def test_a_rule_that_is_left_out_is_found_shrunk_saved_and_replayed(capsys: Captured, tmp_path: Path) -> None:
    adapter = altered("without-rule=prevote.follower.rejects-after-fetch")
    words = ["--adapter", adapter, "--adapter", "reference", "--seeds", "0", "--workload", "elections"]
    words += ["--steps", "200", "--replicas", "3"]
    code, text = output(capsys, "conformance", "random", *words, "--save", str(tmp_path))
    displayed = block("conformance", "FAIL elections.0")
    displayed = displayed.replace("'python broken.py'", shlex.quote(adapter)).replace("python broken.py", adapter)
    parts = re.split(r" +\.\.\.\n", displayed.replace("failures", str(tmp_path)))
    result, last = text.removesuffix("\n").rsplit("\n", 1)
    assert code == ExitCode.VIOLATION
    assert re.fullmatch(".*\n".join(map(re.escape, parts)), f"{result}\n", re.DOTALL)
    assert last.startswith("1 runs, ")
    assert last.endswith(" events: 1 fail")
    replayed = ["conformance", "replay", "random.elections-0", "--vectors", str(tmp_path), "--adapter"]
    code, text = output(capsys, *replayed, adapter)
    assert (code, "Send VoteResponse to 2.granted: expected false" in text) == (ExitCode.VIOLATION, True)
    assert main([*replayed, REFERENCE]) == ExitCode.CONFORMANT
    for trace in ("elections-0.jsonl", "elections-0.shrunk.jsonl"):
        code, text = output(capsys, "validate", str(tmp_path / trace), "--prefixes", str(tmp_path))
        assert (code, "prevote.follower.rejects-after-fetch" in text) == (ExitCode.VIOLATION, True)


@pytest.mark.parametrize(
    ("rule", "workload", "seed"),
    [
        ("hw.monotonic", "elections", 1),
        ("state.resigned.timeout", "crashes", 0),
        ("vote.voter-key", "storm", 2),
        ("voters.one-change-at-a-time", "chaos", 4),
        ("reassign.single-member-steps", "reassignments", 0),
    ],
)
def test_the_vector_of_a_failure_fails_by_itself(tmp_path: Path, rule: str, workload: str, seed: int) -> None:
    (item,) = outcomes(
        seat(f"without-rule={rule}"),
        seeds=(seed,),
        workloads=(workload,),
        steps=400,
        differential=True,
        save=tmp_path,
        old_software_everywhere=True,
    )
    assert item.outcome.status is Status.FAIL
    assert item.shrunk is not None
    assert item.shrunk.moves < item.shrunk.moves_before
    assert item.saved is not None
    assert (item.saved.vector, item.saved.without_vector) == (f"random.{workload}-{seed}", None)


def test_a_folder_collects_vectors(capsys: Captured, tmp_path: Path) -> None:
    for seeds in (range(1), range(2)):
        outcomes(seat("sends-first"), seeds=seeds, save=tmp_path, workloads=("elections",), shrinks=False)
    words = ("--adapter", altered("sends-first"), "--vectors", str(tmp_path))
    code, text = output(capsys, "conformance", "run", *words)
    assert (code, text.splitlines()[-1]) == (ExitCode.VIOLATION, "2 vectors: 2 fail")
    _, listed = document(capsys, "conformance", "list", "--vectors", str(tmp_path))
    assert [row["id"] for row in listed] == ["random.elections-0", "random.elections-1"]


def test_the_broken_one_of_a_mixed_cluster_is_named() -> None:
    (item,) = outcomes(Reference(), seat("grants-all"), seat("state"), seeds=(1,), workloads=("elections",))
    assert (item.outcome.status, item.replica, item.adapter) == (Status.FAIL, 2, "grants-all")


@pytest.mark.parametrize("level", ["state", "wire"])
def test_a_wrong_answer_is_found_at_any_level(level: str) -> None:
    (item,) = outcomes(seat("grants-all", level), seeds=(0,), workloads=("elections",))
    assert item.outcome.status is Status.FAIL
    assert str(item.outcome.differences[0]) == "Send VoteResponse to 2.granted: expected false, actual true"
    assert item.outcome.rules[0] == "prevote.follower.rejects-after-fetch"


def test_what_an_invariant_sees_is_said_with_the_step_it_comes_from() -> None:
    (item,) = outcomes(seat("grants-all"), seeds=(0,), workloads=("elections",), shrinks=False)
    assert item.violation is not None
    assert item.violation.startswith("DurableBeforeSend violated by event 73 at replica 3: a vote for 2-A2")
    assert (item.outcome.step, item.replica) == (68, 1)
    assert item.outcome.reason.startswith(item.violation)
    assert item.outcome.rule_level == "MUST"


def test_a_process_that_ends_by_itself_is_said_with_its_reason() -> None:
    """And not that what it no longer shows contradicts what the reference has in its place."""
    displayed = ("leader_id", "voted_key", "epoch", "high_watermark", "voters", "awaiting")
    quiet = seat("dies=ClientAppend", *[f"without-field={name}" for name in displayed])
    (item,) = outcomes(quiet, seeds=(1,), workloads=("calm",), shrinks=False)
    text = "ClientAppend at replica 1: died: expected a running process, actual IllegalStateException: no such vote"
    assert (item.outcome.status, item.outcome.reason.partition(", ")[2]) == (Status.FAIL, text)
    assert "TypeOk" not in str(item.violation)


def test_a_timer_is_judged_by_what_comes_of_it_unless_the_run_is_differential() -> None:
    (item,) = outcomes(seat("never-restarts"), seeds=(1,))
    assert item.outcome.status is Status.PASS
    assert "StartTimer election: expected" in item.remarks[-1]
    (item,) = outcomes(seat("never-restarts"), seeds=(1,), differential=True)
    assert (item.outcome.status, item.outcome.event) == (Status.FAIL, "ElectionTimeout")
    (item,) = outcomes(seat("never-restarts"), seeds=(0,), steps=300)
    assert (item.outcome.status, str(item.violation)[:14]) == (Status.FAIL, "EventualChange")


def test_what_a_rule_leaves_open_stays_open() -> None:
    """A replica that remembers whom it voted for at kraft.version 0 is right, and where it comes from is not known."""
    (item,) = outcomes(seat("keeps-the-disk-it-voted-for=A1"), seeds=(1,), workloads=("static-voters",), steps=300)
    left_open = "allowed alternative: durable.vote.v0-uuid-in-memory says MAY"
    assert (item.outcome.status, item.remarks[-1]) == (Status.PASS, left_open)


def test_a_wrong_beginning_fails_before_the_first_event() -> None:
    def change(_: Moment, reply: Reply) -> Reply:
        return replace(reply, state=replace(reply.state, epoch=7)) if isinstance(reply, ObserveReply) else reply

    (item,) = outcomes(seat(changes=(change,)), seeds=(0,))
    assert item.outcome.reason == "before the first event at replica 1: state.epoch: expected 0, actual 7"


# -------------------------------------------------------------------------------------------------------------
# Timers of the wrong length, which no single step shows, and right ones of other lengths than the reference's.
# -------------------------------------------------------------------------------------------------------------

Length = Callable[[Moment, TracedStartTimer], int]


def constant(_: Moment, timer: TracedStartTimer) -> int:
    return 1000 if timer.timer == Timer.ELECTION else timer.duration_ms


def without_a_bound(moment: Moment, timer: TracedStartTimer) -> int:
    request = moment.request
    is_backoff = isinstance(request, Step) and timer.duration_ms == request.draw.election_backoff_ms
    return timer.duration_ms * (50 if is_backoff else 1)


def candidates(moment: Moment) -> int:
    """Return the number of preferred candidates in the EndQuorumEpochRequest of a step; 0 for other messages."""
    message = moment.request.message if isinstance(moment.request, Step) else None
    return len(message.preferred_candidates) if isinstance(message, TracedEndQuorumEpochRequest) else 0


def whatever_the_place(moment: Moment, timer: TracedStartTimer) -> int:
    return 1000 if candidates(moment) and timer.duration_ms else timer.duration_ms


def with_its_own_chance() -> Length:
    """From four lengths; a Candidate that lost waits as long as it would have for the answers; waits of a Follower
    that double from where the last one of its list waits half of the longest."""
    draw = Random(1)

    def length(moment: Moment, timer: TracedStartTimer) -> int:
        if candidates(moment) and 0 < timer.duration_ms < 1000:
            place = {125: 1, 250: 2, 500: 3, 1000: 4}[timer.duration_ms]
            return (1000 >> candidates(moment)) << place
        return draw.choice((300, 400, 500, 600)) if timer.timer == Timer.ELECTION else timer.duration_ms

    return length


def with_timers(length: Length, workload: str, seeds: range, replicas: int) -> tuple[RandomOutcome, ...]:
    def lengthened(moment: Moment, timer: TracedStartTimer) -> Effects:
        return (replace(timer, duration_ms=length(moment, timer)),)

    seats = seat(changes=(each(TracedStartTimer, lengthened),))
    return outcomes(seats, seeds=seeds, workloads=(workload,), steps=1000, replicas=replicas, checks_model=False)


@pytest.mark.parametrize(
    ("length", "workload", "replicas", "rule", "text"),
    [
        (constant, "chaos", 3, "state.timers.random", "each time for 1000 ms"),
        (without_a_bound, "hasty-reassignments", 3, "state.candidate.lost", "a Candidate that lost waits"),
        (whatever_the_place, "elections", 5, "end-quorum.handle", "at place 2 of 4 preferred candidates"),
    ],
)
def test_timers_of_a_wrong_length_fail_under_their_rule(
    length: Length, workload: str, replicas: int, rule: str, text: str
) -> None:
    (item,) = with_timers(length, workload, range(1), replicas)
    assert (item.outcome.status, item.outcome.rules) == (Status.FAIL, (rule,))
    assert text in item.outcome.reason
    assert item.outcome.rule_level == ("SHOULD" if rule == "state.timers.random" else "MUST")


@pytest.mark.parametrize("workload", ["elections", "hasty-reassignments"])
def test_timers_of_other_right_lengths_pass(workload: str) -> None:
    results = with_timers(with_its_own_chance(), workload, range(3), 5)
    assert {result.outcome.status for result in results} == {Status.PASS}


# -------------------------------------------------------------------------------------------------------------
# Those that misbehave.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "code", "status", "fault", "text"),
    [
        ("exits", ExitCode.VIOLATION, "error", "died", "the adapter exited with code 101 instead of replying"),
        ("other-type", ExitCode.VIOLATION, "error", "malformed", "a reply of type reset, expected step"),
        ("refuses=unsupported", ExitCode.NOTHING_JUDGED, "unsupported", None, "no such thing here"),
    ],
)
def test_an_adapter_that_misbehaves_or_cannot(
    capsys: Captured, mode: str, code: ExitCode, status: str, fault: str | None, text: str
) -> None:
    words = ("--adapter", altered(mode), "--seeds", "0", "--replicas", "1", "--workload", "calm")
    found_code, (first, *_) = ran(capsys, *words)
    assert (found_code, first["status"], first.get("fault")) == (code, status, fault)
    assert first["reason"].endswith(text)
    if fault is not None:
        assert (first["replica"], first["reason"][:17]) == (1, "replica 1, event ")
        assert first["repeat"].startswith("kraft-spec conformance random --adapter ")


def test_after_an_error_the_next_run_begins_anew() -> None:
    made: list[ReferenceAdapter] = []

    class Dies(ReferenceAdapter):
        def answer(self, request: Request) -> Reply:
            if made.index(self) == 0 and type(request).__name__ == "Step":
                raise AssertionError("gone")
            return super().answer(request)

    def make() -> ReferenceAdapter:
        made.append(Dies())
        return made[-1]

    first, second = outcomes(InProcess(make), seeds=range(2))
    assert (first.outcome.status, first.outcome.fault) == (Status.ERROR, "died")
    assert first.outcome.reason.endswith("it raised AssertionError: gone")
    assert second.outcome.status is Status.PASS


# -------------------------------------------------------------------------------------------------------------
# The command line.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("--seed", "5:5"), ExitCode.USAGE, "--seed 5:5: expected a seed, or FIRST:END with FIRST below END"),
        (("--seeds", "many"), ExitCode.USAGE, "--seed many: expected a seed, or FIRST:END"),
        (("--workload", "wild"), ExitCode.USAGE, "no workload 'wild'; there are calm, elections"),
        (("--profile", "raft"), ExitCode.USAGE, "no profile 'raft'; there are kip, kafka-4, kafka-4.1, kafka-4.0"),
        (("--adapter", "/no/such"), ExitCode.UNAVAILABLE, "the adapter cannot be started: /no/such: No such file"),
        (("--adapter", altered("other-version")), ExitCode.BAD_INPUT, "the adapter speaks kraft-adapter/2"),
    ],
)
def test_wrong_use_is_said(capsys: Captured, words: tuple[str, ...], code: ExitCode, text: str) -> None:
    inputs = words if "--adapter" in words else ("--adapter", "reference", *words)
    found_code, printed = error(capsys, "conformance", "random", *inputs)
    assert (found_code, text in printed) == (code, True), printed


def test_stopping_at_the_first_failure(capsys: Captured) -> None:
    words = ("--adapter", altered("sends-first"), "--seeds", "0:3", "--workload", "elections", "--shrink-runs", "0")
    code, results = ran(capsys, *words, "-x")
    assert code == ExitCode.VIOLATION
    assert [result["status"] for result in results[:-1]] == ["fail", "skipped", "skipped"]
    assert "shrunk" not in results[0]


def test_a_folder_that_cannot_be_written_is_said(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    words = ("--adapter", altered("sends-first"), "--seeds", "0", "--workload", "elections")
    code, text = error(capsys, "conformance", "random", *words, "--save", str(tmp_path / "file"))
    assert (code, "cannot be written" in text) == (ExitCode.CANNOT_WRITE, True)
