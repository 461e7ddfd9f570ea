"""Planted bugs are found under the right name, repeated by one line, and shrunk."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kraft_reference import durability, elections, leadership, polling, replication, transitions, watermark
from kraft_reference.cluster import driver
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.schedule import replay
from kraft_reference.cluster.shrink import replay_checked, shrink
from kraft_reference.cluster.violation import Violation
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.cluster.world import World
from kraft_reference.configuration import Configuration
from kraft_reference.events import ReplaceDisk
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Log, append, truncate
from kraft_reference.outcome import Outcome
from kraft_reference.records import RecordKind
from kraft_reference.roles import TRANSITION, Role
from kraft_reference.state import ReplicaState
from kraft_spec.experiments import failure_of, replicas_without, simulation_of

Plant = Callable[[pytest.MonkeyPatch], None]


def run(plan: RunPlan) -> Violation | None:
    simulation = simulation_of(plan)
    for _ in simulation.run():
        pass
    return simulation.violation


def find(workload: str, seeds: int, **plan: Any) -> Violation | None:
    for seed in range(seeds):
        violation = run(RunPlan(seed, 3, 800, workload, **plan))
        if violation is not None:
            return violation
    return None


def _everybody_is_granted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(elections, "grants_vote", lambda *_: True)
    patch.setattr(elections, "_with_vote", lambda state, requester: state._replace(voted_key=requester))


def _votes_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(elections, "_with_vote", lambda state, _: state)


def _messages_leave_first(patch: pytest.MonkeyPatch) -> None:
    original = durability.effects_of

    def reordered(before: Any, outcome: Outcome) -> Any:
        effects = original(before, outcome)
        durable = len(durability.durable_effects(before, outcome.state))
        return (*effects[durable:], *effects[:durable])

    patch.setattr(durability, "effects_of", reordered)


def _nothing_is_synced(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(polling, "flush", lambda log: log)


def _short_logs_win(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(elections, "up_to_date", lambda *_: True)


def _one_copy_commits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(watermark, "majority_offset", lambda state: state.log.end_offset)


def _divergence_goes_unseen(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(replication, "agrees", lambda log, offset, _: offset <= log.end_offset)


def _voters_survive_truncation(patch: pytest.MonkeyPatch) -> None:
    def kept(log: Log, end_offset: int) -> Log:
        return truncate(log, end_offset)._replace(voters=log.voters)

    patch.setattr(replication, "truncate", kept)


def _epochs_are_lost(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(durability, "as_read_from_disk", lambda state, _: state._replace(epoch=state.log.last_epoch))


def _records_are_garbled(patch: pytest.MonkeyPatch) -> None:
    def garbled(log: Log, records: Any) -> Log:
        changed = [replace(r, value=r.value + 1) if r.kind is RecordKind.DATA else r for r in records]
        return append(log, changed)

    patch.setattr(replication, "append", garbled)


def _pre_votes_leave_traces(patch: pytest.MonkeyPatch) -> None:
    original = elections.after_vote_request

    def remembering(state: Any, configuration: Any, request: Any, draw: Any) -> Outcome:
        outcome = original(state, configuration, request, draw)
        if request.pre_vote and request.epoch == state.epoch:
            return outcome._replace(state=outcome.state._replace(searching=not state.searching))
        return outcome

    patch.setattr(elections, "after_vote_request", remembering)


def _own_votes_do_not_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(transitions, "new_round", transitions.cleared)


def _forbidden_change_of_role(patch: pytest.MonkeyPatch) -> None:
    rows = {key: row for key, row in TRANSITION.items() if key[2] is not Role.RESIGNED}
    patch.setattr(transitions, "TRANSITION", rows)


def _only_unanimity_wins(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(transitions, "is_majority", lambda number, voters: number == len(voters))


def _the_last_voter_is_never_asked(patch: pytest.MonkeyPatch) -> None:
    original = polling.due_election_requests

    def narrowed(state: ReplicaState) -> list[ReplicaKey]:
        last = max((voter.id for voter in state.voters), default=0)
        return [voter for voter in original(state) if voter.id != last]

    patch.setattr(polling, "due_election_requests", narrowed)
    patch.setattr(driver, "due_election_requests", narrowed)


def _announces_once_only(patch: pytest.MonkeyPatch) -> None:
    """Whoever has acknowledged is not announced to again, and neither is whoever has not answered in time."""
    original = leadership.after_begin_quorum_epoch_timeout
    patch.setattr(
        leadership,
        "after_begin_quorum_epoch_timeout",
        lambda state, configuration: original(state, configuration)._replace(state=state),
    )


def _only_the_first_bootstrap_server_is_asked(patch: pytest.MonkeyPatch) -> None:
    original = replication.fetch_targets

    def narrowed(state: ReplicaState, configuration: Configuration) -> tuple[int, ...]:
        targets = original(state, configuration)
        return targets[:1] if state.role is Role.UNATTACHED else targets

    patch.setattr(polling, "fetch_targets", narrowed)


def _only_bootstrap_servers_are_followed(patch: pytest.MonkeyPatch) -> None:
    """An answer that names another leader is not taken at its word."""
    original = transitions.learn

    def narrowed(state: Any, configuration: Any, epoch: int, leader_id: int | None, endpoint: str | None) -> Any:
        known = leader_id if leader_id in configuration.bootstrap_servers else None
        return original(state, configuration, epoch, known, endpoint)

    patch.setattr(replication, "learn", narrowed)


PLANTED: dict[str, tuple[Plant, str, set[str]]] = {
    "everybody is granted": (_everybody_is_granted, "storm", {"VoteOncePerEpoch", "ElectionSafety"}),
    "votes are forgotten": (_votes_are_forgotten, "calm", {"DurableBeforeSend"}),
    "messages leave first": (_messages_leave_first, "calm", {"DurableBeforeSend"}),
    "nothing is synced": (_nothing_is_synced, "calm", {"DurableBeforeSend"}),
    "short logs win": (_short_logs_win, "storm", {"LeaderCompleteness"}),
    "one copy commits": (
        _one_copy_commits,
        "storm",
        {"LeaderCompleteness", "CommittedNeverLost", "StateMachineSafety"},
    ),
    "divergence goes unseen": (_divergence_goes_unseen, "storm", {"LogMatching"}),
    "voters survive truncation": (_voters_survive_truncation, "storm", {"ConfigFollowsLog"}),
    "epochs are lost": (_epochs_are_lost, "storm", {"EpochMonotonic"}),
    "records are garbled": (_records_are_garbled, "calm", {"OffsetEpochUnique"}),
    "Pre-Votes leave traces": (_pre_votes_leave_traces, "calm", {"PreVoteIsPure"}),
    "own votes do not count": (_own_votes_do_not_count, "calm", {"TypeOk"}),
    "only unanimity wins": (_only_unanimity_wins, "crashes", {"EventualLeader"}),
    "the last voter is never asked": (_the_last_voter_is_never_asked, "chaos", {"EverybodyIsAsked"}),
    "a leader announces once only": (_announces_once_only, "partitions", {"EverybodyIsAsked"}),
    "only the first bootstrap server is asked": (
        _only_the_first_bootstrap_server_is_asked,
        "reassignments",
        {"EverybodyIsAsked"},
    ),
    "only bootstrap servers are followed": (
        _only_bootstrap_servers_are_followed,
        "one-server",
        {"EventuallyFetching"},
    ),
    "a forbidden change of role": (_forbidden_change_of_role, "elections", {"Assertion"}),
}


@pytest.mark.parametrize("bug", sorted(PLANTED))
def test_a_planted_bug_is_found_under_its_name(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, workload, properties = PLANTED[bug]
    plant(monkeypatch)
    violation = find(workload, 40)
    assert violation is not None
    assert violation.property_name in properties, violation


@pytest.mark.parametrize(
    ("rule", "workload", "seeds", "properties"),
    [
        ("hw.monotonic", "lossy", 10, {"HwMonotonic"}),
        ("state.resigned.timeout", "storm", 10, {"NotFollowerOfSelf"}),
        ("vote.voter-key", "storm", 100, {"IdentityBinding", "LeaderCompleteness", "ElectionSafety"}),
    ],
)
def test_a_rule_switched_off_is_found(rule: str, workload: str, seeds: int, properties: set[str]) -> None:
    violation = find(workload, seeds, switched_off=(rule,))
    assert violation is not None
    assert violation.property_name in properties, violation


def failing_plan(workload: str, switched_off: tuple[str, ...], properties: set[str], seeds: range) -> RunPlan:
    for seed in seeds:
        plan = RunPlan(seed, 3, 1000, workload, switched_off=switched_off)
        violation = run(plan)
        if violation is not None and violation.property_name in properties:
            return plan
    raise AssertionError(f"no seed in {seeds} finds the bug")


def test_a_failure_shrinks_to_a_schedule_that_repeats_it() -> None:
    plan = failing_plan("storm", ("vote.voter-key",), {"IdentityBinding"}, range(100))
    make_replica = replicas_without(plan.switched_off)
    failure = failure_of(plan)
    assert failure is not None
    assert failure.violation == run(plan)
    assert len(failure.schedule) * 4 < failure.moves
    assert len(failure.occurrences) == len(failure.schedule)
    assert [occurrence.sequence for occurrence in failure.occurrences] == list(range(1, len(failure.schedule) + 1))
    replayed = replay_checked(plan.configuration(), failure.schedule, make_replica)
    assert replayed.violation == failure.shrunk_violation
    assert replayed.occurrences == failure.occurrences
    assert failure.shrunk_violation.property_name == failure.violation.property_name
    for left_out in range(len(failure.schedule)):
        rest = failure.schedule[:left_out] + failure.schedule[left_out + 1 :]
        found = replay_checked(plan.configuration(), rest, make_replica).violation
        assert found is None or found.property_name != failure.violation.property_name
    report = failure.report()
    assert plan.command_line() in report.splitlines()[1]
    assert "ReplaceDisk" in report


def test_missing_progress_shrinks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    _only_unanimity_wins(monkeypatch)
    plan = failing_plan("crashes", (), {"EventualLeader"}, range(40))
    failure = failure_of(plan)
    assert failure is not None
    assert failure.shrunk_violation.property_name == "EventualLeader"
    # One voter that lost its disk is all it takes.
    assert len(failure.schedule) <= 4
    assert any(isinstance(move.event, ReplaceDisk) for move in failure.schedule)
    assert f"shrunk from {failure.moves} moves to {len(failure.schedule)}" in failure.report()


def test_a_run_without_failure_has_nothing_to_investigate() -> None:
    assert failure_of(RunPlan(1, 3, 200, "chaos")) is None


@pytest.mark.parametrize("workload", sorted(WORKLOADS))
def test_a_schedule_replays_to_the_same_occurrences(workload: str) -> None:
    plan = RunPlan(5, 3, 500, workload)
    simulation = plan.simulation(keeps_schedule=True)
    occurrences = list(simulation.run())
    replayed = [occurrence for _, occurrence in replay(World(plan.configuration()), simulation.schedule)]
    assert replayed == occurrences


def test_shrinking_what_does_not_fail_changes_nothing() -> None:
    simulation = RunPlan(5, 3, 100, "calm").simulation(keeps_schedule=True)
    for _ in simulation.run():
        pass
    assert shrink(simulation.schedule, lambda _: None) == simulation.schedule


def test_a_simulation_keeps_its_schedule_only_when_asked() -> None:
    with pytest.raises(ValueError, match="keeps no schedule"):
        assert RunPlan(1).simulation().schedule


def test_the_line_that_repeats_a_run_has_all_that_decides_it() -> None:
    plan = RunPlan(12, 5, 345, "storm", "kafka-4", ("hw.own-epoch", "fetch.replica-key"))
    words = shlex.split(plan.command_line())
    assert words[:2] == ["kraft-spec", "simulate"]
    options = dict(zip(words[2:12:2], words[3:12:2], strict=True))
    assert options == {
        "--seed": "12",
        "--replicas": "5",
        "--steps": "345",
        "--workload": "storm",
        "--profile": "kafka-4",
    }
    assert words[12:] == ["--switch-off", "fetch.replica-key", "--switch-off", "hw.own-epoch"]
