"""What voters report of themselves, and kraft.version."""

from dataclasses import replace

from kraft_conformance.vectors.target import THREE, Target
from kraft_reference.configuration import Configuration
from kraft_reference.events import Poll, UpdateFeatures
from kraft_reference.messages import UpdateVoterRequest
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import start
from kraft_reference.scenarios.scenario import cluster


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


def _report_of_an_older_epoch(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.crash(2)
    d.restart(2, "elsewhere:9093")
    d.fetch(2, 1)
    late = d.outstanding(2, 1, UpdateVoterRequest, Poll())
    d.shutdown(1)
    d.end_quorum_epoch(1, 3)
    d.election_timeout(1)
    d.election_timeout(1)
    d.pre_vote(1, 3, "granted")
    d.lose(1)
    d.vote(1, 3, "granted")
    d.lose(1)
    d.roles("L(3)")
    d.step("1 leads again, and the report was for the leader of epoch 1")
    d.handle(late, "FENCED_LEADER_EPOCH")


def _without_the_level(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.crash(2)
    d.restart(2, "elsewhere:9093")
    d.fetch(2, 1)
    d.step("2 listens somewhere else, and supports level 0 alone where level 1 is in force: its entry stays as it was")
    d.update_voter(2, 1, "INVALID_REQUEST")


def _without_level_0(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.step("2 supports level 1 alone where level 0 is in force: the leader takes no note of it")
    d.update_voter(2, 1, "INVALID_REQUEST")


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


def _old_voter() -> Configuration:
    """Replica 2 supports level 0 alone."""
    replicas = dict(THREE.replicas)
    replicas[2] = replace(replicas[2], max_version=0)
    return replace(THREE, replicas=replicas)


def _new_voter() -> Configuration:
    """At kraft.version 0, replica 2 supports level 1 alone."""
    static = cluster(3, static=True)
    replicas = dict(static.replicas)
    replicas[2] = replace(replicas[2], min_version=1)
    return replace(static, replicas=replicas)


TARGETS = (
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
        "change.report-of-an-older-epoch",
        "A report for the leader of another epoch is refused",
        ("update-voter.leader-only",),
        1,
        _report_of_an_older_epoch,
    ),
    Target(
        "change.report-without-the-level",
        "A report of a range without the kraft.version in force is refused",
        ("update-voter.range-must-include-finalized",),
        1,
        _without_the_level,
        _old_voter(),
    ),
    Target(
        "change.report-without-level-0",
        "At kraft.version 0 too the range has to have the level in force",
        ("update-voter.range-must-include-finalized",),
        1,
        _without_level_0,
        _new_voter(),
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
)
