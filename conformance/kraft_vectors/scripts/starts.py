"""Starts of replicas: formatted alone, with or without a list, or with static voters; and discovery of the leader."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, nominate, start
from kraft_simulation.scenarios.scenario import cluster, without_list
from kraft_vectors.openings import lead_unannounced
from kraft_vectors.target import OBSERVED, STATIC, Targets

TARGETS = Targets()

_WITHOUT_LIST = cluster(2, (1,), formatted=without_list(2))


@TARGETS.vector(
    "start.alone",
    1,
    "bootstrap.standalone",
    "bootstrap.first-leader-writes-records",
    "state.leader.first-leader",
    configuration=cluster(1),
)
def _alone(d: Director) -> None:
    """A sole voter elects itself, and writes the voter set that it was formatted with."""
    d.step("et(1): it is the majority of its set")
    d.election_timeout(1)
    d.roles("L(1)")


@TARGETS.vector(
    "start.observer-finds-the-leader",
    4,
    "discovery.bootstrap",
    "discovery.bootstrap-fallback",
    "voters.observer-discovery",
    "identity.observer-definition",
    "observer.states",
    "discovery.leader-endpoint-known",
    "voters.fetch-goes-to-known-leader",
    "fetch.who-fetches",
    configuration=OBSERVED,
)
def _observer_finds(d: Director) -> None:
    """An observer finds the leader through a bootstrap server."""
    elect(d, 1, 1)
    d.step("4 asks a bootstrap server that is no leader, hears who is, and fetches there")
    d.fetch(4, 2, "FENCED_LEADER_EPOCH")
    d.fetch(4, 1)


@TARGETS.vector(
    "start.voter-finds-the-leader", 3, "discovery.bootstrap", "fetch.who-fetches", "state.learn-higher-epoch.leader"
)
def _voter_finds(d: Director) -> None:
    """An Unattached voter fetches from the bootstrap servers to find the leader."""
    lead_unannounced(d, 1)
    d.step("3, which no announcement has reached, asks the bootstrap servers")
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.fetch(3, 1)


@TARGETS.vector(
    "start.without-list",
    2,
    "bootstrap.no-list-means-observer",
    "identity.observer-definition",
    "voters.set-from-snapshot-and-log",
    configuration=_WITHOUT_LIST,
    level="state",
)
def _without_list(d: Director) -> None:
    """A controller formatted without a list starts as an observer."""
    d.election_timeout(1)
    d.step("2 was formatted without a list: it observes, and learns set and level from the log")
    d.fetch(2, 1, "FENCED_LEADER_EPOCH")
    d.fetch(2, 1)


@TARGETS.vector(
    "start.static-voters-ask",
    1,
    "bootstrap.static-quorum",
    "voters.static-set-at-version-0",
    "state.voters-set.fallback-static",
    "prevote.not-gated-by-kraft-version",
    "identity.unknown-directory-matches-id",
    configuration=STATIC,
)
def _static_asks(d: Director) -> None:
    """At kraft.version 0 the static voters are the set, and Pre-Vote works the same."""
    d.step("at kraft.version 0 the static voters vote, and Pre-Vote is the same")
    d.election_timeout(1)
    d.pre_vote(1, 2, "granted")
    d.roles("C(1)")


@TARGETS.vector(
    "start.static-leader",
    1,
    "kraft-version.record-gate",
    "bootstrap.static-quorum",
    configuration=STATIC,
    level="effects",
)
def _static_wins(d: Director) -> None:
    """At kraft.version 0 there is no VotersRecord."""
    nominate(d, 1, 1)
    d.step("at kraft.version 0 the first leader writes no voters set")
    d.vote(1, 2, "granted")
    d.records(1, 0, "LC")


@TARGETS.vector(
    "start.static-vote",
    2,
    "durable.version-by-kraft",
    "durable.fields-v0",
    "vote.unsupported-version",
    configuration=STATIC,
)
def _static_votes(d: Director) -> None:
    """At kraft.version 0 the quorum state file has version 0, and votes work the same."""
    nominate(d, 1, 1)
    d.step("v(1>2): the quorum state file of version 0 has the id alone")
    d.vote(1, 2, "granted")


@TARGETS.vector(
    "start.observer-loses-the-leader",
    4,
    "observer.fetch-timeout",
    "observer.states",
    "observer.never-nominates",
    configuration=OBSERVED,
)
def _observer_waits(d: Director) -> None:
    """An observer whose fetch timer fires searches for a leader and does not campaign."""
    start(d, 1, 1)
    d.step("ft(4): an observer looks for a leader, and campaigns for nothing")
    d.fetch_timeout(4)
    d.fetch(4, 2, "NOT_LEADER_OR_FOLLOWER")
