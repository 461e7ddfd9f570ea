"""Scenarios 6 and 7: a voter that does not know that it was removed is stuck, or in the way of the others."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import nominate, start, win
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set

REMOVED_VOTER_STUCK = Variants()
REMOVED_VOTER_DISTURBS = Variants()

REFUSAL = "prevote.follower.rejects-after-fetch"


def _remove_third(d: Director) -> None:
    """N1 appends Voters{1,2}, which N3 does not read, and commits it."""
    d.step("1. cut(1-3)")
    d.cut(1, 3)
    d.step("2. N1 appends Voters{1,2}; f(2>1) twice; it commits")
    request = d.remove_voter(1, 3)
    d.voters(1, voter_set(1, 2))
    d.unanswered(request)
    d.replicate(2, 1)
    d.high_watermark(1, d.state(1).log.end_offset)
    d.answered(request, "NONE")


def _removed_asks(d: Director) -> None:
    start(d, 1, 6)
    _remove_third(d)
    d.step("3. ft(3)")
    d.fetch_timeout(3)
    d.roles("L(6)", "F(6,1)", "P(6,1)")
    d.voters(3, voter_set(1, 2, 3))
    d.step("4. pv(3>2)")
    d.pre_vote(3, 2, "refused")
    d.roles("L(6)", "F(6,1)", "P(6,1)")
    d.step("5. heal(1-3)")
    d.heal(1, 3)


def _reads_its_removal(d: Director) -> None:
    d.roles("L(6)", "F(6,1)", "F(6,1)")
    d.step("f(3>1) brings Voters{1,2}")
    d.fetch(3, 1)
    d.roles("L(6)", "F(6,1)", "F(6,1)")
    d.voters(3, voter_set(1, 2))
    d.never_nominates(3)


@REMOVED_VOTER_STUCK.variant("with-the-rule", cluster(3))
def removed_voter(d: Director) -> None:
    """et(3): N3 F(6,1), fetches, is an observer."""
    # `et(3)` ends the round; N3 knows the leader, follows and reads that it was removed.
    _removed_asks(d)
    d.step("et(3) ends the round")
    d.election_timeout(3)
    _reads_its_removal(d)


@REMOVED_VOTER_STUCK.variant("with-the-rule-refused", cluster(3))
def removed_voter_refused(d: Director) -> None:
    """N1's refusal ends the round as well."""
    # The other end of the round: a refusal of N1.
    _removed_asks(d)
    d.step("a refusal of N1 ends the round")
    d.request_timeout(3, 1)
    d.pre_vote(3, 1, "refused")
    _reads_its_removal(d)


@REMOVED_VOTER_STUCK.variant("no-known-leader-named", cluster(3))
def removed_voter_leader_named(d: Director) -> None:
    """A refusal names leader 1 to N3 P(6)."""
    _without_known_leader(d)
    d.step("4. pv(3>2): the refusal names leader 1")
    d.pre_vote(3, 2, "refused")
    d.step("5. heal(1-3)")
    d.heal(1, 3)
    _reads_its_removal(d)


def _without_known_leader(d: Director) -> None:
    """N3 knows epoch 6 from a Vote request only."""
    nominate(d, 1, 6)
    requests = [d.hold(1, voter) for voter in (2, 3)]
    d.handle(requests[0], "granted")
    d.handle(requests[1], "granted", "lost")
    d.begin_quorum_epoch(1, 2)
    d.lose(1)
    d.roles("L(6)", "F(6,1)", "U(6,voted=1)")
    d.replicate(2, 1)
    _remove_third(d)
    d.step("3. et(3)")
    d.election_timeout(3)
    d.roles("L(6)", "F(6,1)", "P(6,voted=1)")


@REMOVED_VOTER_STUCK.variant("no-known-leader-bootstrap", cluster(3))
def removed_voter_bootstrap(d: Director) -> None:
    """No answer: N3 U(6), and a bootstrap server names leader 1."""
    # No answer at all: Unattached, and the bootstrap servers name the leader.
    _without_known_leader(d)
    d.step("4. no answer comes at all; et(3)")
    d.poll(3)
    d.election_timeout(3)
    d.roles("L(6)", "F(6,1)", "U(6,voted=1)")
    d.step("f(3>bootstrap) names leader 1")
    d.fetch(3, 2, "NOT_LEADER_OR_FOLLOWER")
    d.step("5. heal(1-3)")
    d.heal(1, 3)
    _reads_its_removal(d)


