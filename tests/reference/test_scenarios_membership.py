"""The membership scenarios S1 to S24: all there, told by real requests, and found out by a reference that is wrong."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kraft_reference import (
    pending_changes,
    polling,
    replication,
    self_reports,
    snapshots,
    transitions,
    voter_changes,
)
from kraft_reference.changes import Report
from kraft_reference.events import (
    AddVoter,
    AlterPartitionReassignments,
    AppendVoters,
    RemoveVoter,
    UpdateFeatures,
    event_name,
)
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.log import Log, log_on, rebased, truncate
from kraft_reference.messages import AddVoterRequest
from kraft_reference.records import RecordKind
from kraft_reference.roles import Role
from kraft_reference.scenarios import SCENARIOS, Scenario, ScenarioFailure, run, scenario
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import start
from kraft_reference.scenarios.scenario import cluster, voter_set
from kraft_reference.scenarios.watch_sets import have_disjoint_majorities
from kraft_reference.state import ReplicaState, is_voter
from kraft_spec.experiments import play

MEMBERSHIP = [one for one in SCENARIOS if re.match(r"s\d+b?-", one.name)]
REASSIGNING = {f"s{n}" for n in range(20, 25)}
"""Those of KIP-642."""


def test_every_scenario_of_the_text_is_told() -> None:
    labels = [one.name.partition("-")[0] for one in MEMBERSHIP]
    assert len(set(labels)) == len(labels)
    assert set(labels) == {f"s{n}" for n in range(1, 25)} | {"s2b", "s6b", "s7b"}
    for one, label in zip(MEMBERSHIP, labels, strict=True):
        text = "KIP-642" if label in REASSIGNING else "KIP-853"
        assert re.match(rf"{text}, {label.replace('s', 'S')}\b", one.source), one.name


def test_parts_of_a_scenario_are_told_one_by_one() -> None:
    for name, parts in {"s5-directory-id-checked": "abc", "s14-votes-without-membership": "ab"}.items():
        names = {variant.name for variant in scenario(name).variants}
        assert {f"{side}-{part}" for part in parts for side in ("right", "wrong")} <= names
    names = {variant.name for variant in scenario("s15-leader-fails-during-add").variants}
    assert {"right-a", "right-b", "right-c"} == names
    names = {variant.name for variant in scenario("s21-reassignment-cancelled").variants}
    assert {f"right-{part}" for part in "abcd"} | {f"wrong-{part}" for part in "abc"} == names


@pytest.mark.parametrize("one", MEMBERSHIP, ids=lambda one: one.name)
def test_right_has_every_rule_in_force_and_wrong_has_not(one: Scenario) -> None:
    for variant in one.variants:
        without = set(variant.without)
        if variant.name.startswith("right"):
            assert (without, variant.violates) == (set(), ())
        else:
            assert variant.name.startswith("wrong")
            assert without <= set(one.rules)
            assert without or one.name == "s2b-lists-differ", "an assumption, for which there is no switch"


def test_changes_are_asked_for_by_requests() -> None:
    """A set is appended as it is only where no request gets there, and the scripts say why."""
    bare = set()
    asked: set[str] = set()
    for one in MEMBERSHIP:
        for variant in one.variants:
            events = [occurrence.event for occurrence in play(one, variant).occurrences]
            if any(isinstance(event, AppendVoters) for event in events):
                bare.add(f"{one.name}/{variant.name}")
            kinds = (AddVoter, RemoveVoter, UpdateFeatures, AlterPartitionReassignments)
            asked |= {event_name(event) for event in events if isinstance(event, kinds)}
    assert asked == {"AddVoter", "RemoveVoter", "UpdateFeatures", "AlterPartitionReassignments"}
    assert bare == {
        "s3-automatic-joining/wrong",
        "s11-two-changes/right-two-in-one",
        "s11-two-changes/wrong-two-in-one",
        "s16-announced-to-new-voter/right-other-key",
        "s16-announced-to-new-voter/right-other-key-kafka-4",
    }


# ---------------------------------------------------------------------------------------------------------
# Rules that no switch leaves out: a reference without them fails the story, and readably.
# ---------------------------------------------------------------------------------------------------------


def failure(name: str, variant: str = "right") -> ScenarioFailure:
    one = scenario(name)
    with pytest.raises(ScenarioFailure) as caught:
        run(one, one.variant(variant))
    return caught.value


def test_a_first_leader_without_its_records_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transitions, "_writes_voters", lambda *_: False)
    found = failure("s1-standalone-start")
    assert (found.subject, found.expected, found.actual) == ("records in each batch", [3], [1])


def committed_set(state: ReplicaState) -> VoterSet:
    """S12's mutation: the newest set that is known to be committed."""
    known = [entry.voters for entry in state.log.voters[1:] if entry.offset < state.high_watermark]
    return known[-1] if known else state.log.voters[0].voters


