"""Peers of other versions: without directory id, voter key or endpoint, with other levels or another list of voters.

An optional field that is left out is left out by system: software that knows nothing of it never sends it.
"""

from dataclasses import replace

from kraft_reference.events import AdvanceReassignment, Poll, UpdateFeatures
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import BeginQuorumEpochRequest
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import observe, start
from kraft_simulation.scenarios.scenario import cluster, voter_set, without_list
from kraft_vectors.openings import fetch_in_turn, lead_unannounced, start_reported
from kraft_vectors.staging import RecordingDirector
from kraft_vectors.target import OBSERVED, STATIC, THREE, Targets, with_replicas

TARGETS = Targets()
_OLD_3 = with_replicas(STATIC, 3, key=ReplicaKey(3))
"""The software of 3 has no directory ids."""


@TARGETS.vector("versions.vote-without-directory-id", 2, "identity.voted-key-persisted", configuration=_OLD_3)
def _voter_without_directory_id(d: Director) -> None:
    """A vote for a candidate without a directory id is a vote for its id."""
    d.election_timeout(3)
    d.step("3 asks by its id alone: 2 votes for 3, and for nobody else in that epoch")
    d.pre_vote(3, 2, "granted")
    d.vote(3, 2, "granted")
    d.begin_quorum_epoch(3, 2)
    d.fetch(2, 3)


@TARGETS.vector(
    "versions.fetch-without-directory-id",
    1,
    "identity.unknown-directory-matches-id",
    "kraft-version.upgrade-needs-all-voters",
    configuration=_OLD_3,
)
def _fetches_without_directory_id(d: Director) -> None:
    """At kraft.version 0 a voter without a directory id counts for commits; an upgrade needs all directory ids."""
    start(d, 1, 1, end_offset=2)
    d.append(1)
    d.step("at kraft.version 0 a voter is known by its id: the fetches of 3 commit")
    d.replicate(3, 1)
    d.high_watermark(1, 3)
    d.step("2 has reported, and 3 cannot: there is no upgrade")
    d.update_voter(2, 1, "ok")
    d.answered(d.update_features(1, 1), "INVALID_UPDATE_VERSION")


@TARGETS.vector("versions.nothing-to-report", 3, "update-voter.when-sent", configuration=_OLD_3)
def _has_nothing_to_report(d: RecordingDirector) -> None:
    """A voter without a directory id sends no UpdateVoter."""
    start(d, 1, 1, end_offset=2)
    d.step("3 has no directory id to report")
    d.refuses(3, Poll())


@TARGETS.vector(
    "versions.observer-without-directory-id",
    1,
    "identity.could-become-voter",
    "add-voter.well-formed",
    configuration=with_replicas(OBSERVED, 4, key=ReplicaKey(4)),
)
def _observer_without_directory_id(d: RecordingDirector) -> None:
    """A replica without a directory id may fetch, but cannot become a voter."""
    start(d, 1, 1, end_offset=4)
    d.step("4 is served, and is no voter to be: a request names a directory id, and a target waits for one")
    d.append(1)
    d.replicate(4, 1)
    d.high_watermark(1, 4)
    d.answered(d.add_voter(1, ReplicaKey(4)), "INVALID_REQUEST")
    d.reassign(1, 1, 2, 4)
    fetch_in_turn(d, 1, 2, 4)
    d.refuses(1, AdvanceReassignment(ReplicaKey(4)))


@TARGETS.vector(
    "versions.set-knows-the-directory-id",
    1,
    "identity.unknown-directory-matches-id",
    "fetch.replica-key",
    configuration=with_replicas(THREE, 3, key=ReplicaKey(3)),
)
def _voter_of_the_set_without_directory_id(d: Director) -> None:
    """A Fetch without a directory id does not count for a voter with one in the set."""
    lead_unannounced(d, 1)
    d.begin_quorum_epoch(1, 2)
    observe(d, 1, 2)
    d.append(1)
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.step("at kraft.version 1 the set has a directory id of 3: who fetches without one does not count for it")
    d.replicate(3, 1)
    d.high_watermark(1, 3)
    d.replicate(2, 1)
    d.high_watermark(1, 4)


