"""S7 and S7b: the leader is removed."""

from kraft_reference.identity import ReplicaKey
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, observe, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set

LEADER_REMOVED = Variants()
LEADER_COUNTS_ITSELF = Variants()

EXCLUDED = "hw.leader-excluded"


@LEADER_REMOVED.variant("right", cluster(3))
def leader_removed(d: Director) -> None:
    """1 leads until V{2,3}@50 commits, answers, resigns; 2 leads e6."""
    # The followers go on fetching from a leader that their set does not name; otherwise V@50 could never commit. 1 does
    # not resign before the commit; otherwise the removal might be lost.
    start(d, 1, 5, end_offset=50)
    d.line(1, voter_set(1, 2, 3), 50, "1:50 2:50 3:50", 50)
    d.step("1. RemoveVoter(1,U1): V{2,3}@50; 1 stays leader, counts only 2 and 3")
    removal = d.remove_voter(1, 1)
    d.set_offset(1, 50)
    d.line(1, voter_set(2, 3), 51, "2:50 3:50", 50)
    d.roles("L(5)")
    d.step("2. ack(2)=51; 2 keeps fetching although 1 is not in its set")
    d.fetch(2, 1)
    d.voters(2, voter_set(2, 3))
    d.fetch(2, 1)
    d.line(1, voter_set(2, 3), 51, "2:51 3:50", 50)
    d.unanswered(removal)
    d.roles("L(5)", "F(5,1)", "F(5,1)")
    d.step("3. ack(3)=51")
    d.replicate(3, 1)
    d.high_watermark(1, 51)
    d.answered(removal, "NONE")
    d.step("4. 1 sends EndQuorumEpoch(e5, preferred 2,3) to 2 and 3")
    d.roles("R(5)", "F(5,1)", "F(5,1)")
    d.check("preferred candidates", d.state(1).preferred_candidates, (ReplicaKey(2, "U2"), ReplicaKey(3, "U3")))
    d.end_quorum_epoch(1, 2)
    d.end_quorum_epoch(1, 3)
    d.step("5. 2 wins e6 with 2 of {2,3}; LC@51")
    d.fetch_timeout(2)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.records(2, 51, "LC")
    announce(d, 2)
    d.replicate(3, 2)
    d.line(2, voter_set(2, 3), 52, "2:52 3:52", 52)
    d.step("1 is an observer")
    d.election_timeout(1)
    d.never_nominates(1)
    d.fetch(1, 2)
    observe(d, 2, 1)
    d.roles("F(6,2)", "L(6)", "F(6,2)")


def _acks_delayed(d: Director) -> int:
    start(d, 1, 5, end_offset=50)
    d.step("V{2,3,4}@50; 3 and 4 append it (LEO 51), their acks are delayed")
    removal = d.remove_voter(1, 1)
    d.fetch(3, 1)
    d.fetch(4, 1)
    d.line(1, voter_set(2, 3, 4), 51, "2:50 3:50 4:50", 50)
    d.step("X@51 reaches 2, ack(2)=52")
    d.append(1)
    d.replicate(2, 1)
    d.end_offsets(52, 52, 51, 51)
    return removal


def _third_elected(d: Director) -> None:
    d.step("1 and 2 are cut off; 3 (set {2,3,4}, LEO 51) wins e6 with 3 and 4")
    d.cut(1, 3, 4)
    d.cut(2, 3, 4)
    d.voters(3, voter_set(2, 3, 4))
    d.fetch_timeout(3)
    d.fetch_timeout(4)
    d.pre_vote(3, 4, "granted")
    d.vote(3, 4, "granted")
    d.records(3, 50, "V LC")
    d.begin_quorum_epoch(3, 4)
    d.replicate(4, 3)
    d.line(3, voter_set(2, 3, 4), 52, "3:52 4:52", 52)


@LEADER_COUNTS_ITSELF.variant("right", cluster(4))
def leader_not_counted(d: Director) -> None:
    """HW 50, then 51; X@51 is never acknowledged."""
    # Counted: 2:52 3:50 4:50, HW 50; when acks of 51 arrive HW 51. X is not acknowledged.
    removal = _acks_delayed(d)
    d.line(1, voter_set(2, 3, 4), 52, "2:52 3:50 4:50", 50)
    d.unanswered(removal)
    d.step("the ack of 51 by 3 arrives")
    d.fetch(3, 1, answer="lost")
    d.high_watermark(1, 51)
    d.answered(removal, "NONE")
    d.roles("R(5)", "F(5,1)", "F(5,1)", "F(5,1)")
    _third_elected(d)


@LEADER_COUNTS_ITSELF.variant(
    "wrong", cluster(4), "CommittedNeverLost", "LeaderCompleteness", "StateMachineSafety", mutants=(EXCLUDED,)
)
def leader_counted(d: Director) -> None:
    """HW 52 counts 1; X@51 is acknowledged and then overwritten."""
    # 1:52 and 2:52 count as 2 of 3: X is acknowledged, and then overwritten.
    removal = _acks_delayed(d)
    d.high_watermark(1, 52)
    d.high_watermark(2, 52)
    d.answered(removal, "NONE")
    _third_elected(d)


SCENARIOS = (
    Scenario(
        29,
        "s7-leader-removed",
        "Removing the leader",
        "KIP-853, S7",
        (
            "remove-voter.leader-removal",
            "voters.fetch-from-leader-outside-set",
        ),
        tuple(LEADER_REMOVED),
    ),
    Scenario(
        30,
        "s7b-leader-counts-itself",
        "A removed leader that counts itself",
        "KIP-853, S7b",
        (EXCLUDED,),
        tuple(LEADER_COUNTS_ITSELF),
    ),
)
