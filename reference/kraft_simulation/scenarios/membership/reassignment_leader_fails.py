"""S22: the leader fails in the middle of a reassignment, and the next one goes on with it."""

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
    opened,
    orphaned,
    sets,
    taken,
)
from kraft_simulation.scenarios.membership.reassignment import SIX, TARGET, TO_THE_HAND_OVER, target_committed
from kraft_simulation.scenarios.opening import announce, observe
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()

EPOCH_COMMITTED = "voters.epoch-committed-before-change"

_TARGET_IDS = frozenset((4, 5, 6))


def _appended_alone(d: Director) -> None:
    """Cur [1,2,3,4]@4 is committed and everywhere; 1 has VA{cur [1,2,4]}@5 alone."""
    target_committed(d)
    taken(d, 1, TARGET, TO_THE_HAND_OVER[:1])
    appended(d, 1, TARGET, TO_THE_HAND_OVER[1])
    d.end_offsets(6, 5, 5, 5, 5, 5)


@VARIANTS.variant("right", SIX)
def resumed(d: Director) -> None:
    """1's step at @5 is truncated; 2 goes on from 1,2,3,4, hands over, 4 completes."""
    # 2 computes anew from its own log; its record at @5 takes the place of the step of 1.
    _appended_alone(d)
    d.step("1 dies; 2 wins e2 with 2, 3, 4: 3 of 4")
    d.crash(1)
    orphaned(d, 2, 3, 4)
    elected(d, 2, 3, 4, timeout=False)
    d.assignment(2, 4, voter_set(1, 2, 3, 4), _TARGET_IDS)
    led(d, 2, 5, 3)
    d.next_steps(2, "1 3")
    taken(d, 2, TARGET, (Row(6, "5,6 / 1,2,3", "remove 3", "1,2,4", 2),))
    d.step("1 comes back, truncates @5 and uses [1,2,3,4]")
    d.assignment(1, 5, voter_set(1, 2, 4), _TARGET_IDS)
    d.restart(1)
    d.roles("R(1)")
    d.begin_quorum_epoch(2, 1)
    d.roles("F(2,2)")
    d.fetch(1, 2)
    d.records(1, 3, "VA VA")
    d.assignment(1, 4, voter_set(1, 2, 3, 4), _TARGET_IDS)
    d.step("1 reads @6")
    d.fetch(1, 2)
    d.records(1, 3, "VA VA LC VA")
    d.assignment(1, 6, voter_set(1, 2, 4), _TARGET_IDS)
    observe(d, 2, 1)
    d.step("the last to be removed is now 2")
    rest = (
        Row(7, "5,6 / 1,2", "add 5", "1,2,4,5", 3),
        Row(8, "6 / 1,2", "remove 1", "2,4,5", 2),
        Row(9, "6 / 2", "add 6", "2,4,5,6", 3),
    )
    taken(d, 2, TARGET, rest)
    handed_over(d, 2, TARGET, 4, 5, 6)
    elected(d, 4, 5, 6)
    led(d, 4, 10, 3)
    taken(d, 4, TARGET, (Row(11, " / 2", "remove 2", "4,5,6", 2), Row(12, " / ", CLEAR, "4,5,6", 2)))
    d.records(4, 3, "VA VA LC VA VA VA VA LC VA VA")
    d.check("answers", d.answers, {1: "NONE"})


def _target_appended(d: Director) -> int:
    opened(d, 1, 2, 3)
    return asked(d, 1, 3, "1,2,3", TARGET)


def _second_leads(d: Director) -> None:
    d.step("1 dies; 2 wins e2 with 2 and 3")
    d.crash(1)
    orphaned(d, 2, 3)
    elected(d, 2, 3, timeout=False)


@VARIANTS.variant("right-target-lost", SIX)
def target_lost(d: Director) -> None:
    """1 alone had the target: a retry at 2 writes it anew."""
    # Only 1 had the target: nobody knows of it, its client hears nothing, and the retry starts anew.
    first = _target_appended(d)
    _second_leads(d)
    d.check("target of N2", d.state(2).target, None)
    led(d, 2, 3, 2)
    d.next_steps(2, "")
    retry = asked(d, 2, 4, "1,2,3", TARGET)
    committed(d, 2, 4, 2)
    d.answered(retry, "NONE")
    d.unanswered(first)
    d.step("1 comes back and truncates @3")
    d.restart(1)
    d.begin_quorum_epoch(2, 1)
    d.fetch(1, 2)
    d.set_offset(1, 2)
    d.check("target of N1", d.state(1).target, None)
    observe(d, 2, 1)
    d.assignment(1, 4, voter_set(1, 2, 3), _TARGET_IDS)


