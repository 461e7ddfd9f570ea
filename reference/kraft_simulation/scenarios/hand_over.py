"""Scenario 17: a leader shuts down and proposes its successors."""

from kraft_reference.effects import StartTimer, Timer
from kraft_reference.profile import KAFKA_4
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

VARIANTS = Variants()


def _hand_over(d: Director, longer_log: bool = False) -> None:
    start(d, 1, 4)
    if longer_log:
        d.step("N1 appends a record that nobody fetches")
        d.append(1)
    d.step("shutdown(1)")
    d.shutdown(1)
    d.roles("R(4)", "F(4,1)", "F(4,1)", "F(4,1)", "F(4,1)")
    d.check("the candidates", tuple(candidate.id for candidate in d.state(1).preferred_candidates), (2, 3, 4, 5))
    d.step("eqe(1>b) for all b")
    backoffs = {}
    for follower in (2, 3, 4, 5):
        d.end_quorum_epoch(1, follower)
        handled = next(occurrence for occurrence in reversed(d.occurrences) if occurrence.replica_id == follower)
        timers = [effect for effect in handled.effects if isinstance(effect, StartTimer)]
        d.check(f"the timer of N{follower}", [effect.timer for effect in timers], [Timer.FETCH])
        backoffs[follower] = timers[0].duration_ms
    d.check("N2 asks at once", backoffs[2], 0)
    d.check("the backoffs grow", sorted(backoffs.values()), list(backoffs.values()))
    d.step("N2's timer is 0")
    d.fetch_timeout(2)
    d.roles("R(4)", "P(4,1)", "F(4,1)", "F(4,1)", "F(4,1)")


@VARIANTS.variant("with-the-rule", cluster(5))
def hand_over(d: Director) -> None:
    """N2 C(5) and L(5) at once."""
    # The preferred candidate wins at once.
    _hand_over(d)
    d.step("pv(2>3), pv(2>4)")
    d.pre_vote(2, 3, "granted")
    d.pre_vote(2, 4, "granted")
    d.roles("R(4)", "C(5)", "F(4,1)", "F(4,1)", "F(4,1)")
    d.vote(2, 3, "granted")
    d.vote(2, 4, "granted")
    d.roles("R(4)", "L(5)", "U(5,voted=2)", "U(5,voted=2)", "F(4,1)")


@VARIANTS.variant("fetched-flag-kept", cluster(5, profile=KAFKA_4))
def hand_over_blocked(d: Director) -> None:
    """Profile kafka-4: the preferred candidate has 2 of 5 and loses; N3 wins."""
    # The preferred candidate loses, and the second wins with its help.
    _hand_over(d)
    d.step("pv(2>1) => ok, pv(2>3..5) => no: 2 of 5")
    d.pre_vote(2, 1, "granted")
    for voter in (3, 4):
        d.pre_vote(2, voter, "refused")
    d.roles("R(4)", "P(4,1)", "F(4,1)", "F(4,1)", "F(4,1)")
    d.pre_vote(2, 5, "refused")
    d.roles("R(4)", "F(4,1)", "F(4,1)", "F(4,1)", "F(4,1)")
    d.step("N3 (short backoff): grants of 1 and 2")
    d.fetch_timeout(3)
    d.pre_vote(3, 1, "granted")
    d.pre_vote(3, 2, "granted")
    d.roles("R(4)", "F(4,1)", "C(5)", "F(4,1)", "F(4,1)")
    d.vote(3, 1, "granted")
    d.vote(3, 2, "granted")
    d.roles("U(5,voted=3)", "U(5,voted=3)", "L(5)", "F(4,1)", "F(4,1)")


@VARIANTS.variant("fetched-flag-kept-longer-log", cluster(5, profile=KAFKA_4))
def hand_over_blocked_longer_log(d: Director) -> None:
    """Profile kafka-4: N1 refuses, too; N2 and N3 lose, N4 wins."""
    # N1 refuses, too: only the third candidate wins.
    _hand_over(d, longer_log=True)
    d.step("pv(2>1) => no: its log is longer")
    d.pre_vote(2, 1, "refused")
    for voter in (3, 4):
        d.pre_vote(2, voter, "refused")
    d.roles("R(4)", "F(4,1)", "F(4,1)", "F(4,1)", "F(4,1)")
    d.step("N3: the grant of 2 alone")
    d.fetch_timeout(3)
    d.pre_vote(3, 1, "refused")
    d.pre_vote(3, 2, "granted")
    for voter in (4, 5):
        d.pre_vote(3, voter, "refused")
    d.roles("R(4)", "F(4,1)", "F(4,1)", "F(4,1)", "F(4,1)")
    d.step("N4: the grants of 2 and 3")
    d.fetch_timeout(4)
    d.pre_vote(4, 2, "granted")
    d.pre_vote(4, 3, "granted")
    d.vote(4, 2, "granted")
    d.vote(4, 3, "granted")
    d.roles("R(4)", "U(5,voted=4)", "U(5,voted=4)", "L(5)", "F(4,1)")


SCENARIOS = (
    Scenario(
        17,
        "hand-over-blocked",
        "A hand-over blocked by followers that have fetched",
        "gap between the texts",
        ("end-quorum.frees-followers", "end-quorum.handle", "prevote.resigned.grants"),
        tuple(VARIANTS),
    ),
)
