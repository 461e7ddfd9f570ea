"""Scenario 19: a leader that hears a majority and is not heard by it."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

VARIANTS = Variants()

_FETCHES = 3
"""How often an unheard follower asks before its fetch timer fires: once in a request timeout."""


def _unheard_by_third_and_fourth(d: Director) -> None:
    """N1 and N2 work; N1 hears N3 and N4, and its answers to them are lost."""
    start(d, 1, 7)
    d.step("cut one way: 1>3, 1>4; N5 crashed; {2,3,4} are connected, a majority of five")
    d.crash(5)
    d.cut_one_way(1, 3)
    d.cut_one_way(1, 4)
    d.append(1)
    for replica_id in (3, 4):
        d.fetch_timeout(replica_id)
        d.election_timeout(replica_id)
    d.roles("L(7)", "F(7,1)", "F(7,1)", "F(7,1)", "stopped")


class _Period:
    """Watches how long the leader waits for a majority to fetch."""

    def __init__(self, d: Director) -> None:
        self._d = d
        self._since_ms = d.world.time_ms

    def completed(self) -> None:
        """A majority has fetched: check that the check-quorum timer had not fired."""
        d = self._d
        waited_ms = d.world.time_ms - self._since_ms
        period_ms = d.world.configuration.timeouts.check_quorum_period_ms
        d.check("N1's fetchers after a majority fetched", d.state(1).fetchers, frozenset[int]())
        d.check("the check-quorum timer of N1 was started anew in time", waited_ms < period_ms, True)
        self._since_ms = d.world.time_ms


@VARIANTS.variant("with-the-rule", cluster(3))
def three_voters(d: Director) -> None:
    """Three voters: the one that hears the leader is enough."""
    # With three voters the one that hears the leader is a majority together with it: everything commits.
    start(d, 1, 7)
    d.step("cut one way: 1>3")
    d.cut_one_way(1, 3)
    d.append(1)
    d.replicate(2, 1)
    d.high_watermark(1, d.state(1).log.end_offset)


@VARIANTS.variant("five-voters", cluster(5), "CommitProgress", "EventualLeader")
def five_voters(d: Director) -> None:
    """All rules in force: N1 never resigns, nothing commits, and {2,3,4} elect nobody."""
    # N1 cannot commit, never resigns, and N2 refuses everybody else.
    _unheard_by_third_and_fourth(d)
    committed = d.state(1).high_watermark
    period = _Period(d)

    def one_round() -> None:
        for _ in range(_FETCHES):
            d.step("f(2>1) succeeds; f(3>1) counts at N1, its answer is lost")
            d.fetch(2, 1)
            d.fetch(3, 1, answer="lost")
            period.completed()
            d.world.time_ms += d.world.configuration.timeouts.request_timeout_ms - 100
            d.request_timeout(3, 1)
        d.step("ft(3), ft(4): pv(3>4), pv(3>2)")
        d.fetch_timeout(3)
        d.fetch_timeout(4)
        d.pre_vote(3, 4, "granted")
        d.pre_vote(3, 2, "refused")
        d.roles("L(7)", "F(7,1)", "P(7,1)", "P(7,1)", "stopped")
        d.step("et(3), et(4): back to F(7,1), and to fetching")
        d.election_timeout(3)
        d.election_timeout(4)
        d.roles("L(7)", "F(7,1)", "F(7,1)", "F(7,1)", "stopped")
        d.high_watermark(1, committed)

    d.step("the first fetches of N2 bring it up to date")
    d.replicate(2, 1)
    d.fetch(3, 1, answer="lost")
    d.request_timeout(3, 1)
    period.completed()
    d.lasso(one_round, "CommitProgress", "EventualLeader")


SCENARIOS = (
    Scenario(
        19,
        "leader-heard-in-vain",
        "A leader that hears a majority and is not heard by it",
        "gap in KIP-996",
        ("check-quorum.resign", "state.prospective.lost.known-leader", "prevote.follower.rejects-after-fetch"),
        tuple(VARIANTS),
    ),
)
