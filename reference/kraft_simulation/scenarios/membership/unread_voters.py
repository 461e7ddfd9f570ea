"""Scenario 51: a voters record that stands below the old end of a log that was truncated, and is never read."""

from kraft_reference.profile import KAFKA_4
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, observe, stand, take_over
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()
LEFT_OUT = "voters.set-from-snapshot-and-log"

_STALE, _FOUR, _FIVE = voter_set(1, 2, 3), voter_set(1, 2, 3, 4), voter_set(1, 2, 3, 4, 5)
_OBSERVERS = without_list(4, 5)


def _added_below_the_old_end(d: Director) -> None:
    """N1 is truncated from 7 to 3, and fetches the set with 4 at offset 4, as everybody does."""
    d.step("N1 leads e1, and has X@3 to X@6 alone")
    elect(d, 1, 1)
    observe(d, 1, 2, 3)
    d.append(1, 7)
    d.lose(1)
    d.step("N2 leads e2 with N3; N1 is truncated to 3")
    take_over(d, 2, 3)
    d.begin_quorum_epoch(2, 3)
    observe(d, 2, 3, 4, 5)
    d.begin_quorum_epoch(2, 1)
    observe(d, 2, 1)
    d.end_offsets(4, 4, 4, 4, 4)
    d.step("AddVoter(4): V{1,2,3,4}@4, in all logs, committed")
    added = d.add_voter(2, 4)
    d.learn_versions(2, 4)
    observe(d, 2, 1, 3, 4, 5)
    d.answered(added, "NONE")
    d.records(1, 2, "V LC V")
    for reader in (2, 3, 4):
        d.voters(reader, _FOUR)


def _cut_off_with_one(d: Director) -> None:
    """N2, N4 and N5 commit V{1,2,3,4,5}@5 and X@6; N3 grants N1 its Pre-Vote."""
    d.step("N1 and N3 are cut off; AddVoter(5): V{1,2,3,4,5}@5, and X@6, committed by 2, 4 and 5")
    for replica_id in (1, 3):
        d.cut(replica_id, 2, 4, 5)
    added = d.add_voter(2, 5)
    d.learn_versions(2, 5)
    observe(d, 2, 4, 5)
    d.answered(added, "NONE")
    d.append(2, 7)
    observe(d, 2, 4, 5)
    d.voters(2, _FIVE)
    d.high_watermark(2, 7)
    d.step("ft(1), ft(3); N3 grants its Pre-Vote to N1")
    stand(d, 1, 3)


@VARIANTS.variant("right", cluster(5, (1, 2, 3), formatted=_OBSERVERS))
def voters_read(d: Director) -> None:
    """N1 has {1,2,3,4} from its log, and 2 of 4 are no majority."""
    _added_below_the_old_end(d)
    d.voters(1, _FOUR)
    _cut_off_with_one(d)
    d.roles("P(2,2)", "L(2)", "P(2,2)")


@VARIANTS.variant("right-restart", cluster(5, (1, 2, 3), formatted=_OBSERVERS), "ConfigFollowsLog", mutants=(LEFT_OUT,))
def read_at_restart(d: Director) -> None:
    """A restart reads the whole log: the same end without the rule."""
    _added_below_the_old_end(d)
    d.voters(1, _STALE)
    d.step("N1 restarts, and has {1,2,3,4}")
    d.crash(1)
    d.restart(1)
    d.voters(1, _FOUR)
    observe(d, 2, 1)
    _cut_off_with_one(d)
    d.roles("P(2,2)", "L(2)", "P(2,2)")


def two_commit(d: Director) -> None:
    """N1 leads by the set of three, beside N2, and commits other records at 5 and 6."""
    _added_below_the_old_end(d)
    d.voters(1, _STALE)
    _cut_off_with_one(d)
    d.step("2 of 3: N1 leads e3 with N3, and commits LC@5 and X@6; N2 still leads e2 with 4 and 5")
    d.vote(1, 3, "granted")
    d.lose(1)
    d.roles("L(3)", "L(2)")
    d.begin_quorum_epoch(1, 3)
    observe(d, 1, 3)
    d.append(1, 7)
    observe(d, 1, 3)
    d.high_watermark(1, 7)
    d.records(1, 5, "LC X")
    d.high_watermark(2, 7)
    d.records(2, 5, "V X")


@VARIANTS.variant(
    "wrong",
    cluster(5, (1, 2, 3), formatted=_OBSERVERS, profile=KAFKA_4),
    "CommittedNeverLost",
    "ConfigFollowsLog",
    "ConfigOverlap",
    "ElectionSafety",
    "LeaderCompleteness",
    "NoNeedlessElection",
    "StateMachineSafety",
    mutants=(LEFT_OUT,),
)
def two_leaders(d: Director) -> None:
    """N1 has {1,2,3} and leads e3 with N3, N4 leads e3 with N2 and N5; both have committed."""
    two_commit(d)
    d.step("N2 restarts; N4 leads e3, too, with the votes of 2 and 5")
    d.crash(2)
    d.restart(2)
    d.fetch_timeout(4)
    if d.has_pre_vote(4):
        d.fetch_timeout(5)
        d.pre_vote(4, 2, "granted")
        d.pre_vote(4, 5, "granted")
    d.lose(4)
    d.vote(4, 2, "granted")
    d.vote(4, 5, "granted")
    d.roles("L(3)", "", "F(3,1)", "L(3)")


SCENARIOS = (
    Scenario(
        51,
        "unread-voters",
        "A voters record below the old end of a truncated log",
        "KIP-853; Apache Kafka 4.x",
        (
            "voters.set-from-snapshot-and-log",
            "voters.effective-on-append",
            "voters.truncation-reverts",
        ),
        tuple(VARIANTS),
    ),
)
