"""Scenario 3: Scenario A of KIP-996."""

from kraft_reference.roles import Role
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

VARIANTS = Variants()

REFUSAL = "prevote.follower.rejects-after-fetch"


@VARIANTS.variant("with-the-rule", cluster(3))
def scenario_a(d: Director) -> None:
    """N3 refuses, N1 stays L(4) and commits with {1,3}."""
    # N3 has a working leader and refuses; N2 waits until its link is back.
    start(d, 1, 4, end_offset=10)
    d.end_offsets(10, 10, 10)
    d.step("1. cut(1-2)")
    d.cut(1, 2)

    def one_round() -> None:
        d.step("2. ft(2)")
        d.fetch_timeout(2)
        d.roles("L(4)", "P(4,1)", "F(4,1)")
        d.step("3. pv(2>3) with (epoch 4, LEO 10)")
        d.pre_vote(2, 3, "refused")
        d.roles("L(4)", "P(4,1)", "F(4,1)")
        d.election_timeout(2)
        d.roles("L(4)", "F(4,1)", "F(4,1)")
        d.fetched(2, False)

    one_round()
    d.lasso(one_round)
    d.step("N1 commits with {1,3}")
    d.append(1)
    d.replicate(3, 1)
    d.high_watermark(1, 11)
    d.step("heal(1-2): f(2>1) succeeds")
    d.heal(1, 2)
    d.fetch(2, 1)
    d.roles("L(4)", "F(4,1)", "F(4,1)")
    d.fetched(2, True)


def _scenario_a_change(d: Director, old: int, new: int, epoch: int) -> None:
    d.step(f"1. cut(1-2); 2. ft({new})")
    d.cut(1, 2)
    d.fetch_timeout(new)
    d.step(f"3. pv({new}>3)")
    d.pre_vote(new, 3, "granted")
    d.check(f"N{new} is Candidate of the next epoch", d.state(new).epoch, epoch)
    d.step(f"4. v({new}>3)")
    d.vote(new, 3, "granted")
    d.begin_quorum_epoch(new, 3)
    d.fetch(3, new)
    d.check(f"N{old} still leads the epoch before", (d.state(old).role, d.state(old).epoch), (Role.LEADER, epoch - 1))


@VARIANTS.variant("without-refusal", cluster(3), "EventualLeader", "NoNeedlessElection", mutants=(REFUSAL,))
def scenario_a_without_refusal(d: Director) -> None:
    """The leadership bounces between N1 and N2 for ever."""
    # N3 helps whoever asks, although it always has a working leader: the leadership bounces for ever.
    start(d, 1, 4, end_offset=10)

    def change(old: int, new: int, epoch: int) -> None:
        _scenario_a_change(d, old, new, epoch)
        d.step(f"5. heal(1-2) long enough for N{old} to follow N{new} and catch up")
        d.heal(1, 2)
        # The announcement got lost on the cut link; its connection is given up, and it is due again.
        d.request_timeout(new, old)
        d.begin_quorum_epoch(new, old)
        d.replicate(old, new)

    change(1, 2, 5)
    d.roles("F(5,2)", "L(5)", "F(5,2)")
    d.step("6. again with 1 and 2 swapped")
    change(2, 1, 6)
    d.roles("L(6)", "F(6,1)", "F(6,1)")

    def both_changes() -> None:
        epoch = d.state(1).epoch
        change(1, 2, epoch + 1)
        change(2, 1, epoch + 2)

    d.lasso(both_changes, "EventualLeader", epochs_grow=True)


@VARIANTS.variant("without-refusal-link-stays-cut", cluster(3), "NoNeedlessElection", mutants=(REFUSAL,))
def scenario_a_one_change(d: Director) -> None:
    """One change; then the log check refuses N1."""
    # If the link stays cut, N1 lacks N2's record of epoch 5 and is refused by the log check.
    start(d, 1, 4, end_offset=10)
    _scenario_a_change(d, 1, 2, 5)
    d.roles("L(4)", "L(5)", "F(5,2)")
    d.step("5. the link stays cut; N1 finds out by check quorum")
    d.check_quorum_timeout(1)
    d.election_timeout(1)
    d.roles("U(5)", "L(5)", "F(5,2)")
    d.fetch(1, 3, "NOT_LEADER_OR_FOLLOWER")
    d.roles("F(5,2)", "L(5)", "F(5,2)")
    d.step("6. ft(1), pv(1>3)")

    def one_round() -> None:
        d.fetch_timeout(1)
        d.pre_vote(1, 3, "refused")
        d.roles("P(5,2)", "L(5)", "F(5,2)")
        d.election_timeout(1)
        d.roles("F(5,2)", "L(5)", "F(5,2)")

    d.end_offsets(10, 11, 11)
    d.lasso(one_round)


SCENARIOS = (
    Scenario(
        3,
        "scenario-a",
        "Scenario A: two up-to-date servers without a stable link",
        "KIP-996",
        (REFUSAL,),
        tuple(VARIANTS),
    ),
)