@TARGETS.vector("versions.requests-without-voter-key", 2, "identity.addressed-to-key")
def _requests_without_voter_key(d: RecordingDirector) -> None:
    """A request without a voter key is for its receiver."""
    d.election_timeout(1)
    for _ in range(2):
        request = d.hold(1, 2)
        if d.start is None:
            d.step("pv(1>2), v(1>2), bqe(1>2), none of which says which voter it is for: 2 takes them for its own")
        d.without(request, "voter_key")
        d.handle(request, "granted")
    d.roles("L(1)")
    request = d.outstanding(1, 2, BeginQuorumEpochRequest)
    d.without(request, "voter_key")
    d.handle(request, "ok")
    d.roles("", "F(1,1)")


@TARGETS.vector(
    "versions.answer-without-endpoint",
    3,
    "discovery.endpoint-lookup",
    configuration=with_replicas(THREE, 1, sends_leader_endpoint=False),
)
def _told_without_endpoint(d: Director) -> None:
    """A replica that learns of a leader without an endpoint looks it up in its voter set."""
    lead_unannounced(d, 2)
    d.begin_quorum_epoch(2, 1)
    d.step("f(3>1): 1 names the leader, and not where it listens; the set of 3 does")
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.roles("", "", "F(1,2)")
    d.fetch(3, 2)


@TARGETS.vector(
    "versions.answer-without-endpoint-nor-set",
    4,
    "discovery.endpoint-lookup",
    "discovery.bootstrap",
    configuration=replace(
        with_replicas(cluster(4, (1, 2, 3), formatted=without_list(4)), 1, sends_leader_endpoint=False),
        bootstrap_servers=(1,),
    ),
)
def _told_without_endpoint_nor_set(d: RecordingDirector) -> None:
    """A replica that cannot look up a leader's endpoint keeps the leader's id and continues discovery."""
    lead_unannounced(d, 2)
    d.begin_quorum_epoch(2, 1)
    d.step("f(4>1): 1 names the leader, and not where it listens, nor has 4 a set to look it up in: 4 asks on")
    d.fetch(4, 1, "FENCED_LEADER_EPOCH")
    d.roles("", "", "", "U(1,2)")
    d.fetch(4, 1, "NOT_LEADER_OR_FOLLOWER")
    d.roles("", "", "", "U(1,2)")


@TARGETS.vector(
    "versions.refusal-without-endpoint",
    3,
    "discovery.endpoint-lookup",
    "state.prospective.discovers-leader",
    configuration=with_replicas(THREE, 1, sends_leader_endpoint=False),
)
def _refused_without_endpoint(d: Director) -> None:
    """A refusal that names a leader without an endpoint is followed if the voter set has the endpoint."""
    lead_unannounced(d, 2)
    d.begin_quorum_epoch(2, 1)
    d.fetch(1, 2)
    d.election_timeout(3)
    d.step("pv(3>1): the error names the epoch and its leader, and not where it listens; the set of 3 does")
    d.pre_vote(3, 1, "FENCED_LEADER_EPOCH")
    d.roles("", "", "F(1,2)")


@TARGETS.vector(
    "versions.too-new",
    1,
    "add-voter.version-must-be-supported",
    configuration=with_replicas(OBSERVED, 4, min_version=2, max_version=2),
)
def _too_new_for_the_level(d: Director) -> None:
    """A new voter that supports only higher levels than the one in force is refused."""
    start(d, 1, 1, end_offset=4)
    request = d.add_voter(1, 4)
    d.step("4 supports level 2 alone, which is above the one in force")
    d.learn_versions(1, 4)
    d.answered(request, "INVALID_REQUEST")


@TARGETS.vector("versions.brokers-too-new", 1, "kraft-version.upgrade-needs-all-observers", configuration=STATIC)
def _brokers_too_new(d: Director) -> None:
    """A level below the range of the registered brokers is refused."""
    start_reported(d)
    d.step("the registered brokers support level 2 alone")
    d.happen(1, UpdateFeatures(1, 1, 2, 2))
    d.answered(1, "INVALID_UPDATE_VERSION")


@TARGETS.vector(
    "versions.another-list",
    3,
    "state.voters-set.own-majority",
    "vote.membership-not-checked",
    "begin-quorum.membership-not-checked",
    configuration=cluster(3, formatted={3: voter_set(1, 3)}),
)
def _list_without_the_leader(d: Director) -> None:
    """A replica requests votes from its formatted voters, and follows a leader outside of them."""
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
