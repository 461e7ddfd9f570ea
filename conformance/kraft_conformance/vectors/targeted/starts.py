"""How replicas begin: formatted alone, with a list, without one, or with static voters; and how they find a leader."""

from kraft_conformance.vectors.target import OBSERVED, Target
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import elect, nominate, start, win
from kraft_reference.scenarios.scenario import cluster, without_list

_STATIC = cluster(3, static=True)
_WITHOUT_LIST = cluster(2, (1,), formatted=without_list(2))


def _alone(d: Director) -> None:
    d.step("et(1): it is the majority of its set")
    d.election_timeout(1)
    d.roles("L(1)")


def _observer_finds(d: Director) -> None:
    elect(d, 1, 1)
    d.step("4 asks a bootstrap server that is no leader, hears who is, and fetches there")
    d.fetch(4, 2, "FENCED_LEADER_EPOCH")
    d.fetch(4, 1)


def _voter_finds(d: Director) -> None:
    nominate(d, 1, 1)
    win(d, 1)
    d.step("3, which no announcement has reached, asks the bootstrap servers")
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.fetch(3, 1)


def _without_list(d: Director) -> None:
    d.election_timeout(1)
    d.step("2 was formatted without a list: it observes, and learns set and level from the log")
    d.fetch(2, 1, "FENCED_LEADER_EPOCH")
    d.fetch(2, 1)


def _static_asks(d: Director) -> None:
    d.step("at kraft.version 0 the static voters vote, and Pre-Vote is the same")
    d.election_timeout(1)
    d.pre_vote(1, 2, "granted")
    d.roles("C(1)")


def _static_wins(d: Director) -> None:
    nominate(d, 1, 1)
    d.step("at kraft.version 0 the first leader writes no voters set")
    d.vote(1, 2, "granted")
    d.records(1, 0, "LC")


def _static_votes(d: Director) -> None:
    nominate(d, 1, 1)
    d.step("v(1>2): the quorum state file of version 0 has the id alone")
    d.vote(1, 2, "granted")


def _observer_waits(d: Director) -> None:
    start(d, 1, 1)
    d.step("ft(4): an observer looks for a leader, and campaigns for nothing")
    d.fetch_timeout(4)
    d.fetch(4, 2, "NOT_LEADER_OR_FOLLOWER")


TARGETS = (
    Target(
        "start.alone",
        "A sole voter elects itself, and writes down the set that it was formatted with",
        ("bootstrap.standalone", "bootstrap.first-leader-writes-records", "state.leader.first-leader"),
        1,
        _alone,
        cluster(1),
        level="effects",
    ),
    Target(
        "start.observer-finds-the-leader",
        "An observer finds the leader by way of a bootstrap server",
        (
            "discovery.bootstrap",
            "discovery.bootstrap-fallback",
            "voters.observer-discovery",
            "identity.observer-definition",
            "observer.states",
            "discovery.leader-endpoint-known",
            "voters.fetch-goes-to-known-leader",
            "fetch.who-fetches",
        ),
        4,
        _observer_finds,
        OBSERVED,
    ),
    Target(
        "start.voter-finds-the-leader",
        "An Unattached voter fetches from the bootstrap servers to find the leader",
        ("discovery.bootstrap", "fetch.who-fetches", "state.learn-higher-epoch.leader"),
        3,
        _voter_finds,
    ),
    Target(
        "start.without-list",
        "A controller without a list begins as an observer",
        ("bootstrap.no-list-means-observer", "identity.observer-definition", "voters.set-from-snapshot-and-log"),
        2,
        _without_list,
        _WITHOUT_LIST,
        level="state",
    ),
    Target(
        "start.static-voters-ask",
        "At kraft.version 0 the static voters are the set, and Pre-Vote works the same",
        (
            "bootstrap.static-quorum",
            "voters.static-set-at-version-0",
            "state.voters-set.fallback-static",
            "prevote.not-gated-by-kraft-version",
            "identity.unknown-directory-matches-id",
        ),
        1,
        _static_asks,
        _STATIC,
    ),
    Target(
        "start.static-leader",
        "At kraft.version 0 there is no VotersRecord",
        ("kraft-version.record-gate", "bootstrap.static-quorum"),
        1,
        _static_wins,
        _STATIC,
        level="effects",
    ),
    Target(
        "start.static-vote",
        "At kraft.version 0 the quorum state file is of version 0, and a vote is decided as ever",
        ("durable.version-by-kraft", "durable.fields-v0", "vote.unsupported-version"),
        2,
        _static_votes,
        _STATIC,
        level="effects",
    ),
    Target(
        "start.observer-loses-the-leader",
        "An observer whose fetch timer fires looks for a leader and does not campaign",
        ("observer.fetch-timeout", "observer.states"),
        4,
        _observer_waits,
        OBSERVED,
    ),
)
