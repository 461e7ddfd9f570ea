"""Peers of other versions: no directory id, no voter key, no endpoint, other levels, another list of voters.

An optional field that is left out is left out by system: software that knows nothing of it never sends it.
"""

from dataclasses import replace

from kraft_conformance.vectors.staging import RecordingDirector
from kraft_conformance.vectors.target import OBSERVED, THREE, Target
from kraft_reference.configuration import Configuration
from kraft_reference.events import AdvanceReassignment, Poll, UpdateFeatures
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import BeginQuorumEpochRequest
from kraft_reference.outcome import Refusal
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import nominate, observe, start, win
from kraft_reference.scenarios.scenario import cluster, voter_set, without_list

_STATIC = cluster(3, static=True)


def _without_directory_id(small: Configuration, replica_id: int) -> Configuration:
    """The software of one replica knows nothing of directory ids."""
    changed = replace(small.replicas[replica_id], key=ReplicaKey(replica_id))
    return replace(small, replicas={**small.replicas, replica_id: changed})


def _without_endpoints(small: Configuration, *replica_ids: int) -> Configuration:
    """The messages of some replicas carry no endpoints."""
    silent = {n: replace(small.replicas[n], speaks_endpoints=False) for n in replica_ids}
    return replace(small, replicas={**small.replicas, **silent})


def _supports(small: Configuration, replica_id: int, least: int, most: int) -> Configuration:
    """One replica supports these levels of kraft.version alone."""
    changed = replace(small.replicas[replica_id], min_version=least, max_version=most)
    return replace(small, replicas={**small.replicas, replica_id: changed})


def _voter_without_directory_id(d: Director) -> None:
    d.election_timeout(3)
    d.step("3 asks by its id alone: 2 votes for 3, and for nobody else in that epoch")
    d.pre_vote(3, 2, "granted")
    d.vote(3, 2, "granted")
    d.begin_quorum_epoch(3, 2)
    d.fetch(2, 3)


def _fetches_without_directory_id(d: Director) -> None:
    start(d, 1, 1, end_offset=2)
    d.append(1)
    d.step("at kraft.version 0 a voter is known by its id: the fetches of 3 commit")
    d.fetch(3, 1)
    d.fetch(3, 1)
    d.high_watermark(1, 3)
    d.step("2 has reported, and 3 cannot: there is no upgrade")
    d.update_voter(2, 1, "ok")
    d.answered(d.update_features(1, 1), "INVALID_UPDATE_VERSION")


def _has_nothing_to_report(d: RecordingDirector) -> None:
    start(d, 1, 1, end_offset=2)
    d.step("3 has no directory id to report")
    d.refuses(3, Poll(), Refusal.NOTHING_DUE)


def _observer_without_directory_id(d: RecordingDirector) -> None:
    start(d, 1, 1, end_offset=4)
    d.step("4 is served, and is no voter to be: a request names a directory id, and a target waits for one")
    d.append(1)
    d.fetch(4, 1)
    d.fetch(4, 1)
    d.high_watermark(1, 4)
    d.answered(d.add_voter(1, ReplicaKey(4)), "INVALID_REQUEST")
    d.reassign(1, 1, 2, 4)
    for _ in range(2):
        for follower in (2, 4):
            d.fetch(follower, 1)
    d.refuses(1, AdvanceReassignment(ReplicaKey(4)), Refusal.NOTHING_DUE)


def _voter_of_the_set_without_directory_id(d: Director) -> None:
    nominate(d, 1, 1)
    win(d, 1)
    d.begin_quorum_epoch(1, 2)
    observe(d, 1, 2)
    d.append(1)
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.step("at kraft.version 1 the set has a directory id of 3: who fetches without one does not count for it")
    d.fetch(3, 1)
    d.fetch(3, 1)
    d.high_watermark(1, 3)
    d.fetch(2, 1)
    d.fetch(2, 1)
    d.high_watermark(1, 4)


def _requests_without_voter_key(d: RecordingDirector) -> None:
    d.election_timeout(1)
    for _ in range(2):
        asked = d.hold(1, 2)
        if d.start is None:
            d.step("pv(1>2), v(1>2), bqe(1>2), none of which says which voter it is for: 2 takes them for its own")
        d.without(asked, "voter_key")
        d.handle(asked, "granted")
    d.roles("L(1)")
    asked = d.outstanding(1, 2, BeginQuorumEpochRequest, Poll())
    d.without(asked, "voter_key")
    d.handle(asked, "ok")
    d.roles("", "F(1,1)")


def _told_without_endpoint(d: Director) -> None:
    nominate(d, 2, 1)
    win(d, 2)
    d.begin_quorum_epoch(2, 1)
    d.step("f(3>1): 1 names the leader, and not where it listens; the set of 3 does")
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.roles("", "", "F(1,2)")
    d.fetch(3, 2)