@VARIANTS.variant("right-target-survives", SIX)
def target_survives(d: Director) -> None:
    """2 has the target: a retry writes nothing."""
    # 2 had the target: the retry finds it there, appends nothing and is answered when it is committed.
    first = _target_appended(d)
    d.step("2 fetches @3; its acknowledgement never comes")
    d.fetch(2, 1)
    _second_leads(d)
    d.assignment(2, 3, voter_set(1, 2, 3), _TARGET_IDS)
    d.records(2, 3, "VA LC")
    d.step("Alter(6,5,4) at 2: the same target")
    retry = d.reassign(2, 6, 5, 4)
    d.records(2, 3, "VA LC")
    d.unanswered(first, retry)
    d.step("@3 is committed with LC(e2)@4")
    led(d, 2, 4, 2)
    d.answered(retry, "NONE")
    d.unanswered(first)
    d.next_steps(2, "4 5 6")


def _second_leads_beside_it(d: Director, waits: bool) -> None:
    """1 has {1,2,4}@5 and is cut off; 2 leads e2 with the votes of 3 and 4, and LC(e2)@5 is on 2 alone."""
    _appended_alone(d)
    d.step("1 is cut off; 2 wins e2 with 2, 3, 4: 3 of 4")
    d.cut(1, 2, 3, 4, 5, 6)
    orphaned(d, 2, 3, 4)
    elected(d, 2, 3, 4, timeout=False, waits=waits)
    sets(d, 2, TARGET, "5,6 / 1,2,3")
    d.begin_quorum_epoch(2, 3)


def _removes_first(d: Director, offset: int) -> None:
    """2 removes 1: under {2,3,4} it is committed with 3, and so is a client's record after it."""
    d.step(f"2 removes 1: VA{{cur [2,3,4]}}@{offset}, X@{offset + 1}, on 2 and 3")
    d.next_steps(2, "1 3")
    d.advance(2, 1)
    d.assignment(2, offset, voter_set(2, 3, 4), _TARGET_IDS)
    d.append(2)
    observe(d, 2, 3)
    d.high_watermark(2, offset + 2)
    d.high_watermark(3, offset + 2)


def _first_campaigns(d: Director) -> None:
    d.step("1 is back with 4; it campaigns under {1,2,4}")
    d.cut(4, 2, 3)
    d.heal(1, 4)
    d.check_quorum_timeout(1)
    d.election_timeout(1)
    d.election_timeout(1)
    d.roles("P(2)")
    d.voters(1, voter_set(1, 2, 4))


@VARIANTS.variant("right-resumed", SIX)
def waits_for_epoch(d: Director) -> None:
    """2 waits for LC(e2) on 3 of 4; then 4 refuses 1."""
    # 2 waits until LC(e2)@5 is on 3 of {1,2,3,4}: then 4's last epoch is e2, and 1 gets no vote but its own.
    _second_leads_beside_it(d, waits=True)
    d.step("LC(e2)@5 on 2 and 3: 2 of 4")
    observe(d, 2, 3)
    d.next_steps(2, "")
    d.step("and on 4: 3 of 4")
    d.begin_quorum_epoch(2, 4)
    observe(d, 2, 3, 4)
    d.high_watermark(2, 6)
    _removes_first(d, 6)
    _first_campaigns(d)
    d.fetch_timeout(4)
    d.lose(4)
    d.pre_vote(1, 4, "refused")
    d.step("and its answer names 2 as the leader of e2")
    d.roles("F(2,2)", "L(2)", "F(2,2)", "P(2,2)")


@VARIANTS.variant(
    "wrong-resumed",
    cluster(6, (1, 2, 3), formatted=without_list(4, 5, 6)),
    "CommittedNeverLost",
    "ConfigOverlap",
    "LeaderCompleteness",
    "NoNeedlessElection",
    "StateMachineSafety",
    mutants=(EPOCH_COMMITTED,),
)
def resumes_at_once(d: Director) -> None:
    """KIP-642's text: {2,3} of {2,3,4} commit, {1,4} of {1,2,4} elect 1 without it."""
    # 2 does not wait: {2,3} commit under {2,3,4} what {1,4} of {1,2,4} know nothing of.
    _second_leads_beside_it(d, waits=False)
    _removes_first(d, 6)
    d.end_offsets(6, 8, 8, 5)
    _first_campaigns(d)
    d.pre_vote(1, 4, "granted")
    d.vote(1, 4, "granted")
    d.roles("L(3)", "L(2)", "F(2,2)", "U(3,voted=1)")
    d.step("1 commits its own @5 with 4")
    announce(d, 1)
    observe(d, 1, 4)
    d.records(1, 4, "VA VA LC")
    d.line(1, voter_set(1, 2, 4), 7, "1:7 4:7", 7)


SCENARIOS = (
    Scenario(
        47,
        "s22-leader-fails-midway",
        "The leader fails midway through a quorum reassignment",
        "KIP-642, S22",
        (
            "reassign.new-leader-resumes",
            "reassign.truncation-reverts",
            "reassign.client-retries",
            "reassign.request-same-target",
            EPOCH_COMMITTED,
        ),
        tuple(VARIANTS),
    ),
)
