"""Scenario 2: five servers of which only some reach each other."""

from kraft_reference.roles import Role
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

VARIANTS = Variants()

REFUSAL = "prevote.follower.rejects-after-fetch"


def _full_omission(d: Director) -> None:
    start(d, 3, 7)
    d.step("links down: 1-4, 1-5, 2-5, 3-4, 4-5; N4 U(7)")
    d.cut(4, 1, 3, 5)
    d.cut(5, 1, 2)


@VARIANTS.variant("with-the-rule", cluster(5))
def full_omission(d: Director) -> None:
    """N3 stays L(7) and commits; N4 gets nothing."""
    # N4 asks the only voter that it reaches and is refused, as is N5: nothing gets going.
    # Reading: the text lets N4 start as U(7) with the same log as the others. That log ends in epoch 7, and only a
    # Follower of N3 can have it, with N3 on its disk; so N4 starts as F(7,3) here, and its fetch timer fires.
    _full_omission(d)

    def one_round() -> None:
        d.step("1. et(4), or ft(4)")
        d.fetch_timeout(4)
        d.roles("F(7,3)", "F(7,3)", "L(7)", "P(7,3)", "F(7,3)")
        d.step("2. N4 asks the only voter it reaches, N2")
        d.pre_vote(4, 2, "refused")
        d.election_timeout(4)
        d.roles("F(7,3)", "F(7,3)", "L(7)", "F(7,3)", "F(7,3)")
        d.fetched(4, False)

    one_round()
    d.step("N3 goes on committing with 1, 2, 5")
    d.append(3)
    for follower in (1, 2, 5, 1, 2, 5):
        d.fetch(follower, 3)
    d.high_watermark(3, d.state(3).log.end_offset)
    d.lasso(one_round)


@VARIANTS.variant("without-pre-vote", cluster(5, pre_vote=False), "EventualLeader", "NoNeedlessElection")
def full_omission_without_pre_vote(d: Director) -> None:
    """The leader alternates between N2 and N3 for ever, the epoch grows without bound."""
    # The leader alternates between N3 and N2, and every change raises the epoch by two.
    # Reading: the text has N3 grant N5's vote in step 6. Every leader starts its epoch with a record, which N5 cannot
    # fetch from N2, so that N3 refuses by the log check; its epoch is gone all the same.
    _full_omission(d)
    d.step("1. et(4)")
    d.fetch_timeout(4)
    d.roles("F(7,3)", "F(7,3)", "L(7)", "C(8)", "F(7,3)")

    def change(loser: int, middle: int, voters: tuple[int, ...], blind: int, verdict: str = "refused") -> None:
        """`loser` asks `middle`, which then wins with the voters; `blind` cannot reach the new leader."""
        d.step(f"N{loser} asks the only voter it reaches, N{middle}")
        d.vote(loser, middle, verdict)
        d.step(f"et({middle}); N{middle} asks {voters}")
        d.election_timeout(middle)
        for request in [d.hold(middle, voter) for voter in voters]:
            d.handle(request, "granted", "delivered" if d.state(middle).role is Role.CANDIDATE else "lost")
        for voter in voters:
            d.begin_quorum_epoch(middle, voter)
            d.fetch(voter, middle)
        d.lose(middle)
        d.step(f"ft({blind}), et({blind}): it cannot reach N{middle}")
        if d.state(blind).role is Role.FOLLOWER:
            d.fetch_timeout(blind)
        while d.state(blind).epoch <= d.state(middle).epoch:
            d.election_timeout(blind)

    change(4, 2, (1, 3, 4), blind=5, verdict="granted")
    d.roles("F(9,2)", "L(9)", "F(9,2)", "F(9,2)", "C(10)")
    change(5, 3, (1, 2, 5), blind=4)
    d.roles("F(11,3)", "F(11,3)", "L(11)", "C(12)", "F(11,3)")

    def both_changes() -> None:
        change(4, 2, (1, 3, 4), blind=5)
        change(5, 3, (1, 2, 5), blind=4)

    d.lasso(both_changes, "EventualLeader", epochs_grow=True)


@VARIANTS.variant("without-refusal", cluster(5), "NoNeedlessElection", mutants=(REFUSAL,))
def full_omission_without_refusal(d: Director) -> None:
    """N4 has 2 of 5 and stops, but one lost fetch at N2 costs a change of leader."""
    # N2 grants, but that is 2 of 5; a single lost fetch at N2 still costs one change of leader.
    _full_omission(d)
    d.step("2. N4 asks N2")
    d.fetch_timeout(4)
    d.pre_vote(4, 2, "granted")
    d.check("N4 has 2 of 5", len(d.state(4).granted), 2)
    d.election_timeout(4)
    d.step("6. N5 asks N3; 4-5, 2-5, 1-5 are down")
    d.fetch_timeout(5)
    d.pre_vote(5, 3, "refused")
    d.election_timeout(5)
    d.roles("F(7,3)", "F(7,3)", "L(7)", "F(7,3)", "F(7,3)")
    d.fetch(5, 3)
    d.step("a single lost fetch at N2")
    d.fetch_timeout(2)
    d.roles("F(7,3)", "P(7,3)", "L(7)", "F(7,3)", "F(7,3)")
    d.pre_vote(2, 1, "granted")
    d.pre_vote(2, 4, "granted")
    d.roles("F(7,3)", "C(8)", "L(7)", "F(7,3)", "F(7,3)")
    d.vote(2, 1, "granted")
    d.vote(2, 4, "granted")
    d.roles("U(8)", "L(8)", "L(7)", "U(8)", "F(7,3)")


SCENARIOS = (
    Scenario(
        2,
        "full-omission-flip-flop",
        "Full-omission flip-flop of five servers",
        "KIP-996",
        (REFUSAL,),
        tuple(VARIANTS),
    ),
)
