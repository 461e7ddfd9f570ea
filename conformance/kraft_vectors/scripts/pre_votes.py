"""Pre-Votes: requests and grants."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import lead, nominate, start
from kraft_vectors.openings import lead_unannounced
from kraft_vectors.target import OBSERVED, Targets

TARGETS = Targets()


@TARGETS.vector(
    "prevote.request",
    1,
    "state.unattached.election-timeout",
    "state.prospective.entry",
    "prevote.request.contents",
    "prevote.request.recipients",
    "snapshot.bootstrap-checkpoint",
    configuration=OBSERVED,
)
def _asks(d: Director) -> None:
    """An Unattached voter times out, becomes Prospective and sends a Pre-Vote to every other voter."""
    d.step("et(1): Pre-Votes to every other voter")
    d.election_timeout(1)
    d.poll(1)


@TARGETS.vector("prevote.unattached-grants", 2, "prevote.unattached.grants", "prevote.reply.contents")
@TARGETS.vector(
    "prevote.grant-changes-nothing",
    2,
    "prevote.grant.no-side-effects",
    level="state",
    title="A replica that grants a Pre-Vote changes nothing on disk or in memory",
)
def _unattached_grants(d: Director) -> None:
    """An Unattached voter grants by the log alone."""
    d.election_timeout(1)
    d.step("pv(1>2)")
    d.pre_vote(1, 2, "granted")


@TARGETS.vector("prevote.prospective-grants", 2, "prevote.prospective.grants")
def _prospective_grants(d: Director) -> None:
    """A Prospective grants by the log alone."""
    d.election_timeout(2)
    d.election_timeout(1)
    d.step("pv(1>2)")
    d.pre_vote(1, 2, "granted")


@TARGETS.vector("prevote.candidate-grants", 2, "prevote.candidate.grants")
def _candidate_grants(d: Director) -> None:
    """A Candidate grants a Pre-Vote of its epoch."""
    nominate(d, 2, 1)
    d.vote(2, 1, "granted", answer="lost")
    d.lose(2)
    d.election_timeout(1)
    d.step("pv(1>2) in the epoch that 2 campaigns in")
    d.pre_vote(1, 2, "granted")


@TARGETS.vector("prevote.leader-refuses", 1, "prevote.leader.rejects")
def _leader_refuses(d: Director) -> None:
    """A Leader refuses a Pre-Vote."""
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.step("pv(2>1)")
    d.pre_vote(2, 1, "refused")


@TARGETS.vector("prevote.follower-refuses", 2, "prevote.follower.rejects-after-fetch", "prevote.reply.contents")
def _follower_refuses(d: Director) -> None:
    """A Follower that has fetched refuses a Pre-Vote and names its leader."""
    start(d, 1, 1)
    d.fetch_timeout(3)
    d.step("pv(3>2): 2 has fetched from 1")
    d.pre_vote(3, 2, "refused")


@TARGETS.vector("prevote.follower-grants", 2, "prevote.follower.grants-before-fetch", "begin-quorum.no-fetch-credit")
def _follower_grants(d: Director) -> None:
    """A Follower that has not fetched yet grants a Pre-Vote."""
    lead_unannounced(d, 1)
    d.begin_quorum_epoch(1, 2)
    d.begin_quorum_epoch(1, 3)
    d.fetch_timeout(3)
    d.step("pv(3>2): 2 has not fetched from 1 yet")
    d.pre_vote(3, 2, "granted")


@TARGETS.vector("prevote.log-check", 2, "prevote.request.log-check")
def _log_check(d: Director) -> None:
    """A replica refuses a Pre-Vote with a shorter log."""
    lead(d, 1, 1, 5, 2)
    d.crash(1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.step("pv(3>2): the log of 3 is empty")
    d.pre_vote(3, 2, "refused")
