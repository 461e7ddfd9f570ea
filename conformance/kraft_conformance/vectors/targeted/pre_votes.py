"""Pre-Votes: who asks, and who grants."""

from kraft_conformance.vectors.target import OBSERVED, Target
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import lead, nominate, start, win


def _asks(d: Director) -> None:
    d.step("et(1): Pre-Votes to every other voter")
    d.election_timeout(1)
    d.poll(1)


def _unattached_grants(d: Director) -> None:
    d.election_timeout(1)
    d.step("pv(1>2)")
    d.pre_vote(1, 2, "granted")


def _prospective_grants(d: Director) -> None:
    d.election_timeout(2)
    d.election_timeout(1)
    d.step("pv(1>2)")
    d.pre_vote(1, 2, "granted")


def _candidate_grants(d: Director) -> None:
    nominate(d, 2, 1)
    d.vote(2, 1, "granted", answer="lost")
    d.lose(2)
    d.election_timeout(1)
    d.step("pv(1>2) in the epoch that 2 campaigns in")
    d.pre_vote(1, 2, "granted")


def _leader_refuses(d: Director) -> None:
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.step("pv(2>1)")
    d.pre_vote(2, 1, "refused")


def _follower_refuses(d: Director) -> None:
    start(d, 1, 1)
    d.fetch_timeout(3)
    d.step("pv(3>2): 2 has fetched from 1")
    d.pre_vote(3, 2, "refused")


def _follower_grants(d: Director) -> None:
    nominate(d, 1, 1)
    win(d, 1)
    d.begin_quorum_epoch(1, 2)
    d.begin_quorum_epoch(1, 3)
    d.fetch_timeout(3)
    d.step("pv(3>2): 2 has not fetched from 1 yet")
    d.pre_vote(3, 2, "granted")


def _log_check(d: Director) -> None:
    lead(d, 1, 1, 5, 2)
    d.crash(1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.step("pv(3>2): the log of 3 is empty")
    d.pre_vote(3, 2, "refused")


TARGETS = (
    Target(
        "prevote.request",
        "An Unattached voter times out, becomes Prospective and asks every other voter",
        (
            "state.unattached.election-timeout",
            "state.prospective.entry",
            "prevote.request.contents",
            "prevote.request.recipients",
            "snapshot.bootstrap-checkpoint",
        ),
        1,
        _asks,
        OBSERVED,
    ),
    Target(
        "prevote.unattached-grants",
        "An Unattached voter grants on the log alone",
        ("prevote.unattached.grants", "prevote.reply.contents"),
        2,
        _unattached_grants,
    ),
    Target(
        "prevote.grant-changes-nothing",
        "Nothing of a replica that grants a Pre-Vote changes, on disk or in memory",
        ("prevote.grant.no-side-effects",),
        2,
        _unattached_grants,
        level="state",
    ),
    Target(
        "prevote.prospective-grants",
        "A Prospective grants on the log alone",
        ("prevote.prospective.grants",),
        2,
        _prospective_grants,
    ),
    Target(
        "prevote.candidate-grants",
        "A Candidate grants a Pre-Vote of its epoch",
        ("prevote.candidate.grants",),
        2,
        _candidate_grants,
    ),
    Target("prevote.leader-refuses", "A Leader refuses", ("prevote.leader.rejects",), 1, _leader_refuses),
    Target(
        "prevote.follower-refuses",
        "A Follower that has fetched refuses, and names its leader",
        ("prevote.follower.rejects-after-fetch", "prevote.reply.contents"),
        2,
        _follower_refuses,
    ),
    Target(
        "prevote.follower-grants",
        "A Follower that has not fetched yet grants",
        ("prevote.follower.grants-before-fetch", "begin-quorum.no-fetch-credit"),
        2,
        _follower_grants,
    ),
    Target("prevote.log-check", "A shorter log is refused", ("prevote.request.log-check",), 2, _log_check),
)
