"""What seldom happens: levels that nobody has yet, and requests in odd moments."""

from dataclasses import replace

from kraft_conformance.vectors.staging import RecordingDirector
from kraft_conformance.vectors.target import OBSERVED, THREE, Target
from kraft_reference.configuration import Configuration
from kraft_reference.events import AdvanceReassignment, UpdateFeatures
from kraft_reference.outcome import Refusal
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.membership.reassignment_votes import KIP_642_VOTES
from kraft_reference.scenarios.opening import observe, start
from kraft_reference.scenarios.scenario import cluster, voter_set


def _supports_more(small: Configuration, *replica_ids: int) -> Configuration:
    """Some replicas support level 2 of kraft.version too."""
    replicas = dict(small.replicas)
    for n in replica_ids:
        replicas[n] = replace(replicas[n], max_version=2)
    return replace(small, replicas=replicas)


def _newer_voter(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.add_voter(1, 4)
    d.step("4 supports a level more than the one in force")
    d.learn_versions(1, 4)
    d.set_offset(1, 4)


def _no_such_level(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    for voter in (2, 3):
        d.update_voter(voter, 1, "ok")
    d.step("all support level 2, which is two above the one in force")
    d.happen(1, UpdateFeatures(1, 2, 0, 2))
    d.answered(1, "INVALID_UPDATE_VERSION")


def _not_leading(d: RecordingDirector) -> None:
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.step("a step of a reassignment, where no Leader is")
    d.refuses(2, AdvanceReassignment(None), Refusal.NOT_IN_ROLE)


def _last_of_six(d: Director) -> None:
    start(d, 1, 1)
    d.shutdown(1)
    d.step("6 is the fifth of the preferred candidates: it waits")
    d.end_quorum_epoch(1, 6)


def _upgrade_reverted(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    for voter in (2, 3):
        d.update_voter(voter, 1, "ok")
    d.cut(1, 2, 3)
    d.append(1)
    d.update_features(1, 1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(2, 3, "granted")
    d.lose(2)
    d.vote(2, 3, "granted")
    d.lose(2)
    d.begin_quorum_epoch(2, 3)
    observe(d, 2, 3)
    d.heal(1, 2, 3)
    d.request_timeout(2, 1)
    d.begin_quorum_epoch(2, 1)
    d.step("f(1>2): the upgrade goes, and the record before it")
    d.fetch(1, 2)


def _voted_asked_by_a_stranger(d: Director) -> None:
    start(d, 1, 1)
    d.append_voters(1, voter_set(1, 2, 3, 4))
    d.fetch(4, 1)
    for voter in (2, 3, 4):
        d.fetch_timeout(voter)
    d.pre_vote(4, 2, "granted")
    d.pre_vote(4, 3, "granted")
    d.lose(4)
    d.pre_vote(3, 2, "granted")
    d.lose(3)
    d.vote(3, 2, "granted")
    d.lose(3)
    d.step("2 has voted for 3, and knows 4, which asks as well, for no voter")
    d.vote(4, 2, "refused")
    d.lose(4)
    d.election_timeout(4)
    d.step("4 asks in the next epoch, where the vote of 2 is free: 2 refuses, and is Prospective")
    for voter in (2, 1):
        d.pre_vote(4, voter, "granted")
    d.vote(4, 2, "refused")


def _restarts_after_the_removal(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.remove_voter(1, 1)
    d.fetch(2, 1)
    d.fetch(2, 1)
    d.crash(2)
    d.step("2 starts with a leader outside its set, of which it does not know where it listens")
    d.restart(2)


TARGETS = (
    Target(
        "restart.leader-outside",
        "Where a leader outside the own set listens is not known after a restart",
        ("discovery.endpoint-lookup",),
        2,
        _restarts_after_the_removal,
        level="state",
    ),
    Target(
        "change.newer-voter",
        "A new voter may support more than the level in force",
        ("add-voter.version-must-be-supported",),
        1,
        _newer_voter,
        _supports_more(OBSERVED, 4),
        level="effects",
    ),
    Target(
        "change.no-such-level",
        "An upgrade is from level 0 to level 1",
        ("kraft-version.upgrade-needs-all-voters",),
        1,
        _no_such_level,
        _supports_more(cluster(3, static=True), 1, 2, 3),
    ),
    Target(
        "idle.reassignment",
        "Who does not lead takes no step of a reassignment",
        ("reassign.request-leader-only",),
        2,
        _not_leading,
        THREE,
    ),
    Target(
        "resignation.last-of-six",
        "The fifth of the preferred candidates waits",
        ("end-quorum.handle",),
        6,
        _last_of_six,
        cluster(6),
    ),
    Target(
        "fetch.upgrade-reverted",
        "A level goes with the record that is truncated, wherever the log is cut",
        ("fetch.diverging.truncate",),
        1,
        _upgrade_reverted,
        cluster(3, static=True),
        level="state",
    ),
    Target(
        "vote.stranger-after-the-vote",
        "A voter that has voted refuses whom it knows for no voter, and campaigns only if its vote is free",
        ("vote.once-per-epoch",),
        2,
        _voted_asked_by_a_stranger,
        replace(OBSERVED, profile=KIP_642_VOTES),
        level="state",
    ),
)