def _told_without_endpoint_nor_set(d: RecordingDirector) -> None:
    nominate(d, 2, 1)
    win(d, 2)
    d.begin_quorum_epoch(2, 1)
    d.step("f(4>1): 1 names the leader, and not where it listens, nor has 4 a set to look it up in: 4 asks on")
    d.fetch(4, 1, "FENCED_LEADER_EPOCH")
    d.roles("", "", "", "U(1,2)")
    d.fetch(4, 1, "NOT_LEADER_OR_FOLLOWER")
    d.roles("", "", "", "U(1,2)")


def _refused_without_endpoint(d: Director) -> None:
    nominate(d, 2, 1)
    win(d, 2)
    d.begin_quorum_epoch(2, 1)
    d.fetch(1, 2)
    d.election_timeout(3)
    d.step("pv(3>1): the error names the epoch and its leader, and not where it listens; the set of 3 does")
    d.pre_vote(3, 1, "FENCED_LEADER_EPOCH")
    d.roles("", "", "F(1,2)")


def _too_new_for_the_level(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    request = d.add_voter(1, 4)
    d.step("4 supports level 2 alone, which is above the one in force")
    d.learn_versions(1, 4)
    d.answered(request, "INVALID_REQUEST")


def _brokers_too_new(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    for voter in (2, 3):
        d.update_voter(voter, 1, "ok")
    d.step("the registered brokers support level 2 alone")
    d.happen(1, UpdateFeatures(1, 1, 2, 2))
    d.answered(1, "INVALID_UPDATE_VERSION")


def _list_without_the_leader(d: Director) -> None:
    d.step("the list of 3 is {1,3}: it asks 1 alone, and yet votes for 2 and follows it")
    d.election_timeout(3)
    d.poll(3)
    d.lose(3)
    d.election_timeout(2)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.begin_quorum_epoch(2, 3)
    d.roles("", "L(1)", "F(1,2)")
    d.fetch(3, 2)


_OLD_3 = _without_directory_id(_STATIC, 3)

TARGETS = (
    Target(
        "versions.vote-without-directory-id",
        "A vote for a candidate without a directory id is a vote for its id",
        ("identity.voted-key-persisted",),
        2,
        _voter_without_directory_id,
        _OLD_3,
    ),
    Target(
        "versions.fetch-without-directory-id",
        "At kraft.version 0 a voter without a directory id commits; an upgrade needs that of each",
        ("identity.unknown-directory-matches-id", "kraft-version.upgrade-needs-all-voters"),
        1,
        _fetches_without_directory_id,
        _OLD_3,
    ),
    Target(
        "versions.nothing-to-report",
        "A voter without a directory id reports nothing",
        ("update-voter.when-sent",),
        3,
        _has_nothing_to_report,
        _OLD_3,
    ),
    Target(
        "versions.observer-without-directory-id",
        "Who fetches without a directory id is served and cannot become a voter",
        ("identity.could-become-voter", "add-voter.well-formed"),
        1,
        _observer_without_directory_id,
        _without_directory_id(OBSERVED, 4),
    ),
    Target(
        "versions.set-knows-the-directory-id",
        "A Fetch without a directory id does not count for a voter that has one in the set",
        ("identity.unknown-directory-matches-id", "fetch.replica-key"),
        1,
        _voter_of_the_set_without_directory_id,
        _without_directory_id(THREE, 3),
    ),
    Target(
        "versions.requests-without-voter-key",
        "A request that does not say which voter it is for is for whoever gets it",
        ("identity.addressed-to-key",),
        2,
        _requests_without_voter_key,
    ),
    Target(
        "versions.answer-without-endpoint",
        "Who is told of a leader without an endpoint looks it up in its voters set",
        ("discovery.endpoint-lookup",),
        3,
        _told_without_endpoint,
        _without_endpoints(THREE, 1),
    ),
    Target(
        "versions.answer-without-endpoint-nor-set",
        "Who is told of a leader that it cannot look up remembers its id and goes on discovering",
        ("discovery.endpoint-lookup", "discovery.bootstrap"),
        4,
        _told_without_endpoint_nor_set,
        replace(_without_endpoints(cluster(4, (1, 2, 3), formatted=without_list(4)), 1), bootstrap_servers=(1,)),
    ),
    Target(
        "versions.refusal-without-endpoint",
        "A refusal that names a leader without an endpoint is followed where the voters set has one",
        ("discovery.endpoint-lookup", "state.prospective.discovers-leader"),
        3,
        _refused_without_endpoint,
        _without_endpoints(THREE, 1),
    ),
    Target(
        "versions.too-new",
        "A new voter that supports higher levels than the one in force alone is refused",
        ("add-voter.version-must-be-supported",),
        1,
        _too_new_for_the_level,
        _supports(OBSERVED, 4, 2, 2),
    ),
    Target(
        "versions.brokers-too-new",
        "A level below what the registered brokers support is refused",
        ("kraft-version.upgrade-needs-all-observers",),
        1,
        _brokers_too_new,
        _STATIC,
    ),
    Target(
        "versions.another-list",
        "A replica asks the voters that it was formatted with, and follows a leader that is none of them",
        ("state.voters-set.own-majority", "vote.membership-not-checked", "begin-quorum.membership-not-checked"),
        3,
        _list_without_the_leader,
        cluster(3, formatted={3: voter_set(1, 3)}),
    ),
)
