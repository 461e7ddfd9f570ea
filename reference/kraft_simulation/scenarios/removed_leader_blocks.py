"""Scenario 43: a leader that removes itself and leaves office before a remaining voter has the record.

All variants have every rule in force.
The blocking ones differ from the others in who has fetched the record, or in how many voters there are.
"""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, observe, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set

VARIANTS = Variants()

_OLD = voter_set(1, 2)
_NEW = voter_set(2)


def _removed(d: Director) -> int:
    """N1 leads and removes itself; nobody else has the record yet.  The request."""
    start(d, 1, 5, end_offset=10)
    d.step("RemoveVoter(1,U1): V{2}@10 on N1 only; N1 leads on and counts N2 alone")
    removal = d.remove_voter(1, 1)
    d.line(1, _NEW, 11, "2:10", 10)
    d.voters(2, _OLD)
    return removal


def _restarts(d: Director) -> None:
    """N1 dies and restarts at once: Resigned, then an observer of the next epoch."""
    d.step("N1 crashes and restarts: R(5); et(1): U(6), an observer by its own record, which is on its disk")
    d.crash(1)
    d.restart(1)
    d.election_timeout(1)
    d.never_nominates(1)


@VARIANTS.variant("right", cluster(2))
def voter_has_it(d: Director) -> None:
    """N2 has V{2}@10: L(6) by itself, and the removal commits."""
    # N2 has V{2}@10 without N1 knowing it: it is its own majority.
    removal = _removed(d)
    d.step("f(2>1) brings V{2}@10; the Fetch that would commit it does not come")
    d.fetch(2, 1)
    d.voters(2, _NEW)
    d.high_watermark(1, 10)
    d.unanswered(removal)
    _restarts(d)
    d.step("ft(2): N2 elects itself, commits V{2}@10, and N1 is its observer")
    d.fetch_timeout(2)
    d.roles("U(6)", "L(6)")
    d.records(2, 10, "V LC")
    d.high_watermark(2, 12)
    d.fetch(1, 2)
    observe(d, 2, 1)
    d.roles("F(6,2)", "L(6)")


@VARIANTS.variant("right-odd-set", cluster(3))
def odd_set(d: Director) -> None:
    """2 of {1,2,3} remain: N2 L(6), and the removal is lost."""
    # Without N1 there are 2 of {1,2,3}: they elect N2, and the removal is lost.
    start(d, 1, 5, end_offset=10)
    d.step("RemoveVoter(1,U1): V{2,3}@10 on N1 only")
    d.remove_voter(1, 1)
    _restarts(d)
    d.voters(1, voter_set(2, 3))
    d.step("ft(2), ft(3): N3's grant is enough")
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.lose(3)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.records(2, 10, "LC")
    announce(d, 2)
    observe(d, 2, 1, 3)
    d.step("V{2,3}@10 is cut off N1's log: it is a voter again")
    d.voters(1, voter_set(1, 2, 3))
    d.roles("F(6,2)", "L(6)", "F(6,2)")


def _blocked(d: Director, *others: str) -> None:
    """N1 may not ask and grants nothing; N2 has only N1 to ask.  Everybody runs, and all links work."""
    d.step("ft(2): P(5,1); pv(2>1) => no, and the answer names epoch 6")
    d.fetch_timeout(2)
    d.pre_vote(2, 1, "FENCED_LEADER_EPOCH")

    def one_round() -> None:
        d.roles("U(6)", "U(6)", *others)
        d.step("et(2): P(6), needs 2 of {1,2}; pv(2>1) => no, N1's log is longer: U(6)")
        d.election_timeout(2)
        d.roles("U(6)", "P(6)", *others)
        d.pre_vote(2, 1, "refused")
        d.roles("U(6)", "U(6)", *others)
        d.never_nominates(1)
        d.step("f(1>2), f(2>1) find no leader")
        d.fetch(1, 2, "NOT_LEADER_OR_FOLLOWER")
        d.fetch(2, 1, "NOT_LEADER_OR_FOLLOWER")

    d.lasso(one_round, "EventualLeader")


@VARIANTS.variant("two-voters", cluster(2), "EventualLeader")
def two_voters(d: Director) -> None:
    """N1 alone has V{2}@10: it may not ask, does not grant, and N2 needs 2 of {1,2} for ever."""
    # N1 restarts at once; N2's set still has it.
    _removed(d)
    _restarts(d)
    _blocked(d)
    d.end_offsets(11, 10)


@VARIANTS.variant("observer-has-it", cluster(3, voters=(1, 2)), "EventualLeader")
def observer_has_it(d: Director) -> None:
    """No crash: N1 resigns after a cut, and of the others only the observer N3 has V{2}@10."""
    # Nobody crashes: a link is down for one check-quorum period, and the record reaches the wrong replica.
    _removed(d)
    d.step("cut(1-2); f(3>1) brings V{2}@10 to the observer N3; cq(1): R(5); et(1): U(6); heal")
    d.cut(1, 2)
    d.fetch(3, 1)
    d.voters(3, _NEW)
    d.check_quorum_timeout(1)
    d.roles("R(5)", "F(5,1)", "F(5,1)")
    d.election_timeout(1)
    d.heal(1, 2)
    d.fetch_timeout(3)
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    _blocked(d, "U(6)")
    d.never_nominates(3)
    d.end_offsets(11, 10, 11)


SCENARIOS = (
    Scenario(
        43,
        "removed-leader-blocks",
        "A removed leader that is still needed",
        "gap in KIP-853",
        (
            "identity.voter-definition",
            "observer.never-nominates",
            "voters.effective-on-append",
            "state.voters-set.own-majority",
            "vote.log-check",
        ),
        tuple(VARIANTS),
    ),
)
