"""Scenario 44: a candidate that has not synced what it is elected for crashes between two requests for one vote."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, catch_up, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster

VARIANTS = Variants()


def _flushed(d: Director, *expected: int) -> None:
    """Up to where the logs of the replicas 1, 2, ... survive a crash."""
    actual = tuple(d.state(n).log.flushed for n in range(1, len(expected) + 1))
    d.check("flushed offsets", actual, expected)


@VARIANTS.variant("right", cluster(3))
def record_is_kept(d: Director) -> None:
    """N3 has synced the record when it asks, keeps it over the crash, and is L(2) with it."""
    # N3 syncs its log when it becomes Candidate, so that it asks both times with the same log.
    # No text says that it does. Without it N3 comes back with a log that ends at 3, gets N2's vote again, and leads
    # without the record.
    start(d, 1, 1, end_offset=3)
    d.step("N1 appends a record; N2 fetches it and acknowledges it: HW 4; N3 has fetched it and not synced it")
    d.append(1)
    d.fetch(3, 1)
    d.replicate(2, 1)
    d.end_offsets(4, 4, 4)
    _flushed(d, 4, 4, 3)
    d.high_watermark(1, 4)
    d.step("crash(1); ft(2), ft(3); pv(3>2) => ok: N3 is Candidate and has synced its log")
    d.crash(1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    _flushed(d, 4, 4, 3)
    d.pre_vote(3, 2, "granted")
    d.roles("stopped", "P(1,1)", "C(2)")
    _flushed(d, 4, 4, 4)
    d.step("v(3>2) => ok, the answer is lost")
    d.vote(3, 2, "granted", "lost")
    d.roles("stopped", "U(2,voted=3)", "C(2)")
    d.step("crash(3), restart(3): its vote for itself is on disk, and so is the record")
    d.crash(3)
    d.restart(3)
    d.roles("stopped", "U(2,voted=3)", "C(2)")
    d.end_offsets(4, 4, 4)
    d.step("v(3>2) => ok again, without a look at the log: L(2)")
    d.vote(3, 2, "granted")
    d.records(3, 3, "X LC")
    announce(d, 3)
    d.roles("stopped", "F(2,3)", "L(2)")
    d.step("N2 fetches: the record and the LeaderChange are committed")
    catch_up(d, 3, 2)
    d.records(2, 3, "X LC")
    d.high_watermark(3, 5)
    d.step("N1 returns: R(1), et(1): U(2), and follows")
    d.restart(1)
    d.election_timeout(1)
    catch_up(d, 3, 1)
    d.roles("F(2,3)", "F(2,3)", "L(2)")
    d.end_offsets(5, 5, 5)


SCENARIOS = (
    Scenario(
        44,
        "unsynced-candidate",
        "A candidate loses what it is elected for",
        "gap between the texts",
        ("vote.repeat-grant", "durable.restart.voted-self", "durable.flush-before-fetch"),
        tuple(VARIANTS),
    ),
)
