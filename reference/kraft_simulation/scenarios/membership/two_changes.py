"""S11: two changes at once, and two voters in one change."""

from kraft_reference.events import AppendVoters
from kraft_reference.outcome import Refusal
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import observe, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()
_LIST = without_list(4, 5)
_RIGHT = cluster(5, (1, 2, 3), formatted=_LIST)
_LOSS = ("CommittedNeverLost", "ConfigOverlap", "LeaderCompleteness")

ONE_AT_A_TIME = "voters.one-change-at-a-time"
ONE_DIFFERENCE = "voters.at-most-one-difference"

_THREE = voter_set(1, 2, 3)
_FOUR = voter_set(1, 2, 3, 4)
_FIVE = voter_set(1, 2, 3, 4, 5)


def _first_appended(d: Director) -> int:
    start(d, 1, 1, end_offset=10)
    d.line(1, _THREE, 10, "1:10 2:10 3:10 4:10 5:10", 10)
    d.step("1 appends V{1,2,3,4}@10; fetched by 5")
    addition = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.set_offset(1, 10)
    d.line(1, _FOUR, 11, "1:11 2:10 3:10 4:10 5:10", 10)
    d.replicate(5, 1)
    return addition


def _others_elect(d: Director) -> None:
    d.step("2 and 3 (LEO 10, set {1,2,3}) elect 2 in e2 with 2 of 3 and overwrite @10")
    d.cut(1, 2, 3)
    d.cut(4, 2, 3)
    d.cut(5, 2, 3)
    d.voters(2, _THREE)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.lose(3)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.begin_quorum_epoch(2, 3)
    d.replicate(3, 2)
    d.records(2, 10, "LC")
    d.line(2, _THREE, 11, "2:11 3:11", 11)


@VARIANTS.variant("right", _RIGHT)
def one_waits(d: Director) -> None:
    """REQUEST_TIMED_OUT until V@10 is on 3 of {1,2,3,4}."""
    # @11 waits for @10, which needs 3 of {1,2,3,4}, so 2 or 3 has it.
    first = _first_appended(d)
    d.step("the second change waits")
    d.answered(d.add_voter(1, 5), "REQUEST_TIMED_OUT")
    d.line(1, _FOUR, 11, "1:11 2:10 3:10 4:10 5:11", 10)
    d.replicate(4, 1)
    d.high_watermark(1, 10)
    d.answered(d.add_voter(1, 5), "REQUEST_TIMED_OUT")
    d.step("ack(2)=11: 3 of {1,2,3,4}")
    d.replicate(2, 1)
    d.line(1, _FOUR, 11, "1:11 2:11 3:10 4:11 5:11", 11)
    d.answered(first, "NONE")
    d.step("V{1,2,3,4,5}@11")
    second = d.add_voter(1, 5)
    d.learn_versions(1, 5)
    d.set_offset(1, 11)
    observe(d, 1, 4, 5)
    d.line(1, _FIVE, 12, "1:12 2:11 3:10 4:12 5:12", 12)
    d.answered(second, "NONE")
    d.step("2 and 3 cannot elect anybody: 2 needs 3 of {1,2,3,4}")
    d.cut(2, 1, 4, 5)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.lose(3)
    d.pre_vote(2, 3, "granted")
    d.check("granted to 2", sorted(d.state(2).granted), [2, 3])
    d.roles("L(1)", "P(1,1)")


@VARIANTS.variant(
    "wrong",
    cluster(5, (1, 2, 3), formatted=_LIST),
    *_LOSS,
    "NoNeedlessElection",
    "OnePendingChange",
    "StateMachineSafety",
    mutants=(ONE_AT_A_TIME,),
)
def both(d: Director) -> None:
    """{1,4,5} commit both sets, {2,3} elect 2 without them."""
    # Counted over the last set: 1:12 4:12 5:12, 3 of 5, HW 12; {2,3} of {1,2,3} know nothing of it.
    first = _first_appended(d)
    # The answer to the first request would come with the commit; its client does not wait for it.
    d.voter_change_timeout(1)
    d.answered(first, "REQUEST_TIMED_OUT")
    d.step("and V{1,2,3,4,5}@11")
    second = d.add_voter(1, 5)
    d.learn_versions(1, 5)
    d.set_offset(1, 11)
    d.line(1, _FIVE, 12, "1:12 2:10 3:10 4:10 5:11", 10)
    d.step("fetched by 4 and 5")
    d.replicate(4, 1)
    d.replicate(5, 1)
    d.line(1, _FIVE, 12, "1:12 2:10 3:10 4:12 5:12", 12)
    d.answered(second, "NONE")
    _others_elect(d)


def _two_in_one(d: Director) -> None:
    start(d, 1, 1, end_offset=10)
    d.step("V{1,2,3,4,5}@10, two voters more in one record")


@VARIANTS.variant("right-two-in-one", _RIGHT)
def two_in_one_refused(d: Director) -> None:
    """A set with two voters more is not appended."""
    # No request asks for two voters; whatever asks otherwise is held to the same rule.
    _two_in_one(d)
    occurrence = d.happen(1, AppendVoters(_FIVE))
    d.check("the refusal", occurrence.refusal, Refusal.CHANGE_NOT_ALLOWED)
    d.line(1, _THREE, 10, "1:10 2:10 3:10", 10)


@VARIANTS.variant(
    "wrong-two-in-one",
    cluster(5, (1, 2, 3), formatted=_LIST),
    *_LOSS,
    "NoNeedlessElection",
    "StateMachineSafety",
    mutants=(ONE_DIFFERENCE,),
)
def two_in_one(d: Director) -> None:
    """{1,4,5} commit the set, {2,3} elect 2 without it."""
    # The same loss in one record instead of two.
    _two_in_one(d)
    d.append_voters(1, _FIVE)
    d.line(1, _FIVE, 11, "1:11 2:10 3:10 4:10 5:10", 10)
    for new in (4, 5):
        d.replicate(new, 1)
    d.line(1, _FIVE, 11, "1:11 2:10 3:10 4:11 5:11", 11)
    _others_elect(d)


SCENARIOS = (
    Scenario(
        34,
        "s11-two-changes",
        "Two changes at once",
        "KIP-853, S11",
        (ONE_AT_A_TIME, ONE_DIFFERENCE),
        tuple(VARIANTS),
    ),
)