def test_a_set_that_waits_for_its_commit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReplicaState, "voters", property(committed_set))
    found = failure("s12-effective-on-append")
    assert found.step == "1. V{1,2,3,4}@10 on 1, 2, 4"


def keeps_sets(log: Log, end_offset: int) -> Log:
    """S13's mutation: the set of a truncated record stays in force."""
    cut = truncate(log, end_offset)
    return cut._replace(voters=(*cut.voters[:-1], cut.voters[-1]._replace(voters=log.voters[-1].voters)))


def test_a_truncation_that_keeps_the_set_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replication, "truncate", keeps_sets)
    found = failure("s13-truncation-reverts")
    assert (found.step, found.subject) == ("1 truncates @10", "voters set of N1")


def trims_all(log: Log, snapshot: Any) -> Log:
    """S19's mutation: every entry below the end of the snapshot is dropped."""
    kept = rebased(log, snapshot)
    return kept._replace(voters=tuple(entry for entry in kept.voters if entry.offset >= snapshot.end_offset))


def newest_in_snapshot(log: Log, snapshot: Any) -> Log:
    """The snapshot holds the newest set of the log, committed or not."""
    newest = snapshot._replace(voters=log.voters[-1].voters, details=log.voters[-1].details)
    return rebased(log, newest)


@pytest.mark.parametrize(
    ("mutation", "subject"),
    [(trims_all, "sets that N1 keeps"), (newest_in_snapshot, "the snapshot of N1")],
)
def test_a_snapshot_with_another_history_is_found(
    monkeypatch: pytest.MonkeyPatch, mutation: Callable[..., Log], subject: str
) -> None:
    monkeypatch.setattr(snapshots, "rebased", mutation)
    assert failure("s19-snapshots").subject == subject


def test_an_id_twice_in_a_set_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """S4's literal reading of the KIP."""
    after_add_voter = voter_changes.after_add_voter

    def without_duplicates(state: ReplicaState, *rest: Any) -> Any:
        others = frozenset(voter for voter in state.voters if voter.id != 3)
        entries = (*state.log.voters[:-1], state.log.voters[-1]._replace(voters=others))
        return after_add_voter(state._replace(log=state.log._replace(voters=entries)), *rest)

    monkeypatch.setattr(voter_changes, "after_add_voter", without_duplicates)
    found = failure("s4-disk-failure")
    assert (found.expected, found.actual) == ("DUPLICATE_VOTER", "none yet")


def test_a_join_that_waits_for_its_commit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """S3, hazard (b): the joining replica has one connection, and cannot acknowledge its own addition."""
    join_request = self_reports.join_request

    def waits(state: ReplicaState, configuration: Any, correlation_id: int) -> Any:
        request = join_request(state, configuration, correlation_id)
        return replace(request, when_committed=True) if isinstance(request, AddVoterRequest) else request

    monkeypatch.setattr(polling, "join_request", waits)
    found = failure("s3-automatic-joining")
    assert (found.subject, found.expected, found.actual) == ("answers of N1 to N2", 1, 0)


def test_a_leader_that_resigns_before_its_removal_commits_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_append(state: ReplicaState) -> bool:
        return state.role is Role.LEADER and not is_voter(state)

    monkeypatch.setattr(pending_changes, "removal_is_committed", at_append)
    found = failure("s7-leader-removed")
    assert found.step.startswith("1. RemoveVoter(1,U1)")


