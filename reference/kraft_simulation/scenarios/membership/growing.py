"""S24: a quorum that grows, one that shrinks, and one that starts with a single node."""

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
    taken,
)
from kraft_simulation.scenarios.opening import observe
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()


def _accepted(d: Director, current: str, target: str, majority: int) -> None:
    request = asked(d, 1, 3, current, target)
    committed(d, 1, 3, majority)
    d.answered(request, "NONE")


@VARIANTS.variant("right-grows", cluster(5, (1, 2, 3), formatted=without_list(4, 5)))
def grows(d: Director) -> None:
    """Add 4, add 5, clear."""
    # (1,2,3) -> (1,2,3,4,5): add 4, add 5, clear.
    opened(d, 1, 2, 3)
    _accepted(d, "1,2,3", "1,2,3,4,5", 2)
    d.next_steps(1, "4 5")
    rows = (
        Row(4, "4,5 / ", "add 4", "1,2,3,4", 3),
        Row(5, "5 / ", "add 5", "1,2,3,4,5", 3),
        Row(6, " / ", CLEAR, "1,2,3,4,5", 3),
    )
    taken(d, 1, "1,2,3,4,5", rows)
    d.next_steps(1, "")
    d.line(1, voter_set(1, 2, 3, 4, 5), 7, "1:7 2:7 3:7 4:7 5:7", 7)


@VARIANTS.variant("right-shrinks", cluster(5))
def shrinks(d: Director) -> None:
    """Remove 5, remove 4, clear."""
    # (1,2,3,4,5) -> (1,2,3): remove 5, remove 4, clear.
    opened(d, 1, 2, 3, 4, 5)
    _accepted(d, "1,2,3,4,5", "1,2,3", 3)
    d.next_steps(1, "4 5")
    rows = (
        Row(4, " / 4,5", "remove 5", "1,2,3,4", 3),
        Row(5, " / 4", "remove 4", "1,2,3", 2),
        Row(6, " / ", CLEAR, "1,2,3", 2),
    )
    taken(d, 1, "1,2,3", rows)
    d.next_steps(1, "")
    d.line(1, voter_set(1, 2, 3), 7, "1:7 2:7 3:7", 7)
    for removed in (4, 5):
        d.never_nominates(removed)


@VARIANTS.variant("right-leader-goes", cluster(3))
def hands_over_first(d: Director) -> None:
    """1 hands over; 2 removes 1 and clears."""
    # (1,2,3) -> (2,3) with leader 1: the first step is the hand-over; the next leader removes 1 and clears.
    opened(d, 1, 2, 3)
    _accepted(d, "1,2,3", "2,3", 2)
    handed_over(d, 1, "2,3", 2, 3)
    d.roles("R(1)", "F(1,1)", "F(1,1)")
    elected(d, 2, 3)
    led(d, 2, 4, 2)
    taken(d, 2, "2,3", (Row(5, " / 1", "remove 1", "2,3", 2), Row(6, " / ", CLEAR, "2,3", 2)))
    d.records(2, 3, "VA LC VA VA")
    d.roles("F(2,2)", "L(2)", "F(2,2)")
    d.never_nominates(1)


@VARIANTS.variant("right-from-one", cluster(3, (1,), formatted=without_list(2, 3)))
def starts_from_one(d: Director) -> None:
    """1; 1,2; 1,2,3: all by one request."""
    # One voter, then observers, then AlterPartitionReassignments.
    # KIP-642 has it configured (`quorum.voters=0`) and write VA, LC; it is formatted `--standalone` here, as KIP-853
    # has it, and writes LC, KV, V. The nodes 0, 1, 2 of the text are 1, 2, 3.
    d.step("1 is formatted --standalone and wins e1; 2 and 3 join as observers")
    d.election_timeout(1)
    d.roles("L(1)")
    d.records(1, 0, "LC KV V")
    d.line(1, voter_set(1), 3, "1:3", 3)
    observe(d, 1, 2, 3)
    d.step("Alter([1,2,3]): committed by 1 alone")
    request = d.reassign(1, 1, 2, 3)
    d.assignment(1, 3, voter_set(1), frozenset((1, 2, 3)))
    d.high_watermark(1, 4)
    d.answered(request, "NONE")
    observe(d, 1, 2, 3)
    d.next_steps(1, "2 3")
    rows = (
        Row(4, "2,3 / ", "add 2", "1,2", 2),
        Row(5, "3 / ", "add 3", "1,2,3", 2),
        Row(6, " / ", CLEAR, "1,2,3", 2),
    )
    taken(d, 1, "1,2,3", rows)
    d.next_steps(1, "")
    d.line(1, voter_set(1, 2, 3), 7, "1:7 2:7 3:7", 7)


SCENARIOS = (
    Scenario(
        49,
        "s24-growing-and-shrinking",
        "A quorum grows, shrinks, and starts from one node",
        "KIP-642, S24",
        (
            "reassign.add-or-remove-choice",
            "reassign.completion",
            "reassign.leader-removed-last",
            "bootstrap.kip642-grow-from-one",
        ),
        tuple(VARIANTS),
    ),
)
