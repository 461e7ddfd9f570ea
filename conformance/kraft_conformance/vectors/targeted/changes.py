"""Voter changes: who may ask, what the leader finds out first, when it answers."""

from dataclasses import replace

from kraft_conformance.vectors.target import OBSERVED, Target
from kraft_reference.configuration import Configuration
from kraft_reference.events import AddVoter, UpdateFeatures
from kraft_reference.identity import ReplicaKey
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import elect, nominate, observe, start, win
from kraft_reference.scenarios.scenario import cluster

_STATIC = cluster(4, (1, 2, 3), static=True)


def _old_observer() -> Configuration:
    """Replica 4 supports level 0 alone."""
    replicas = dict(OBSERVED.replicas)
    replicas[4] = replace(replicas[4], max_version=0)
    return replace(OBSERVED, replicas=replicas)


def _to_a_follower(d: Director) -> None:
    start(d, 1, 1)
    d.step("AddVoter and RemoveVoter at 2, which follows 1")
    d.answered(d.add_voter(2, 4), "NOT_LEADER_OR_FOLLOWER")
    d.answered(d.remove_voter(2, 3), "NOT_LEADER_OR_FOLLOWER")


def _added(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.step("the leader asks 4 for its versions, then appends the set")
    d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.set_offset(1, 4)


def _versions_asked(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.add_voter(1, 4)
    d.step("4 tells its versions")
    d.learn_versions(1, 4)


def _caught_up(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.append(1, end_offset=6)
    d.fetch(2, 1)
    d.fetch(2, 1)
    d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.step("4 has not caught up when its versions are known; with its Fetch the set is appended")
    d.fetch(4, 1)
    d.fetch(4, 1)
    d.set_offset(1, 6)


def _committed(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    request = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.step("three of four have the record: the client is answered")
    d.fetch(2, 1)
    d.fetch(2, 1)
    d.unanswered(request)
    d.fetch(4, 1)
    d.fetch(4, 1)
    d.answered(request, "NONE")


def _unsupported(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    request = d.add_voter(1, 4)
    d.step("4 supports level 0 alone")
    d.learn_versions(1, 4)
    d.answered(request, "INVALID_REQUEST")


def _timed_out(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    request = d.add_voter(1, 4)
    d.step("the time of the request is over")
    d.voter_change_timeout(1)
    d.answered(request, "REQUEST_TIMED_OUT")


def _deposed(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    request = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(2, 3, "granted")
    d.lose(2)
    d.vote(2, 3, "granted")
    d.lose(2)
    d.step("another leads: the request ends, its record stays for now")
    d.begin_quorum_epoch(2, 1)
    d.answered(request, "NOT_LEADER_OR_FOLLOWER")


def _too_early(d: Director) -> None:
    nominate(d, 1, 1)
    win(d, 1)
    d.lose(1)
    d.step("before anything of the epoch is committed the leader changes no voters")
    d.answered(d.add_voter(1, 4), "REQUEST_TIMED_OUT")
    d.answered(d.remove_voter(1, 3), "REQUEST_TIMED_OUT")


def _busy(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.add_voter(1, 4)
    d.step("one change at a time")
    d.answered(d.remove_voter(1, 3), "REQUEST_TIMED_OUT")


def _duplicate(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.step("the id is a voter already, on this disk or on another; the other is none")
    d.answered(d.add_voter(1, 3), "DUPLICATE_VOTER")
    d.answered(d.add_voter(1, ReplicaKey(3, "U9")), "DUPLICATE_VOTER")
    d.answered(d.remove_voter(1, ReplicaKey(3, "U9")), "VOTER_NOT_FOUND")


def _foreign(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.step("a request that names another cluster")
    d.happen(1, AddVoter(1, ReplicaKey(4, "U4"), "replica-4:9093", cluster_id="another"))
    d.answered(1, "INCONSISTENT_CLUSTER_ID")


def _at_level_0(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.step("voters change at kraft.version 1 and above")
    d.answered(d.add_voter(1, 4), "UNSUPPORTED_VERSION")
    d.answered(d.remove_voter(1, ReplicaKey(3, "U3")), "UNSUPPORTED_VERSION")


def _removed(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    request = d.remove_voter(1, 3)
    d.step("3 reads its removal; the reduced set commits it")
    d.fetch(3, 1)
    d.unanswered(request)
    d.fetch(2, 1)
    d.fetch(2, 1)
    d.answered(request, "NONE")
    d.fetch_timeout(3)


def _moved(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.crash(2)
    d.restart(2, "elsewhere:9093")
    d.fetch(2, 1)
    d.step("2 reports where it listens now; the leader corrects its entry")
    d.update_voter(2, 1, "ok")
    d.fetch(2, 1)
    d.fetch(3, 1)


def _report_refused(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.crash(2)
    d.restart(2, "elsewhere:9093")
    d.fetch(2, 1)
    d.cut_one_way(1, 2)
    d.fetch_timeout(3)
    d.check_quorum_timeout(1)
    d.step("the report reaches a replica that leads no more")
    d.do(lambda: d.world.heal(1, 2))
    d.update_voter(2, 1, "NOT_LEADER_OR_FOLLOWER")


def _leader_moved(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.crash(2)
    d.restart(2, "elsewhere:9093")
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(2, 3, "granted")
    d.lose(2)
    d.step("a leader whose own entry is wrong corrects it")
    d.vote(2, 3, "granted")


def _upgraded(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    for voter in (2, 3):
        d.update_voter(voter, 1, "ok")
    d.step("level 1 and the voters in one batch; answered when it is committed")
    request = d.update_features(1, 1)
    d.unanswered(request)
    d.fetch(2, 1)
    d.fetch(2, 1)
    d.answered(request, "NONE")


def _broker_lacks(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    for voter in (2, 3):
        d.update_voter(voter, 1, "ok")
    d.step("a registered broker supports level 0 alone")
    d.happen(1, UpdateFeatures(1, 1, 0, 0))
    d.answered(1, "INVALID_UPDATE_VERSION")


def _joins(d: Director) -> None:
    elect(d, 1, 1)
    observe(d, 1, 2, 3, 4)
    d.step("4 joins by itself")
    d.join(4, 1)


def _does_not_join(d: Director) -> None:
    elect(d, 1, 1)
    d.fetch(4, 1, "FENCED_LEADER_EPOCH")
    d.step("4 observes, and asks for nothing but records")
    d.fetch(4, 1)
    d.fetch(4, 1)


_JOINING = cluster(4, (1, 2, 3), joining=(4,))

TARGETS = (
    Target(
        "change.not-the-leader",
        "Only the leader changes voters; others say who leads",
        ("add-voter.leader-only", "remove-voter.leader-only"),
        2,
        _to_a_follower,
        OBSERVED,
    ),
    Target(
        "change.versions-first",
        "The leader asks a new voter for its versions before it appends the set, endpoint and versions included",
        ("add-voter.learn-versions", "voters.endpoints-are-part-of-the-set", "add-voter.conditions-hold-at-append"),
        1,
        _added,
        OBSERVED,
        level="effects",
    ),
    Target(
        "change.versions-told",
        "A replica tells which levels of kraft.version it supports",
        ("kraft-version.levels",),
        4,
        _versions_asked,
        OBSERVED,
    ),
    Target(
        "change.catch-up",
        "A new voter catches up before the set is appended",
        ("add-voter.catch-up-first", "add-voter.conditions-hold-at-append"),
        1,
        _caught_up,
        OBSERVED,
        level="effects",
    ),
    Target(
        "change.committed",
        "A majority of the new set commits an addition, and then the client is answered",
        ("add-voter.reply-after-commit", "state.voters-set.own-majority"),
        1,
        _committed,
        OBSERVED,
    ),
    Target(
        "change.unsupported-level",
        "A new voter that does not support the level in force is refused",
        ("add-voter.version-must-be-supported",),
        1,
        _unsupported,
        _old_observer(),
    ),
    Target("change.timed-out", "A request ends when its time is over", ("add-voter.timeout",), 1, _timed_out, OBSERVED),
    Target(
        "change.deposed",
        "A leader that is deposed leaves the outcome open",
        ("add-voter.leader-change-leaves-outcome-open",),
        1,
        _deposed,
        OBSERVED,
    ),
    Target(
        "change.too-early",
        "Nothing changes before the leader has committed something of its epoch",
        ("voters.epoch-committed-before-change",),
        1,
        _too_early,
        OBSERVED,
    ),
    Target("change.busy", "One change at a time", ("voters.one-change-at-a-time",), 1, _busy, OBSERVED),
    Target(
        "change.duplicate",
        "An id is a voter once, and a voter is named by its id and its directory id",
        ("identity.replica-key", "remove-voter.check-order"),
        1,
        _duplicate,
        OBSERVED,
    ),
    Target(
        "change.foreign-cluster",
        "A request for another cluster is refused",
        ("bootstrap.same-cluster-id", "add-voter.check-order"),
        1,
        _foreign,
        OBSERVED,
    ),
    Target(
        "change.static",
        "At kraft.version 0 voters are not added and not removed",
        ("add-voter.unsupported-version", "voters.static-set-at-version-0"),
        1,
        _at_level_0,
        _STATIC,
    ),
    Target(
        "change.removed",
        "A removal is answered when the reduced set has committed it",
        ("remove-voter.reply-after-commit",),
        1,
        _removed,
        OBSERVED,
    ),
    Target(
        "change.becomes-observer",
        "A removed replica observes as soon as it reads its removal, and does not campaign",
        ("remove-voter.removed-node-becomes-observer", "observer.becomes-non-voter"),
        3,
        _removed,
        OBSERVED,
        level="state",
    ),
    Target(
        "change.moved-voter",
        "A voter that listens somewhere else reports it",
        ("update-voter.when-sent",),
        2,
        _moved,
    ),
    Target(
        "change.moved-voter-corrected",
        "The leader corrects the entry of a voter that reports",
        ("voters.endpoints-are-part-of-the-set",),
        1,
        _moved,
    ),
    Target(
        "change.report-not-the-leader",
        "Only the leader takes reports",
        ("update-voter.leader-only",),
        1,
        _report_refused,
    ),
    Target(
        "change.leader-corrects-itself",
        "A new leader corrects its own entry at the start of its epoch",
        ("update-voter.leader-self-update", "state.leader.start-of-epoch"),
        2,
        _leader_moved,
        level="effects",
    ),
    Target(
        "change.upgraded",
        "An upgrade of kraft.version is answered after its commit",
        ("kraft-version.reply-after-commit", "kraft-version.record-gate"),
        1,
        _upgraded,
        cluster(3, static=True),
    ),
    Target(
        "change.upgrade-refused",
        "A level that a registered broker does not support is refused",
        ("kraft-version.upgrade-needs-all-observers",),
        1,
        _broker_lacks,
        cluster(3, static=True),
    ),
    Target(
        "change.joins",
        "A controller with auto join asks to be added",
        ("auto-join.enabled-by-config", "auto-join.uses-the-ordinary-rpcs"),
        4,
        _joins,
        _JOINING,
    ),
    Target(
        "change.does-not-join",
        "A controller without auto join asks for nothing, and puts its directory id in each Fetch",
        ("auto-join.enabled-by-config", "identity.could-become-voter"),
        4,
        _does_not_join,
        OBSERVED,
    ),
)