def test_followers_that_leave_a_leader_outside_their_set_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    fetch_targets = replication.fetch_targets

    def members_only(state: ReplicaState, configuration: Any) -> tuple[int, ...]:
        ids = {voter.id for voter in state.voters}
        return tuple(target for target in fetch_targets(state, configuration) if target in ids or not ids)

    monkeypatch.setattr(polling, "fetch_targets", members_only)
    found = failure("s7-leader-removed")
    assert found.step.startswith("2. ack(2)=51")
    assert (found.subject, found.actual) == ("N2", "NOTHING_DUE")


def test_an_upgrade_without_all_reports_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def everybody(state: ReplicaState, *_: Any) -> tuple[Report, ...]:
        return tuple(Report(ReplicaKey(n, f"U{n}"), f"replica-{n}:9093", 0, 1) for n in (1, 2, 3))

    monkeypatch.setattr(voter_changes, "_reports_for", everybody)
    found = failure("s17-kraft-version-upgrade")
    assert (found.expected, found.actual) == ("INVALID_UPDATE_VERSION", "none yet")


def test_an_answer_before_the_commit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with_change = pending_changes.with_change

    def answers_at_append(outcome: Any, configuration: Any, records: Any, change: Any, draw: Any) -> Any:
        return with_change(outcome, configuration, records, change._replace(when_committed=False), draw)

    monkeypatch.setattr(pending_changes, "with_change", answers_at_append)
    found = failure("s6-node-failure")
    assert (found.subject, found.actual) == ("answered requests", [1])


# ---------------------------------------------------------------------------------------------------------
# The watch.
# ---------------------------------------------------------------------------------------------------------

_NEW_DISK = frozenset((ReplicaKey(1, "U1"), ReplicaKey(2, "U2"), ReplicaKey(3, "U3'")))
_STATIC = frozenset(ReplicaKey(n) for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (voter_set(1, 2, 3), voter_set(1, 2, 3), False),
        (voter_set(1), voter_set(1, 2), False),
        (voter_set(1), voter_set(1, 2, 3), True),
        (voter_set(1, 2, 3), voter_set(1, 2, 3, 4), False),
        (voter_set(1, 2, 3), voter_set(1, 2, 3, 4, 5), True),
        (voter_set(2, 3, 4), voter_set(1, 2, 3, 4, 5), True),
        (voter_set(1, 2, 3), voter_set(1, 2, 4), True),
        (voter_set(1, 2), voter_set(3, 4), True),
        (voter_set(1, 2, 3), _NEW_DISK, True),
        (_STATIC, voter_set(1, 2, 3), False),
        (_STATIC, _NEW_DISK, False),
    ],
)
def test_disjoint_majorities(one: VoterSet, other: VoterSet, expected: bool) -> None:
    assert have_disjoint_majorities(one, other) is expected
    assert have_disjoint_majorities(other, one) is expected


def test_a_set_that_is_not_the_newest_of_the_log_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replication, "truncate", keeps_sets)
    director = Director("a/test", cluster(3))
    start(director, 1, 1, end_offset=10)
    director.cut(1, 2, 3)
    director.remove_voter(1, 3)
    director.fetch_timeout(2)
    director.fetch_timeout(3)
    director.lose(3)
    director.pre_vote(2, 3, "granted")
    director.vote(2, 3, "granted")
    director.lose(2)
    director.heal(1, 2, 3)
    director.begin_quorum_epoch(2, 1)
    assert director.watch.violated == {}
    director.fetch(1, 2)
    assert director.watch.violated == {"ConfigFollowsLog": director.occurrences[-1].sequence}


def test_logs_on_snapshots_are_compared_where_both_have_records() -> None:
    """A replica that begins from a snapshot, and one that has everything: nothing is violated, and much is compared."""
    one = scenario("s19-snapshots")
    states = run(one, one.variant("right")).states
    assert (states[1].log.start_offset, states[2].log.start_offset) == (55, 0)
    assert states[1].log.between(55, 60) == states[2].log.between(55, 60)
    assert states[5].log.voters == states[1].log.voters
    assert log_on(states[1].log.base).voters == states[1].log.voters[:1]
    assert states[1].log.record(60).kind is RecordKind.VOTERS
