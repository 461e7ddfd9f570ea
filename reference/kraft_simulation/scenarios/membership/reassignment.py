"""S20: from (1,2,3) to (4,5,6), one voter at a time."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.membership.reassigning import (
    CLEAR,
    Row,
    asked,
    committed,
    elected,
    handed_over,
    led,
    opened,
    orphaned,
    sets,
    taken,
)
from kraft_simulation.scenarios.opening import announce, observe
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()

SINGLE_STEPS = "reassign.single-member-steps"

TARGET = "4,5,6"

TO_THE_HAND_OVER = (
    Row(4, "4,5,6 / 1,2,3", "add 4", "1,2,3,4", 3),
    Row(5, "5,6 / 1,2,3", "remove 3", "1,2,4", 2),
    Row(6, "5,6 / 1,2", "add 5", "1,2,4,5", 3),
    Row(7, "6 / 1,2", "remove 2", "1,4,5", 2),
    Row(8, "6 / 1", "add 6", "1,4,5,6", 3),
)
"""The steps that the leader 1 takes itself."""

SIX = cluster(6, (1, 2, 3), formatted=without_list(4, 5, 6))


def target_committed(d: Director) -> None:
    """The rows 0 to 2: the client is answered when its target is committed, and no voter has changed."""
    opened(d, 1, 2, 3)
    request = asked(d, 1, 3, "1,2,3", TARGET)
    committed(d, 1, 3, 2)
    d.answered(request, "NONE")
    d.voters(1, voter_set(1, 2, 3))
    d.next_steps(1, "4 5 6")


def _as_far_as_possible(d: Director) -> None:
    target_committed(d)
    taken(d, 1, TARGET, TO_THE_HAND_OVER)
    handed_over(d, 1, TARGET, 4, 5, 6)


def _completed(d: Director, leader: int, start: int, *, old: int = 1) -> None:
    taken(
        d,
        leader,
        TARGET,
        (Row(start, f" / {old}", f"remove {old}", "4,5,6", 2), Row(start + 1, " / ", CLEAR, "4,5,6", 2)),
    )
    d.next_steps(leader, "")
    d.records(leader, 3, "VA " * 6 + "LC " * (start - 9) + "VA VA")
    for replica_id in d.ids():
        d.assignment(replica_id, start + 1, voter_set(4, 5, 6), None)
    d.check("answers", d.answers, {1: "NONE"})
    d.never_nominates(old)


@VARIANTS.variant("right", SIX)
def reassigned(d: Director) -> None:
    """1,2,3,4 - 1,2,4 - 1,2,4,5 - 1,4,5 - 1,4,5,6; then 4 leads: 4,5,6; HW 12."""
    # The table. The set has 3 voters and 4 in turn, and never fewer; nothing answers the client a second time.
    _as_far_as_possible(d)
    elected(d, 4, 5, 6)
    d.roles("R(1)", "", "", "L(2)", "U(2,voted=4)", "U(2,voted=4)")
    led(d, 4, 9, 3)
    d.roles("F(2,4)", "", "", "L(2)", "F(2,4)", "F(2,4)")
    d.voters(1, voter_set(1, 4, 5, 6))
    _completed(d, 4, 10)
    d.roles("F(2,4)", "F(2,4)", "F(2,4)", "L(2)", "F(2,4)", "F(2,4)")


@VARIANTS.variant("right-leads-again", SIX)
def leads_again(d: Director) -> None:
    """1 is elected once more, and hands over once more."""
    # The old leader may campaign: it is still a voter. If it wins, it hands over again.
    _as_far_as_possible(d)
    d.step("nobody else campaigns in time; 1 wins e3")
    d.election_timeout(1)
    d.election_timeout(1)
    elected(d, 1, 4, 5, timeout=False)
    d.roles("L(3)")
    led(d, 1, 9, 3)
    handed_over(d, 1, TARGET, 4, 5, 6)
    elected(d, 4, 5, 6)
    led(d, 4, 10, 3)
    _completed(d, 4, 11)


@VARIANTS.variant(
    "wrong",
    cluster(6, (1, 2, 3), formatted=without_list(4, 5, 6)),
    "CommittedNeverLost",
    "ConfigOverlap",
    "LeaderCompleteness",
    "StateMachineSafety",
    mutants=(SINGLE_STEPS,),
)
def jumps(d: Director) -> None:
    """One record from {1,2,3} to {4,5,6}: {4,5} commit, {2,3} elect 2 without it."""
    # The whole target in one record at @4: {4,5} commit what {2,3} know nothing of.
    target_committed(d)
    d.step("@4: VA{cur [4,5,6], tgt [4,5,6]} in one record")
    sets(d, 1, TARGET, "4,5,6 / 1,2,3")
    d.advance(1, 4)
    d.assignment(1, 4, voter_set(4, 5, 6), frozenset((4, 5, 6)))
    d.high_watermark(1, 4)
    d.append(1)
    d.step("4 and 5 are 2 of 3")
    observe(d, 1, 4)
    d.high_watermark(1, 4)
    d.fetch(5, 1)
    d.fetch(5, 1, answer="lost")
    d.high_watermark(1, 6)
    d.roles("R(1)")
    d.step("2 and 3 are 2 of {1,2,3}")
    d.voters(2, voter_set(1, 2, 3))
    d.cut(2, 1, 4, 5, 6)
    d.cut(3, 1, 4, 5, 6)
    orphaned(d, 2, 3)
    elected(d, 2, 3, timeout=False)
    announce(d, 2)
    observe(d, 2, 3)
    d.records(2, 3, "VA LC")
    d.line(2, voter_set(1, 2, 3), 5, "2:5 3:5", 5)


SCENARIOS = (
    Scenario(
        45,
        "s20-quorum-reassignment",
        "Quorum reassignment from (1,2,3) to (4,5,6)",
        "KIP-642, S20",
        (
            SINGLE_STEPS,
            "reassign.add-or-remove-choice",
            "reassign.commit-before-next-step",
            "reassign.leader-steps-down-before-own-removal",
            "reassign.completion",
        ),
        tuple(VARIANTS),
    ),
)
