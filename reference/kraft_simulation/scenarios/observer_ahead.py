"""Scenario 20: an epoch that nobody leads, known to one replica only."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

VARIANTS = Variants()


def _third_is_candidate(d: Director) -> None:
    """N3 wins its Pre-Vote with N2, which has not fetched since its own lost round; its Votes stay where they are."""
    start(d, 1, 4)
    d.step("ft(2), et(2): F(4,1), not fetched since; ft(3), pv(3>2) => ok: C(5)")
    d.fetch_timeout(2)
    d.election_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(3, 2, "granted")


@VARIANTS.variant("with-the-rule", cluster(4, voters=(1, 2, 3)))
def voter(d: Director) -> None:
    """A voter ahead carries the epoch on: L(6)."""
    # N2 learns epoch 5, too, but it is a voter: its own Pre-Vote carries the epoch on.
    _third_is_candidate(d)
    d.step("v(3>2), its answer is lost; crash(3)")
    d.vote(3, 2, "granted", answer="lost")
    d.crash(3)
    d.roles("L(4)", "U(5,voted=3)", "stopped", "F(4,1)")
    d.step("f(2>1) does not help; et(2), pv(2>1): N1 moves to epoch 5")
    d.fetch(2, 1, "UNKNOWN_LEADER_EPOCH")
    d.election_timeout(2)
    d.pre_vote(2, 1, "granted")
    d.roles("U(5)", "C(6)", "stopped", "F(4,1)")
    d.vote(2, 1, "granted")
    d.roles("U(6,voted=2)", "L(6)", "stopped", "F(4,1)")


@VARIANTS.variant("observer", cluster(4, voters=(1, 2, 3)), "EventuallyFetching")
def observer(d: Director) -> None:
    """All rules in force: N4 U(5) asks everybody, is refused for ever, and nobody learns its epoch."""
    # N4 learns epoch 5 from N3, which is then gone; nobody else ever hears of it.
    _third_is_candidate(d)
    d.roles("L(4)", "F(4,1)", "C(5)", "F(4,1)")
    d.step("N4's fetch timer fires; f(4>3) names epoch 5")
    d.fetch_timeout(4)
    d.fetch(4, 3, "FENCED_LEADER_EPOCH")
    d.roles("L(4)", "F(4,1)", "C(5)", "U(5)")
    d.step("crash(3); all other links work")
    d.crash(3)
    d.fetch(2, 1)

    def one_round() -> None:
        d.step("f(2>1) succeeds; f(4>1), f(4>2) do not, and nobody learns anything")
        d.fetch(2, 1)
        for server in (1, 2):
            d.fetch(4, server, "UNKNOWN_LEADER_EPOCH")
        d.roles("L(4)", "F(4,1)", "stopped", "U(5)")

    d.lasso(one_round, "EventuallyFetching")


SCENARIOS = (
    Scenario(
        20,
        "observer-ahead-of-the-leader",
        "An observer that knows an epoch that nobody leads",
        "gap between KIP-595 and KIP-996",
        ("fetch.leader-only", "observer.never-nominates", "fetch.response.common"),
        tuple(VARIANTS),
    ),
)
