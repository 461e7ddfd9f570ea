"""S6 and S6b: a voter is gone for good."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import catch_up, lead, observe
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

NODE_FAILURE = Variants()
LAST_RESORT = Variants()
_FOUR = cluster(4, (1, 2, 3), formatted=without_list(4))


def _added(d: Director) -> None:
    """The start and the steps 1 to 3."""
    lead(d, 1, 5, 60, 2, 3)
    d.step("3 stuck at 60, then dead")
    d.append(1, end_offset=100)
    catch_up(d, 1, 2)
    d.crash(3)
    d.line(1, voter_set(1, 2, 3), 100, "1:100 2:100 3:60", 100)
    d.step("1. 4 formatted (U4), fetches through bootstrap to 100")
    d.voters(4, frozenset())
    observe(d, 1, 4)
    d.line(1, voter_set(1, 2, 3), 100, "1:100 2:100 3:60 4:100", 100)
    d.step("2. AddVoter(4,U4): V{1,2,3,4}@100")
    addition = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.set_offset(1, 100)
    d.line(1, voter_set(1, 2, 3, 4), 101, "1:101 2:100 3:60 4:100", 100)
    d.step("3. ack(2)=101, ack(4)=101")
    d.replicate(2, 1)
    d.high_watermark(1, 100)
    d.unanswered(addition)
    d.replicate(4, 1)
    d.line(1, voter_set(1, 2, 3, 4), 101, "1:101 2:101 3:60 4:101", 101)
    d.answered(addition, "NONE")


@NODE_FAILURE.variant("right", _FOUR)
def replaced(d: Director) -> None:
    """{1,2,3,4} at 100, {1,2,4} at 101; HW 102."""
    # The table: add first, then remove.
    _added(d)
    d.step("4. RemoveVoter(3,U3): V{1,2,4}@101")
    removal = d.remove_voter(1, 3)
    d.set_offset(1, 101)
    d.line(1, voter_set(1, 2, 4), 102, "1:102 2:101 4:101", 101)
    d.unanswered(removal)
    d.step("5. ack(4)=102")
    d.replicate(4, 1)
    d.line(1, voter_set(1, 2, 4), 102, "1:102 2:101 4:102", 102)
    d.answered(removal, "NONE")


@NODE_FAILURE.variant("right-second-failure", _FOUR)
def second_failure(d: Director) -> None:
    """3 of 4 fails to commit; 2 of {1,2,4} commits."""
    # Between the steps 2 and 4 the majority is 3 of 4 with 3 dead: one more failure stops commits.
    _added(d)
    d.step("2 is gone, too")
    d.crash(2)
    d.append(1)
    d.replicate(4, 1)
    d.line(1, voter_set(1, 2, 3, 4), 102, "1:102 2:101 3:60 4:102", 101)
    removal = d.remove_voter(1, 3)
    d.line(1, voter_set(1, 2, 4), 103, "1:103 2:101 4:102", 102)
    d.step("the removal is allowed, and makes 2 of {1,2,4} enough")
    d.replicate(4, 1)
    d.line(1, voter_set(1, 2, 4), 103, "1:103 2:101 4:103", 103)
    d.answered(removal, "NONE")


def _last_resort(d: Director) -> None:
    lead(d, 1, 5, 30, 2)
    d.step("2 dies")
    d.crash(2)
    d.line(1, voter_set(1, 2), 30, "1:30 2:30", 30)


@LAST_RESORT.variant("right", cluster(2))
def last_resort(d: Director) -> None:
    """V{1}@30 commits at once: HW 31."""
    # The new set {1} is its own majority; every majority of {1,2} contains 1.
    _last_resort(d)
    d.step("RemoveVoter(2): V{1}@30; HW 31 at once")
    removal = d.remove_voter(1, 2)
    d.set_offset(1, 30)
    d.line(1, voter_set(1), 31, "1:31", 31)
    d.answered(removal, "NONE")
    d.step("the last one stays")
    d.answered(d.remove_voter(1, 1), "VOTER_NOT_FOUND")
    d.append(1)
    d.high_watermark(1, 32)


@LAST_RESORT.variant("right-too-late", cluster(2))
def too_late(d: Director) -> None:
    """1 resigned before: no leader, and no removal, ever."""
    # 1 loses leadership first: 2 of 2 are needed, and no leader can be elected.
    _last_resort(d)
    d.step("cq(1) before the request")
    d.check_quorum_timeout(1)
    d.roles("R(5)", "stopped")
    d.answered(d.remove_voter(1, 2), "NOT_LEADER_OR_FOLLOWER")
    d.election_timeout(1)
    d.roles("U(6)", "stopped")

    def one_round() -> None:
        d.election_timeout(1)
        d.roles("P(6)", "stopped")
        d.election_timeout(1)
        d.roles("U(6)", "stopped")

    d.lasso(one_round)
    d.answered(d.remove_voter(1, 2), "NOT_LEADER_OR_FOLLOWER")


SCENARIOS = (
    Scenario(
        27,
        "s6-node-failure",
        "Node failure: replace 3 by 4",
        "KIP-853, S6",
        ("add-voter.append-and-apply", "add-voter.reply-after-commit", "remove-voter.append-and-apply"),
        tuple(NODE_FAILURE),
    ),
    Scenario(
        28,
        "s6b-last-resort",
        "Last resort in a two-voter quorum",
        "KIP-853, S6b",
        ("remove-voter.append-and-apply", "voters.commit-by-new-set", "voters.never-empty"),
        tuple(LAST_RESORT),
    ),
)
