"""Additions: what the leader finds out first, when it answers; and controllers that join by themselves."""

from dataclasses import replace

from kraft_conformance.vectors.target import OBSERVED, Target
from kraft_reference.configuration import Configuration
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import elect, observe, start
from kraft_reference.scenarios.scenario import cluster


def _old_observer() -> Configuration:
    """Replica 4 supports level 0 alone."""
    replicas = dict(OBSERVED.replicas)
    replicas[4] = replace(replicas[4], max_version=0)
    return replace(OBSERVED, replicas=replicas)


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
