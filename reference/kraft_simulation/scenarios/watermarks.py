"""Scenario 12: the high watermark while the voter set changes."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, catch_up, start, win, win_pre_vote
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set

VARIANTS = Variants()

MONOTONIC = "hw.monotonic"
EXCLUDED = "hw.leader-excluded"


def _lagging_voter(d: Director) -> None:
    """Ends 20, 20, 10, HW 20: a tenth of the text's figures.  N4 has not fetched yet."""
    start_of_three(d)
    d.append(1, end_offset=20)
    catch_up(d, 1, 2)
    d.end_offsets(20, 20, 10, 0)
    d.high_watermark(1, 20)
    d.step("Voters{1,2,3,4} takes effect with N4's end at 0")
    d.append_voters(1, voter_set(1, 2, 3, 4))
    d.end_offsets(21, 20, 10, 0)


def start_of_three(d: Director) -> None:
    """N1 L, N2 and N3 have fetched 10 records; N4 does not run along yet."""
    d.election_timeout(1)
    win_pre_vote(d, 1)
    win(d, 1)
    announce(d, 1)
    d.append(1, end_offset=10)
    catch_up(d, 1, 2, 3)
    d.end_offsets(10, 10, 10, 0)
    d.roles("L(1)", "F(1,1)", "F(1,1)", "U(0)")


@VARIANTS.variant("with-the-rule", cluster(4, (1, 2, 3)))
def monotonic(d: Director) -> None:
    """HW stays 20 until N3 passes 20."""
    # The computed offset is 10; HW stays 20 until 3 or 4 passes 20.
    _lagging_voter(d)
    d.high_watermark(1, 20)
    d.step("2 and 3 fetch")
    d.fetch(2, 1)
    d.high_watermark(2, 20)
    d.fetch(2, 1)
    d.high_watermark(1, 20)
    d.fetch(3, 1)
    d.high_watermark(1, 20)
    d.fetch(3, 1)
    d.high_watermark(1, 21)


@VARIANTS.variant("without-monotonic", cluster(4, (1, 2, 3)), "HwMonotonic", mutants=(MONOTONIC,))
def not_monotonic(d: Director) -> None:
    """HW falls from 20 to 10."""
    # Committed records become uncommitted.
    _lagging_voter(d)
    d.high_watermark(1, 10)
    d.fetch(2, 1)
    d.high_watermark(2, 20)


def _removes_itself(d: Director) -> None:
    """N1 leads {1,2,3,4} and appends Voters{2,3,4} at 20 and a record at 21; 3 and 4 fetch the former only."""
    start(d, 1, 4, end_offset=20)
    d.step("N1 appends Voters{2,3,4} at 20 and a record at 21; ends 22, 22, 21, 21")
    removal = d.remove_voter(1, 1)
    d.voters(1, voter_set(2, 3, 4))
    d.fetch(3, 1)
    d.fetch(4, 1)
    d.append(1)
    d.fetch(2, 1)
    d.end_offsets(22, 22, 21, 21)
    d.high_watermark(1, 20)
    d.unanswered(removal)


def _others_elect(d: Director) -> None:
    d.step("crash(1), crash(2): 3 and 4 elect one of them from {2,3,4}")
    d.crash(1, 2)
    d.fetch_timeout(3)
    d.fetch_timeout(4)
    win_pre_vote(d, 3)
    win(d, 3)
    d.roles("stopped", "stopped", "L(5)", "U(5,voted=3)")
    d.end_offsets(22, 22, 22, 21)


@VARIANTS.variant("leader-outside", cluster(4))
def leader_excluded(d: Director) -> None:
    """HW 21 without N1's own log; nothing is lost."""
    # N2 alone has the record at 21; HW is 21, two of {2,3,4}, and N1, whose removal is committed, resigns.
    _removes_itself(d)
    d.step("N2 reports 22")
    d.fetch(2, 1)
    d.high_watermark(1, 20)
    d.step("N3 reports 21")
    d.fetch(3, 1, answer="lost")
    d.high_watermark(1, 21)
    d.roles("R(4)", "F(4,1)", "F(4,1)", "F(4,1)")
    _others_elect(d)


@VARIANTS.variant(
    "leader-outside-without-excluded", cluster(4), "CommittedNeverLost", "LeaderCompleteness", mutants=(EXCLUDED,)
)
def leader_included(d: Director) -> None:
    """HW 22 counts N1; the record at 21 is lost."""
    # Counting N1, the record at 21 is published as committed, and then it is gone.
    _removes_itself(d)
    d.step("N2 reports 22")
    d.fetch(2, 1)
    d.high_watermark(1, 22)
    d.high_watermark(2, 22)
    d.roles("R(4)", "F(4,1)", "F(4,1)", "F(4,1)")
    _others_elect(d)


SCENARIOS = (
    Scenario(
        12,
        "high-watermark-and-new-voter",
        "High watermark when a lagging voter is added",
        "KIP-853",
        (MONOTONIC, EXCLUDED, "hw.majority", "remove-voter.leader-removal"),
        tuple(VARIANTS),
    ),
)
