"""Implementations with every choice that the texts leave open pass; those with the nearest wrong choice fail."""

import pytest
from tests.conformance.altered_adapter import ALL_RIGHT, Altered
from tests.conformance.choices import RIGHT_REQUESTS, announces_again
from tests.conformance.test_conformance_random import made, seat

from kraft_conformance.random_runs.campaign import RandomPlan, random_campaign
from kraft_conformance.random_runs.model import trace_of
from kraft_conformance.random_runs.seats import InProcess, LocalSession, Reference
from kraft_conformance.random_runs.shown import reference_effects
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.runner.running import run_vector
from kraft_reference.effects import FlushLog, StartTimer, Timer
from kraft_traces.check import check_reader
from kraft_traces.effects import TracedFlushLog, TracedStartTimer
from kraft_traces.reader import trace_of_bytes
from kraft_traces.state_types import TracedState
from kraft_vectors.catalogue import Catalogue

VECTORS = {replica.id: replica for replica in Catalogue().of_replicas()}
OF_BOTH = tuple([vector.id for vector in VECTORS.values() if vector.courses and "kafka-4" in vector.requires.profiles])


def outcome(vector_id: str, *modes: str, profile: str | None = None) -> Outcome:
    vector = VECTORS[vector_id]
    return run_vector(LocalSession(Altered(*modes)), vector, profile or vector.requires.profiles[0])


def choices(level: str) -> tuple[str, ...]:
    """Return all choices; an adapter that hides syncs loses all records that the runner does not know to be synced."""
    return (*[item for item in ALL_RIGHT if level != "wire" or item != "syncs-at-once"], level)


@pytest.mark.parametrize(
    ("level", "least"),
    [
        ("state", 1.0),
        pytest.param("history", 0.9, marks=pytest.mark.nightly),
        pytest.param("effects", 0.8, marks=pytest.mark.nightly),
        pytest.param("wire", 0.7, marks=pytest.mark.nightly),
    ],
)
def test_all_choices_at_once_are_right(level: str, least: float) -> None:
    outcomes = [outcome(vector, *choices(level)) for vector in VECTORS]
    assert not {item.id: item.reason for item in outcomes if item.status is Status.FAIL}
    assert sum(item.status is Status.PASS for item in outcomes) >= least * len(outcomes)


def test_all_choices_at_once_are_right_under_the_other_profile() -> None:
    assert {outcome(item, *choices("state"), profile="kafka-4").status for item in OF_BOTH} == {Status.PASS}


@pytest.mark.parametrize(
    "mode",
    [
        "restarts-unattached",
        *(pytest.param(mode, marks=pytest.mark.nightly) for mode in ("restarts-prospective", *RIGHT_REQUESTS)),
    ],
)
def test_what_does_not_go_together_is_right_alone(mode: str) -> None:
    assert {outcome(vector, mode).status for vector in VECTORS} == {Status.PASS}


@pytest.mark.parametrize(
    "mode",
    [
        mode if place == 0 else pytest.param(mode, marks=pytest.mark.nightly)
        for place, mode in enumerate(RIGHT_REQUESTS)
    ],
)
def test_more_requests_are_right_where_nothing_but_messages_is_seen(mode: str) -> None:
    results = [outcome(vector, mode, "wire") for vector in VECTORS]
    assert not {result.id: result.reason for result in results if result.status is Status.FAIL}


@pytest.mark.parametrize("level", ["state", "wire"])
def test_a_leader_announces_itself_as_often_as_it_likes(level: str) -> None:
    """Rule: begin-quorum.resend."""
    seats = (InProcess(lambda: Altered(level, changes=(announces_again,))),)
    (result,) = random_campaign(RandomPlan(seats, range(2, 3), ("storm",), 200))
    assert (result.outcome.status, result.outcome.reason) == (Status.PASS, "")


def test_what_a_response_has_a_place_for_must_be_shown() -> None:
    result = outcome("vote.granted", "hides-the-leader")
    assert (result.status, result.reason) == (Status.UNOBSERVED, "not shown: Send VoteResponse to 1.leader_id")


def test_a_timer_that_starts_early_breaks_no_promise_of_what_a_cluster_goes_on_with() -> None:
    displayed = (TracedStartTimer(Timer.FETCH, 5), TracedFlushLog(1))
    assert reference_effects(TracedState(), displayed, (), ()) == (FlushLog(1), StartTimer(Timer.FETCH, 5))