@REMOVED_VOTER_STUCK.variant(
    "without-lost-pre-vote", cluster(3), "EventuallyFetching", mutants=("state.prospective.lost.known-leader",)
)
def removed_voter_stuck(d: Director) -> None:
    """N3 stays P(6,1) for ever and never learns that it was removed."""
    # Prospective is left for Candidate or a larger epoch only, and does not fetch: N3 never learns.
    _removed_asks(d)
    d.request_timeout(3, 1)
    d.pre_vote(3, 1, "refused")
    d.roles("L(6)", "F(6,1)", "P(6,1)")

    def one_round() -> None:
        d.step("et(3): another round, refused again")
        d.election_timeout(3)
        d.pre_vote(3, 1, "refused")
        d.pre_vote(3, 2, "refused")
        d.roles("L(6)", "F(6,1)", "P(6,1)")

    d.lasso(one_round, "EventuallyFetching")


@REMOVED_VOTER_DISTURBS.variant("with-the-rule", cluster(3))
def removed_voter_disturbs_nobody(d: Director) -> None:
    """Both refuse, no epoch changes."""
    _removed_asks(d)
    d.request_timeout(3, 1)
    d.step("pv(3>1)")
    d.pre_vote(3, 1, "refused")
    d.roles("L(6)", "F(6,1)", "F(6,1)")


@REMOVED_VOTER_DISTURBS.variant("without-pre-vote", cluster(3, pre_vote=False), "NoNeedlessElection")
def removed_voter_disturbs(d: Director) -> None:
    """N3 C(7) ends N1's epoch although it cannot win."""
    # N3 cannot win, because its log is shorter, but it ends N1's epoch.
    start(d, 1, 6)
    _remove_third(d)
    d.heal(1, 3)
    d.step("3. ft(3); v(3>2), v(3>1)")
    d.fetch_timeout(3)
    d.roles("L(6)", "F(6,1)", "C(7)")
    d.vote(3, 2, "refused")
    d.roles("L(6)", "U(7)", "C(7)")
    d.vote(3, 1, "refused")
    d.roles("U(7)", "U(7)", "C(7)")


@REMOVED_VOTER_DISTURBS.variant("without-pre-vote-link-cut", cluster(3, pre_vote=False), "NoNeedlessElection")
def removed_voter_disturbs_for_ever(d: Director) -> None:
    """N3 cannot reach N1 and deposes it again and again by way of N2."""
    # The link 1-3 stays cut, so N3 never reads that it was removed; N1 learns the epochs from N2.
    start(d, 1, 6)
    _remove_third(d)

    def one_round() -> None:
        d.step("ft(3) and et(3) until N3 has a larger epoch; v(3>2)")
        epoch = d.state(1).epoch
        d.fetch_timeout(3)
        d.roles(f"L({epoch})", f"F({epoch},1)", f"C({epoch + 1})")
        d.vote(3, 2, "refused")
        d.step("N1 learns the epoch from N2")
        d.begin_quorum_epoch_timeout(1)
        d.begin_quorum_epoch(1, 2, "FENCED_LEADER_EPOCH")
        d.roles(f"U({epoch + 1})", f"U({epoch + 1})", f"C({epoch + 1})")
        d.step("N1 is elected again")
        d.election_timeout(1)
        win(d, 1)
        d.begin_quorum_epoch(1, 2)
        d.fetch(2, 1)
        d.step("et(3); N2 names N1, which N3 cannot reach")
        d.election_timeout(3)
        d.vote(3, 2, "refused")
        d.roles(f"L({epoch + 2})", f"F({epoch + 2},1)", f"F({epoch + 2},1)")
        d.fetch_unanswered(3, 1)

    one_round()
    d.lasso(one_round, epochs_grow=True)


SCENARIOS = (
    Scenario(
        6,
        "removed-voter-stuck",
        "Removed voter stuck",
        "KIP-996",
        ("state.prospective.lost.known-leader", "state.prospective.lost.no-leader", "state.unattached.entry-timer"),
        tuple(REMOVED_VOTER_STUCK),
    ),
    Scenario(
        7,
        "removed-voter-disturbs",
        "Removed voter disturbs the others",
        "KIP-853",
        ("prevote.leader.rejects", REFUSAL),
        tuple(REMOVED_VOTER_DISTURBS),
    ),
)
