"""S8 and S9: the high watermark while the voter set changes, with the figures of the KIP."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import catch_up, lead
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

CATCH_UP_FIRST = Variants()
HIGH_WATERMARK_STAYS = Variants()
_LIST = without_list(4)
_FOUR = cluster(4, (1, 2, 3), formatted=_LIST)

CATCH_UP = "add-voter.catch-up-first"
MONOTONIC = "hw.monotonic"


def _two_of_three(d: Director) -> None:
    lead(d, 1, 1, 100, 2, 3)
    d.step("LEO 1=200, 2=200, 3=100")
    d.append(1, end_offset=200)
    catch_up(d, 1, 2)
    d.end_offsets(200, 200, 100)
    d.line(1, voter_set(1, 2, 3), 200, "1:200 2:200 3:100", 200)


@CATCH_UP_FIRST.variant("right", _FOUR)
def waits(d: Director) -> None:
    """4 is added at 200 and helps to commit: HW 201 with 3 at 100."""
    # 4 fetches to 200 as an observer first; then 1, 2 and 4 commit although 3 is at 100.
    _two_of_three(d)
    d.step("AddVoter(4); 4 is at 0, and is not added yet")
    addition = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.line(1, voter_set(1, 2, 3), 200, "1:200 2:200 3:100 4:0", 200)
    d.step("4 fetches to 200; V{1,2,3,4}@200")
    d.fetch(4, 1, "FENCED_LEADER_EPOCH")
    d.fetch(4, 1)
    d.line(1, voter_set(1, 2, 3), 200, "1:200 2:200 3:100 4:0", 200)
    d.fetch(4, 1)
    d.set_offset(1, 200)
    d.line(1, voter_set(1, 2, 3, 4), 201, "1:201 2:200 3:100 4:200", 200)
    d.unanswered(addition)
    d.step("ack(2)=201, ack(4)=201")
    d.replicate(2, 1)
    d.line(1, voter_set(1, 2, 3, 4), 201, "1:201 2:201 3:100 4:200", 200)
    d.replicate(4, 1)
    d.line(1, voter_set(1, 2, 3, 4), 201, "1:201 2:201 3:100 4:201", 201)
    d.answered(addition, "NONE")


def _added_at_once(d: Director) -> int:
    _two_of_three(d)
    d.step("AddVoter(4) with 4 at 0: V{1,2,3,4}@200")
    addition = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.set_offset(1, 200)
    return addition


@CATCH_UP_FIRST.variant("wrong", cluster(4, (1, 2, 3), formatted=_LIST), mutants=(CATCH_UP,))
def does_not_wait(d: Director) -> None:
    """HW stays 200 until 3 has fetched 100 records: nothing is lost, but nothing commits."""
    # Only availability suffers: nothing commits until 3 or 4 has fetched past 200, which is 100 or 200 records.
    addition = _added_at_once(d)
    d.replicate(2, 1)
    d.line(1, voter_set(1, 2, 3, 4), 201, "1:201 2:201 3:100 4:0", 200)
    d.step("a client's record, which 2 has at once")
    d.append(1)
    d.replicate(2, 1)
    d.line(1, voter_set(1, 2, 3, 4), 202, "1:202 2:202 3:100 4:0", 200)
    d.unanswered(addition)
    d.step("3 fetches past 200")
    d.fetch(3, 1)
    d.high_watermark(1, 200)
    d.fetch(3, 1)
    d.line(1, voter_set(1, 2, 3, 4), 202, "1:202 2:202 3:202 4:0", 202)
    d.answered(addition, "NONE")


@CATCH_UP_FIRST.variant(
    "wrong-monotonic", cluster(4, (1, 2, 3), formatted=_LIST), "HwMonotonic", mutants=(CATCH_UP, MONOTONIC)
)
def does_not_wait_and_falls(d: Director) -> None:
    """HW falls from 200 to 100."""
    # The third largest of 201, 200, 100 and 0 is 100: without the other rule HW falls to it.
    _added_at_once(d)
    d.line(1, voter_set(1, 2, 3, 4), 201, "1:201 2:200 3:100 4:0", 100)


def _second_removed(d: Director, computed: int) -> None:
    _two_of_three(d)
    d.step("RemoveVoter(2): V{1,3}@200")
    d.remove_voter(1, 2)
    d.set_offset(1, 200)
    d.line(1, voter_set(1, 3), 201, "1:201 3:100", computed)
    d.step("3 passes 200")
    d.fetch(3, 1)
    d.high_watermark(1, computed)
    d.unanswered(1)
    d.fetch(3, 1)
    d.line(1, voter_set(1, 3), 201, "1:201 3:201", 201)
    d.answered(1, "NONE")


@HIGH_WATERMARK_STAYS.variant("right", cluster(3))
def does_not_fall(d: Director) -> None:
    """Computed 100, announced 200, then 201."""
    # Computed 100, announced 200; it rises when 3 passes 200.
    _second_removed(d, 200)


@HIGH_WATERMARK_STAYS.variant("wrong", cluster(3), "HwMonotonic", mutants=(MONOTONIC,))
def falls(d: Director) -> None:
    """HW goes from 200 to 100 to 201."""
    # State machines see 200, 100, 201.
    _second_removed(d, 100)


SCENARIOS = (
    Scenario(
        31,
        "s8-catch-up-first",
        "Catch up before being added",
        "KIP-853, S8",
        (CATCH_UP, MONOTONIC, "add-voter.append-and-apply"),
        tuple(CATCH_UP_FIRST),
    ),
    Scenario(
        32,
        "s9-high-watermark-stays",
        "High watermark does not go down",
        "KIP-853, S9",
        (MONOTONIC, "voters.commit-by-new-set"),
        tuple(HIGH_WATERMARK_STAYS),
    ),
)