@pytest.mark.parametrize("checks_model", [True, False])
def test_all_choices_at_once_are_right_in_a_cluster(checks_model: bool) -> None:
    seats = (InProcess(lambda: Altered(*ALL_RIGHT)), Reference())
    for workload in ("storm", "chaos"):
        (result,) = random_campaign(RandomPlan(seats, range(2, 3), (workload,), 120, checks_model=checks_model))
        assert (result.outcome.status, result.violation, result.outcome.differences) == (Status.PASS, None, ())


@pytest.mark.parametrize(
    ("modes", "vector_id", "text"),
    [
        ("forgets-vote-first", "candidate.wins", "before it"),
        ("vote-left-out", "prevote.majority", "PersistQuorumState.voted_key: expected "),
        ("vote-left-out", "vote.granted", "PersistQuorumState.voted_key: expected "),
        ("vote-in-old-epoch-first", "announcement.next-leader", "before it"),
        ("another-vote-first", "vote.granted", "before it"),
        ("file-of-another-epoch", "announcement.again", "PersistQuorumState: expected nothing"),
        (
            "cuts-all-first",
            "fetch.diverging",
            "TruncateLog: expected truncation at 3, actual truncation at 0 before it",
        ),
        ("appends-elsewhere-first", "fetch.follower", "AppendRecords: expected records from "),
        ("never-again", "resignation.restarted-leader-asks", "StartTimer election: expected "),
        ("never-again", "prevote.lost-with-a-leader-out-of-reach", "StartTimer election: expected "),
        ("restarts-on-pre-vote", "prevote.grant-changes-nothing", "StartTimer election: expected nothing"),
        ("restarts-on-refusal", "constructed.candidate-asked", "StartTimer election: expected nothing"),
        ("fires-at-once", "prevote.majority", "StartTimer election.duration_ms: expected more than 0"),
        ("always-hurries", "resignation.last-of-six", "StartTimer fetch.duration_ms: expected more than 0"),
        ("high-watermark-unknown high-watermark-falls", "idle.leader", "state.high_watermark: expected 3, actual -1"),
        ("commits-at-election", "candidate.wins", "state.high_watermark: expected -1, actual 3"),
        ("goes-on-refusing refuses-for-ever", "fetch.set-read", 'state.role: expected "Prospective"'),
        ("restarts-unattached restarts-without-vote", "restart.voted", "state.voted_key: expected "),
        ("announces-by-timer never-announces-again", "expired.step", "state.acknowledged: expected [2, 3], "),
        ("cuts-at-the-smaller-offset cuts-everything", "fetch.diverging", "state.log_end_offset: expected 3, actual 0"),
        ("announces-to-observers", "announcement.not-to-observers", "Send BeginQuorumEpochRequest to 9: expected noth"),
        ("announces-another-epoch", "change.newer-voter", "Send BeginQuorumEpochRequest to 2.epoch: expected 1, "),
        (
            "asks-who-answered",
            "scenario.removed-voter-stuck.with-the-rule-refused.replica-3",
            "Send VoteRequest to 2: expected nothing",
        ),
        ("ends-when-leading", "change.newer-voter", "Send EndQuorumEpochRequest to 2: expected nothing"),
        ("fetches-elsewhere", "change.becomes-observer", "Send FetchRequest to 2: expected nothing"),
        (
            "one-id",
            "expired.restart",
            "correlation_id: expected an id that no other open request to this receiver uses",
        ),
        ("skips-a-record", "change.catch-up", "Send FetchResponse to 4.records[0].value: expected 2"),
        ("no-record", "change.removed", "Send FetchResponse to 3.records: expected "),
        ("publishes-zero", "fetch.own-epoch", "Send FetchResponse to 3.high_watermark: expected -1, actual 0"),
        ("watermark-too-far", "foreign.fetch", "Send FetchResponse to 2.high_watermark: expected -1"),
        ("waits-with-records", "change.removed", "Send FetchResponse to 3: expected "),
        ("late-skips", "reassign.waits-for-its-epoch", "Send FetchResponse to 3.records: expected "),
        ("late-twice", "fetch.removed-leader", "Send FetchResponse to 2: expected nothing"),
    ],
)
def test_the_nearest_is_wrong(modes: str, vector_id: str, text: str) -> None:
    result = outcome(vector_id, *modes.split())
    assert (result.status, text in result.reason) == (Status.FAIL, True), result.reason


