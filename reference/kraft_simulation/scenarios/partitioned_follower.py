"""Scenario 1: a follower that was cut off comes back."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, start, win
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

VARIANTS = Variants()

REFUSAL = "prevote.follower.rejects-after-fetch"


def _isolated(d: Director) -> None:
    start(d, 1, 3)
    d.step("1. cut(1-3), cut(2-3)")
    d.cut(3, 1, 2)


@VARIANTS.variant("with-the-rule", cluster(3))
def partitioned_follower(d: Director) -> None:
    """N3 is refused by both and no epoch changes."""
    # N3 goes back and forth between P and F, and is refused by both when the links are back.
    _isolated(d)
    d.step("2. ft(3), then et(3) k times")
    for _ in range(3):
        d.fetch_timeout(3)
        d.roles("L(3)", "F(3,1)", "P(3,1)")
        d.poll(3)
        d.election_timeout(3)
        d.roles("L(3)", "F(3,1)", "F(3,1)")
        d.fetched(3, False)
        d.fetch_unanswered(3, 1)
    d.fetch_timeout(3)
    d.step("3. heal; N3's next request is delivered to N1 and N2")
    d.heal(3, 1, 2)
    d.pre_vote(3, 1, "refused")
    d.roles("L(3)", "F(3,1)", "P(3,1)")
    d.pre_vote(3, 2, "refused")
    d.roles("L(3)", "F(3,1)", "F(3,1)")
    d.fetch(3, 1)
    d.fetched(3, True)


@VARIANTS.variant("with-the-rule-follower", cluster(3))
def partitioned_follower_fetches(d: Director) -> None:
    """N3 is Follower when the links are back, and fetches."""
    # The other end of step 3: N3 is Follower when the links are back, and simply fetches.
    _isolated(d)
    d.step("2. ft(3), then et(3)")
    d.fetch_timeout(3)
    d.election_timeout(3)
    d.step("3. heal; N3 is a Follower already")
    d.heal(3, 1, 2)
    d.fetch(3, 1)
    d.roles("L(3)", "F(3,1)", "F(3,1)")
    d.fetched(3, True)


@VARIANTS.variant("without-pre-vote", cluster(3, pre_vote=False), "NoNeedlessElection")
def partitioned_follower_without_pre_vote(d: Director) -> None:
    """N3 comes back with epoch 7 and deposes N1."""
    # N3 comes back with a larger epoch and puts N1 and N2 out of theirs.
    _isolated(d)
    d.step("2. ft(3), then et(3) k times")
    d.fetch_timeout(3)
    for epoch in (4, 5, 6):
        d.roles("L(3)", "F(3,1)", f"C({epoch})")
        d.poll(3)
        if epoch < 6:
            d.election_timeout(3)
    d.step("3. heal; N3's next request is delivered to N1 and N2")
    d.heal(3, 1, 2)
    d.election_timeout(3)
    requests = [d.hold(3, destination) for destination in (1, 2)]
    d.handle(requests[0], "granted", "held")
    d.roles("U(7,voted=3)", "F(3,1)", "C(7)")
    d.handle(requests[1], "granted")
    d.roles("U(7)", "U(7,voted=3)", "L(7)")


@VARIANTS.variant("leftover-epoch", cluster(3))
def leftover_epoch(d: Director) -> None:
    """An epoch raised before the cut costs exactly one election, which is allowed."""
    # N3's epoch was raised before the cut; one election follows, which prevote.request.higher-epoch allows.
    # How N3 got to C(4): both followers had missed N1 for a while, so N2 granted; N3's Vote requests got lost.
    start(d, 1, 3)
    d.step("N3 becomes C(4) while N2 has lost the leader, too")
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(3, 2, "granted")
    d.roles("L(3)", "P(3,1)", "C(4,voted=3)")
    d.lose(3)
    d.election_timeout(2)
    d.fetch(2, 1)
    d.roles("L(3)", "F(3,1)", "C(4)")
    d.step("1. cut(1-3), cut(2-3)")
    d.cut(3, 1, 2)
    d.step("2. et(3)")
    d.election_timeout(3)
    d.roles("L(3)", "F(3,1)", "P(4,voted=3)")
    d.election_timeout(3)
    d.roles("L(3)", "F(3,1)", "U(4,voted=3)")
    d.election_timeout(3)
    d.step("3. heal")
    d.heal(3, 1, 2)
    d.pre_vote(3, 1, "granted")
    d.roles("U(4)", "F(3,1)", "C(5)")
    win(d, 3)
    announce(d, 3)
    d.roles("F(5,3)", "F(5,3)", "L(5)")
    d.fetch(1, 3)
    d.fetch(2, 3)


SCENARIOS = (
    Scenario(
        1,
        "partitioned-follower",
        "Partitioned follower (network partition disruption)",
        "KIP-996",
        ("state.follower.fetch-timeout", "prevote.leader.rejects", REFUSAL, "prevote.request.higher-epoch"),
        tuple(VARIANTS),
    ),
)
