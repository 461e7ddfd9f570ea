"""S21: a reassignment from (1,2,3) to (4,5,6) that is cancelled midway."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.membership.reassigning import (
    CLEAR,
    Row,
    appended,
    asked,
    committed,
    elected,
    handed_over,
    led,
    orphaned,
    taken,
)
from kraft_simulation.scenarios.membership.reassignment import SIX, TARGET, TO_THE_HAND_OVER, target_committed
from kraft_simulation.scenarios.opening import announce, observe
from kraft_simulation.scenarios.scenario import Scenario, Variants, voter_set

VARIANTS = Variants()
_LOSS = ("CommittedNeverLost", "ConfigOverlap", "LeaderCompleteness", "NoNeedlessElection", "StateMachineSafety")

BY_NEW_TARGET = "reassign.cancel-by-new-target"
NEW_TARGET = "reassign.request-new-target"

_BACK = "1,2,3"
_UNDONE = (
    Row(8, "3 / 4,5", "remove 5", "1,2,4", 2),
    Row(9, "3 / 4", "add 3", "1,2,3,4", 3),
    Row(10, " / 4", "remove 4", "1,2,3", 2),
    Row(11, " / ", CLEAR, "1,2,3", 2),
)


def _midway(d: Director) -> None:
    """The table of S20 as far as @6: cur [1,2,4,5], tgt [4,5,6], HW 7."""
    target_committed(d)
    taken(d, 1, TARGET, TO_THE_HAND_OVER[:3])
    d.voters(1, voter_set(1, 2, 4, 5))
    d.high_watermark(1, 7)


@VARIANTS.variant("right-a", SIX)
def original_voters(d: Director) -> None:
    """Target 1,2,3: 1,2,4,5 - 1,2,4 - 1,2,3,4 - 1,2,3; HW 12."""
    # (a) The old voters as the new target: remove 5, add 3, remove 4, clear.
    _midway(d)
    request = asked(d, 1, 7, "1,2,4,5", _BACK)
    committed(d, 1, 7, 3)
    d.answered(request, "NONE")
    d.next_steps(1, "4 5")
    taken(d, 1, _BACK, _UNDONE)
    d.records(1, 3, "VA " * 8 + "VA")
    d.line(1, voter_set(1, 2, 3), 12, "1:12 2:12 3:12 4:12 5:12 6:12", 12)
    d.next_steps(1, "")
    d.check("answers", d.answers, {1: "NONE", 2: "NONE"})


def _other_side(d: Director, offset: int) -> None:
    """1 and 3 commit {1,2,3}; 2, 4 and 5 are 3 of {1,2,4,5} and know nothing of it."""
    d.assignment(1, offset, voter_set(1, 2, 3), d.state(1).target)
    d.append(1)
    d.step("1 and 3 are 2 of {1,2,3}")
    d.cut(1, 2, 4, 5, 6)
    d.cut(3, 2, 4, 5, 6)
    observe(d, 1, 3)
    d.high_watermark(1, offset + 2)
    d.step("2, 4 and 5 are 3 of {1,2,4,5}")
    d.voters(4, voter_set(1, 2, 4, 5))
    orphaned(d, 4, 2, 5)
    elected(d, 4, 2, 5, timeout=False)
    announce(d, 4)
    observe(d, 4, 2, 5)
    d.records(4, 6, "VA LC")
    d.line(4, voter_set(1, 2, 4, 5), 8, "2:8 4:8 5:8", 8)


@VARIANTS.variant("wrong-a", SIX, *_LOSS, mutants=(BY_NEW_TARGET,))
def original_voters_at_once(d: Director) -> None:
    """1,2,3 in one record: {1,3} commit, {2,4,5} elect 4 without it."""
    # The old voters in one record, three changes at once: majorities of {1,2,4,5} and {1,2,3} need not meet.
    _midway(d)
    d.step("Alter(1,2,3): VA{cur [1,2,3], tgt [1,2,3]}@7")
    request = d.reassign(1, 1, 2, 3)
    _other_side(d, 7)
    d.answered(request, "NONE")


@VARIANTS.variant("right-b", SIX)
def stopped(d: Director) -> None:
    """null: four voters stay; a second null is NO_REASSIGNMENT_IN_PROGRESS."""
    # (b) null: the quorum stays with four voters, and anybody may be added or removed by hand again.
    _midway(d)
    d.step("AddVoter(6) while the target stands")
    d.answered(d.add_voter(1, 6), "REASSIGNMENT_IN_PROGRESS")
    request = asked(d, 1, 7, "1,2,4,5", "")
    committed(d, 1, 7, 3)
    d.answered(request, "NONE")
    d.next_steps(1, "")
    d.line(1, voter_set(1, 2, 4, 5), 8, "1:8 2:8 3:8 4:8 5:8 6:8", 8)
    d.step("Alter(null) again")
    d.answered(d.reassign(1), "NO_REASSIGNMENT_IN_PROGRESS")
    d.line(1, voter_set(1, 2, 4, 5), 8, "1:8 2:8 3:8 4:8 5:8 6:8", 8)
    d.step("RemoveVoter(5) is not refused any more: V{1,2,4}@8")
    removal = d.remove_voter(1, 5)
    d.records(1, 7, "VA V")
    d.set_offset(1, 8)
    committed(d, 1, 8, 2)
    d.answered(removal, "NONE")
    d.voters(1, voter_set(1, 2, 4))


@VARIANTS.variant("wrong-b", SIX, *_LOSS, mutants=(BY_NEW_TARGET,))
def stopped_at_the_start(d: Director) -> None:
    """Null restores 1,2,3 in one record, with the same loss."""
    # null that restores the starting voters in one record, which is what it means for an ordinary partition.
    _midway(d)
    d.step("Alter(null): VA{cur [1,2,3], tgt null}@7")
    request = d.reassign(1)
    _other_side(d, 7)
    d.answered(request, "NONE")


def _step_uncommitted(d: Director) -> None:
    """Cur [1,2,4] is committed, and cur [1,2,4,5] in the log of 1."""
    target_committed(d)
    taken(d, 1, TARGET, TO_THE_HAND_OVER[:2])
    appended(d, 1, TARGET, TO_THE_HAND_OVER[2])
    d.line(1, voter_set(1, 2, 4, 5), 7, "1:7 2:6 3:6 4:6 5:6 6:6", 6)


@VARIANTS.variant("right-c", SIX)
def while_uncommitted(d: Director) -> None:
    """The step that is not committed is carried along; HW 8 with 3 of 4."""
    # (c) The record copies the newest voters; both commit at 3 of 4, and only then comes the next step.
    _step_uncommitted(d)
    request = asked(d, 1, 7, "1,2,4,5", _BACK)
    d.step("ack(2)=8: 2 of 4")
    observe(d, 1, 2)
    d.line(1, voter_set(1, 2, 4, 5), 8, "1:8 2:8 3:6 4:6 5:6 6:6", 6)
    d.unanswered(request)
    d.next_steps(1, "")
    d.step("ack(5)=8: 3 of 4")
    d.replicate(5, 1)
    d.line(1, voter_set(1, 2, 4, 5), 8, "1:8 2:8 3:6 4:6 5:8 6:6", 8)
    d.answered(request, "NONE")
    d.next_steps(1, "4 5")
    observe(d, 1, 2, 3, 4, 5, 6)
    taken(d, 1, _BACK, _UNDONE)


@VARIANTS.variant("wrong-c", SIX, "OnePendingChange", mutants=(NEW_TARGET,))
def step_undone(d: Director) -> None:
    """The committed voters are copied, which undoes the step."""
    # The record copies the committed voters: it takes the pending step back, with two changes uncommitted.
    # These two lose nothing; what two may lose is in S11.
    _step_uncommitted(d)
    d.step("Alter(1,2,3): VA{cur [1,2,4], tgt [1,2,3]}@7")
    d.reassign(1, 1, 2, 3)
    d.assignment(1, 7, voter_set(1, 2, 4), frozenset((1, 2, 3)))
    d.line(1, voter_set(1, 2, 4), 8, "1:8 2:6 4:6", 6)


@VARIANTS.variant("right-d", SIX)
def late(d: Director) -> None:
    """After the hand-over: 4 undoes it, hands over to 1, and 1 completes; HW 18."""
    # (d) After the hand-over: remove 6, add 2, remove 5, add 3; then 4 leads and is the last, and hands over.
    target_committed(d)
    taken(d, 1, TARGET, TO_THE_HAND_OVER)
    handed_over(d, 1, TARGET, 4, 5, 6)
    elected(d, 4, 5, 6)
    led(d, 4, 9, 3)
    request = asked(d, 4, 10, "1,4,5,6", _BACK)
    committed(d, 4, 10, 3)
    d.answered(request, "NONE")
    d.next_steps(4, "5 6")
    taken(
        d,
        4,
        _BACK,
        (
            Row(11, "2,3 / 4,5,6", "remove 6", "1,4,5", 2),
            Row(12, "2,3 / 4,5", "add 2", "1,2,4,5", 3),
            Row(13, "3 / 4,5", "remove 5", "1,2,4", 2),
            Row(14, "3 / 4", "add 3", "1,2,3,4", 3),
        ),
    )
    handed_over(d, 4, _BACK, 1, 2, 3)
    elected(d, 1, 2, 3)
    led(d, 1, 15, 3)
    taken(d, 1, _BACK, (Row(16, " / 4", "remove 4", "1,2,3", 2), Row(17, " / ", CLEAR, "1,2,3", 2)))
    d.records(1, 3, "VA " * 6 + "LC " + "VA " * 5 + "LC VA VA")
    d.roles("L(3)", "F(3,1)", "F(3,1)", "F(3,1)", "F(3,1)", "F(3,1)")
    d.check("answers", d.answers, {1: "NONE", 2: "NONE"})


SCENARIOS = (
    Scenario(
        46,
        "s21-reassignment-cancelled",
        "A quorum reassignment is cancelled midway",
        "KIP-642, S21",
        (BY_NEW_TARGET, "reassign.cancel-null", NEW_TARGET, "reassign.request-success-after-commit"),
        tuple(VARIANTS),
    ),
)