WRONG_IN_A_TRACE = {
    "forgets-vote-first": "effects[0]",
    "vote-in-old-epoch-first": "effects[0].epoch",
    "another-vote-first": "effects[0].voted_key",
    "file-of-another-epoch": "effects[0]",
    "cuts-all-first": "effects[0].end_offset",
    "appends-elsewhere-first": "effects[2]",
    "high-watermark-unknown high-watermark-falls": "state.high_watermark",
    "commits-at-election": "state.high_watermark",
    "goes-on-refusing refuses-for-ever": "state.role",
    "announces-by-timer never-announces-again": "state.acknowledged",
    "cuts-at-the-smaller-offset cuts-everything": "state.log_end_offset",
    "asks-who-answered": "state.awaiting",
    "ends-when-leading": "state.awaiting",
    "one-id": "state.awaiting",
    "skips-a-record": "effects[0].message.records[0]",
    "no-record": "effects[0].message.records[0]",
    "watermark-too-far": "effects[0].message.high_watermark",
    "publishes-zero": "effects[0].message.high_watermark",
    "waits-with-records": "effects[0]",
    "late-skips": "effects[2].message.records[0]",
    "late-twice": "event.fetches.late",
    "vote-left-out": "effects[0].voted_key",
    "sends-first": "effects[0]",
}
"""Modes that a run of a cluster reaches, with the first wrong field, or a part of the false conjunct."""


@pytest.mark.parametrize("modes", WRONG_IN_A_TRACE)
def test_the_nearest_is_wrong_in_a_trace(modes: str) -> None:
    """Return the verdict of `validate` on a trace of the same implementation."""
    trace = b"".join(trace_of(*made(seat(*modes.split()), "chaos", 1, 250)))
    rejection = check_reader(trace_of_bytes(trace)).rejection
    assert rejection is not None
    first = rejection.conjunct.text if rejection.conjunct else rejection.differences[0].field
    assert WRONG_IN_A_TRACE[modes] in first, rejection


def test_a_limit_on_records_need_not_be_had() -> None:
    limited = [vector.id for vector in VECTORS.values() if "fetch-limit" in vector.requires.features]
    assert {outcome(vector_id, "no-limit").status for vector_id in limited} == {Status.UNSUPPORTED}


def in_a_cluster(workload: str, seed: int, steps: int, *modes: str, checks_model: bool = False) -> Outcome:
    seats = (InProcess(lambda: Altered(*modes)), *(() if checks_model else (Reference(),)))
    plan = RandomPlan(seats, range(seed, seed + 1), (workload,), steps, shrinks=False, checks_model=checks_model)
    return random_campaign(plan)[0].outcome


def test_a_voter_set_without_its_offset_goes_on_after_a_difference() -> None:
    modes = ("high-watermark-falls", "without-field=voters.offset")
    result = in_a_cluster("storm", 2, 150, *modes, checks_model=True)
    assert result.reason.startswith("HwMonotonic violated by event 271")


def test_a_record_on_disk_is_known_by_what_it_is() -> None:
    """The runner's own replica differs here, and makes a record again that is already on disk."""
    result = in_a_cluster("partitions", 5, 300, "effects", "announces-by-timer", checks_model=True)
    assert (result.status, result.reason) == (Status.PASS, "")


@pytest.mark.parametrize("level", ["state", "effects"])
def test_a_leader_that_waits_for_its_timer_is_right_in_a_cluster_and_one_that_gives_up_is_not(level: str) -> None:
    course = ("partitions", 4, 300, level, "announces-by-timer")
    assert in_a_cluster(*course).status is Status.PASS
    gives_up = in_a_cluster(*course, "never-announces-again")
    assert gives_up.status is Status.FAIL
    assert "BeginQuorumEpochRequest to 1" in gives_up.reason
    if level == "state":
        # At level effects the first difference is a Poll that sends nothing, which mutants of many rules explain.
        assert "begin-quorum.resend" in gives_up.rules
