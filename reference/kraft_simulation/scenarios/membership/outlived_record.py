"""Scenario 52: a voter set that was never committed outlives the log that held it, when a snapshot takes its place."""

from kraft_reference.profile import KAFKA_4
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, observe, take_over
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()
LEFT_OUT = "snapshot.load-resets-history"

_OWN, _COMMITTED = voter_set(1, 2), voter_set(2, 3)
_JOINS_LATER = without_list(3)


def _snapshot_in_place_of_own_set(d: Director) -> None:
    """N1 has V{1,2} alone, and loads the snapshot of N3, which ends before its log does."""
    d.step("N1 leads e1, and AddVoter(3): V{1,2,3} in all logs")
    elect(d, 1, 1)
    observe(d, 1, 2, 3)
    added = d.add_voter(1, 3)
    d.learn_versions(1, 3)
    observe(d, 1, 2, 3)
    d.answered(added, "NONE")
    d.step("N1 is cut off, removes 3, and appends X to @14: V{1,2} in its log alone")
    d.cut(1, 2, 3)
    d.remove_voter(1, 3)
    d.append(1, 14)
    d.lose(1)
    d.voters(1, _OWN)
    d.step("N3 leads e2 with N2, removes 1: V{2,3} committed; N3 takes a snapshot")
    take_over(d, 3, 2)
    d.begin_quorum_epoch(3, 2)
    observe(d, 3, 2)
    removed = d.remove_voter(3, 1)
    observe(d, 3, 2)
    d.answered(removed, "NONE")
    d.take_snapshot(3, d.state(3).high_watermark)
    d.step("the links heal; N1 loads the snapshot, whose epoch is newer than that of its log")
    d.heal(1, 2, 3)
    d.check_quorum_timeout(1)
    d.election_timeout(1)
    if d.has_pre_vote(1):
        d.fetch(1, 2, "NOT_LEADER_OR_FOLLOWER")
    else:
        # Resigned became Candidate, which N2 refuses and tells of N3.
        d.vote(1, 2, "refused")
    d.fetch(1, 3)
    d.fetch_snapshot(1, 3)


def _removed_beyond_the_cut(d: Director) -> None:
    """N3 commits V{3} alone, and X; N1 and N2 have lost their leader."""
    d.step("N3 is cut off from 1 and 2, removes 2, and commits V{3} and X alone")
    d.cut(3, 1, 2)
    removed = d.remove_voter(3, 2)
    d.answered(removed, "NONE")
    d.append(3, d.state(3).log.end_offset + 1)
    d.high_watermark(3, d.state(3).log.end_offset)
    d.step("ft(1), ft(2)")
    d.fetch_timeout(1)
    if d.has_pre_vote(1):
        d.fetch_timeout(2)


@VARIANTS.variant("right", cluster(3, (1, 2), formatted=_JOINS_LATER))
def snapshot_read(d: Director) -> None:
    """N1 has {2,3} from the snapshot, is no voter, and does not stand."""
    _snapshot_in_place_of_own_set(d)
    d.voters(1, _COMMITTED)
    _removed_beyond_the_cut(d)
    d.roles("F(2,3)", "P(2,3)", "L(2)")


@VARIANTS.variant(
    "wrong",
    cluster(3, (1, 2), formatted=_JOINS_LATER, profile=KAFKA_4),
    "CommittedNeverLost",
    "ConfigFollowsLog",
    "ConfigOverlap",
    "LeaderCompleteness",
    "NoNeedlessElection",
    "StateMachineSafety",
    mutants=(LEFT_OUT,),
)
def two_commit_beside_each_other(d: Director) -> None:
    """N1 keeps {1,2}, leads e3 with the vote of 2, and commits other records at the offsets of N3."""
    _snapshot_in_place_of_own_set(d)
    d.voters(1, _OWN)
    _removed_beyond_the_cut(d)
    d.step("2 of {1,2}: N1 leads e3 and commits beside N3")
    if d.has_pre_vote(1):
        d.pre_vote(1, 2, "granted")
    d.vote(1, 2, "granted")
    d.begin_quorum_epoch(1, 2)
    d.append(1, d.state(1).log.end_offset + 1)
    observe(d, 1, 2)
    d.roles("L(3)", "F(3,1)", "L(2)")
    d.high_watermark(1, d.state(3).log.end_offset)


SCENARIOS = (
    Scenario(
        52,
        "outlived-voters-record",
        "A voter set that outlives its record, when a snapshot takes the place of the log",
        "KIP-853; Apache Kafka 4.x",
        ("snapshot.load-resets-history", "fetch.snapshot.install", "voters.effective-on-append"),
        tuple(VARIANTS),
    ),
)
