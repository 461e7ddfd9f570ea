"""S19: voter sets and snapshots."""

from kraft_reference.identity import VoterSet
from kraft_reference.log import VotersEntry
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import lead, observe
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()
_CLUSTER = cluster(5, (1, 2, 3), formatted=without_list(4, 5))

_THREE = voter_set(1, 2, 3)
_FOUR = voter_set(1, 2, 3, 4)


def _history(d: Director, replica_id: int, *expected: tuple[int, VoterSet]) -> None:
    entries: tuple[VotersEntry, ...] = d.state(replica_id).log.voters
    d.check(f"sets that N{replica_id} keeps", [(entry.offset, entry.voters) for entry in entries], list(expected))


def _snapshot(d: Director) -> None:
    d.take_snapshot(1, 55)
    base = d.state(1).log.base
    d.check("the snapshot of N1", (base.end_offset, base.kraft_version, base.voters), (55, 1, _THREE))


def _uncommitted(d: Director) -> None:
    """HW 55; 2 and 3 have @55 to @59, and have not said so."""
    lead(d, 1, 1, 55, 2, 3)
    d.append(1, end_offset=60)
    for follower in (2, 3):
        d.fetch(follower, 1)


def _added(d: Director) -> None:
    d.step("V{1,2,3,4}@60 uncommitted, HW 55, LEO 70")
    d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.set_offset(1, 60)
    d.append(1, end_offset=70)
    d.line(1, _FOUR, 70, "1:70 2:55 3:55 4:60", 55)


def _taken(d: Director) -> None:
    _uncommitted(d)
    observe(d, 1, 4)
    _added(d)
    _history(d, 1, (-1, _THREE), (2, _THREE), (60, _FOUR))
    d.step("Snapshot at end offset 55 holds KV(1), V{1,2,3}")
    _snapshot(d)
    d.step("History kept: @2 (as entry in force at 55) and @60")
    _history(d, 1, (54, _THREE), (60, _FOUR))
    d.line(1, _FOUR, 70, "1:70 2:55 3:55 4:60", 55)


@VARIANTS.variant("right", _CLUSTER)
def taken(d: Director) -> None:
    """The snapshot at 55 holds {1,2,3}, the log {1,2,3,4} at 60."""
    # The snapshot holds the set in force at its end, not the newest; an empty replica reads the newest after it.
    _taken(d)
    d.step("5, empty, loads that snapshot: set {1,2,3} at offset 54")
    d.fetch(5, 1, "FENCED_LEADER_EPOCH")
    d.fetch(5, 1)
    d.fetch_snapshot(5, 1)
    _history(d, 5, (54, _THREE))
    d.high_watermark(5, 55)
    d.step("reads V@60")
    d.fetch(5, 1)
    _history(d, 5, (54, _THREE), (60, _FOUR))
    d.step("4 reads V@60: it is a voter")
    d.fetch(4, 1)
    d.fetch_timeout(4)
    d.roles("L(1)", "F(1,1)", "F(1,1)", "P(1,1)", "F(1,1)")


@VARIANTS.variant("right-joins", _CLUSTER)
def joins(d: Director) -> None:
    """4 begins from the snapshot, joins, and reads that it is a voter."""
    # Node 4, empty, loads the snapshot, catches up, is added, and reads V@60: it is a voter.
    _uncommitted(d)
    d.step("Snapshot at end offset 55, LEO 60")
    _snapshot(d)
    _history(d, 1, (54, _THREE))
    d.step("4, empty, loads that snapshot: set {1,2,3} at offset 54")
    d.fetch(4, 1, "FENCED_LEADER_EPOCH")
    d.fetch(4, 1)
    d.fetch_snapshot(4, 1)
    _history(d, 4, (54, _THREE))
    observe(d, 1, 4)
    _added(d)
    d.step("reads V@60: it is a voter")
    d.never_nominates(4)
    d.fetch(4, 1)
    _history(d, 4, (54, _THREE), (60, _FOUR))
    d.fetch_timeout(4)
    d.roles("L(1)", "F(1,1)", "F(1,1)", "P(1,1)")


@VARIANTS.variant("right-truncated", _CLUSTER)
def truncated(d: Director) -> None:
    """@60 is overwritten: {1,2,3} again, from the snapshot."""
    # A new leader overwrites @60: set {1,2,3} again.
    # Literal trimming ("drop everything smaller than 55") would have lost @2, and no set would be left. No switch does
    # that; the story goes to where it would show.
    _taken(d)
    d.step("New leader overwrites @60")
    d.cut(1, 2, 3)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.lose(3)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.lose(2)
    d.records(2, 60, "LC")
    d.begin_quorum_epoch(2, 3)
    observe(d, 2, 3)
    d.line(2, _THREE, 61, "2:61 3:61", 61)
    d.heal(1, 2, 3)
    d.request_timeout(2, 1)
    d.begin_quorum_epoch(2, 1)
    d.answered(1, "NOT_LEADER_OR_FOLLOWER")
    d.voters(1, _FOUR)
    d.fetch(1, 2)
    d.check("log end offset of N1", d.state(1).log.end_offset, 60)
    _history(d, 1, (54, _THREE))
    d.step("and after a restart from the snapshot")
    d.crash(1)
    d.restart(1)
    _history(d, 1, (54, _THREE))
    observe(d, 2, 1)
    d.line(2, _THREE, 61, "1:61 2:61 3:61", 61)


SCENARIOS = (
    Scenario(
        42,
        "s19-snapshots",
        "Snapshots",
        "KIP-853, S19",
        (
            "snapshot.set-at-its-end-offset",
            "snapshot.trim-keeps-last",
            "snapshot.load-resets-history",
            "voters.history-kept-from-snapshot-to-leo",
        ),
        tuple(VARIANTS),
    ),
)
