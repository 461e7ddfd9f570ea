"""S12 and S13: a set is in force from its append on, and until it is truncated.

No variant omits these rules; mutants of the model and the reference do.
The stories go to where the mutants lose a committed record, and show what prevents it.
"""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, observe, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

EFFECTIVE_ON_APPEND = Variants()
TRUNCATION_REVERTS = Variants()
_OF_THREE = cluster(5, (1, 2, 3), formatted=without_list(4, 5))

_THREE = voter_set(1, 2, 3)
_O = voter_set(1, 2, 3, 4)
_FIVE = voter_set(1, 2, 3, 4, 5)


def _three_commits(d: Director) -> None:
    """The steps 1 to 3; counted over the set just appended instead of the one before, with the same numbers."""
    start(d, 1, 1, end_offset=10)
    d.step("1. V{1,2,3,4}@10 on 1, 2, 4")
    fourth = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.line(1, _O, 11, "1:11 2:10 3:10 4:10", 10)
    for follower in (2, 4):
        d.replicate(follower, 1)
    d.line(1, _O, 11, "1:11 2:11 3:10 4:11", 11)
    d.answered(fourth, "NONE")
    d.step("2. V{1,2,3,4,5}@11 on 1, 2, 4")
    observe(d, 1, 5)
    fifth = d.add_voter(1, 5)
    d.learn_versions(1, 5)
    d.line(1, _FIVE, 12, "1:12 2:11 3:10 4:11 5:11", 11)
    for follower in (2, 4):
        d.replicate(follower, 1)
    d.line(1, _FIVE, 12, "1:12 2:12 3:10 4:12 5:11", 12)
    d.answered(fifth, "NONE")
    d.step("3. X@12 on 1, 4, 5")
    d.append(1)
    for follower in (4, 5):
        d.replicate(follower, 1)
    d.line(1, _FIVE, 13, "1:13 2:12 3:10 4:13 5:13", 13)
    d.end_offsets(13, 12, 10, 13, 13)


def _second_alone(d: Director) -> None:
    d.step("5. 1, 4, 5 cut off; 2 campaigns e2; 3 (LEO 10) grants: 2 of 5")
    d.cut(2, 1, 4, 5)
    d.cut(3, 1, 4, 5)
    d.voters(2, _FIVE)
    d.set_offset(2, 11)
    d.voters(3, _THREE)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.lose(3)
    d.pre_vote(2, 3, "granted")
    d.check("granted to 2", sorted(d.state(2).granted), [2, 3])
    d.roles("L(1)", "P(1,1)", "P(1,1)", "F(1,1)", "F(1,1)")
    d.step("1, 4, 5 are back: they have X and refuse")
    d.heal(2, 1, 4, 5)
    for voter in (4, 5):
        d.fetch_timeout(voter)
        d.lose(voter)
        d.request_timeout(2, voter)
        d.pre_vote(2, voter, "refused")
    d.request_timeout(2, 1)
    d.pre_vote(2, 1, "refused")
    d.roles("L(1)", "F(1,1)", "P(1,1)", "P(1,1)", "P(1,1)")
    d.records(1, 12, "X")


@EFFECTIVE_ON_APPEND.variant("right", _OF_THREE)
def effective_on_append(d: Director) -> None:
    """2 has {1,2,3,4,5} from its log and needs 3 of 5."""
    # The steps 1 to 3 and 5. Without the restart even the mutation is safe: a set in use lags by one step at most.
    _three_commits(d)
    _second_alone(d)


@EFFECTIVE_ON_APPEND.variant("right-restart", _OF_THREE)
def effective_on_append_restart(d: Director) -> None:
    """The same after a restart without HW."""
    # The whole table: after the restart 2 knows no high watermark, and yet its log says {1,2,3,4,5}.
    _three_commits(d)
    d.step("4. 2 restarts: log up to @11, no HW")
    d.crash(2)
    d.restart(2)
    d.high_watermark(2, -1)
    d.end_offsets(13, 12)
    _second_alone(d)


@TRUNCATION_REVERTS.variant("right", cluster(5, (1, 2, 3, 4), formatted=without_list(5)))
def truncation_reverts(d: Director) -> None:
    """1 uses {1,2,3,4} again and cannot be elected by 1 and 3."""
    # The table. 1 uses O again after step 2; the mutation would keep {1,2,3} and be elected by 1 and 3 in step 5.
    start(d, 1, 1, end_offset=10)
    d.line(1, _O, 10, "1:10 2:10 3:10 4:10", 10)
    d.step("1. L=1 e1 appends V{1,2,3}@10 on itself only")
    removal = d.remove_voter(1, 4)
    d.line(1, _THREE, 11, "1:11 2:10 3:10", 10)
    d.step("2. 2 wins e2 by 2,3,4 (3 of O); LC(e2)@10 everywhere")
    for voter in (2, 3, 4):
        d.fetch_timeout(voter)
    d.lose(4)
    for voter in (3, 4):
        d.pre_vote(2, voter, "granted")
    for voter in (3, 4):
        d.vote(2, voter, "granted")
    d.lose(2)
    d.unanswered(removal)
    announce(d, 2)
    d.answered(removal, "NOT_LEADER_OR_FOLLOWER")
    d.voters(1, _THREE)
    d.fetch(1, 2)
    d.step("1 truncates @10")
    d.end_offsets(10, 11)
    d.voters(1, _O)
    d.set_offset(1, 2)
    d.fetch_timeout(5)
    d.fetch(5, 2, "FENCED_LEADER_EPOCH")
    observe(d, 2, 1, 3, 4, 5)
    d.line(2, _O, 11, "1:11 2:11 3:11 4:11", 11)
    d.step("3. X@11 on 1,2,3,4")
    d.append(2)
    observe(d, 2, 1, 3, 4, 5)
    d.line(2, _O, 12, "1:12 2:12 3:12 4:12", 12)
    d.step("4. 2 appends V{1,2,3,4,5}@12, on 2,4,5: 3 of 5")
    addition = d.add_voter(2, 5)
    d.learn_versions(2, 5)
    d.line(2, _FIVE, 13, "1:12 2:13 3:12 4:12 5:12", 12)
    observe(d, 2, 4, 5)
    d.line(2, _FIVE, 13, "1:12 2:13 3:12 4:13 5:13", 13)
    d.answered(addition, "NONE")
    d.end_offsets(12, 13, 12, 13, 13)
    d.step("5. 2,4,5 cut off; 1 campaigns e3 and needs 3 of {1,2,3,4}: 3 grants")
    d.cut(1, 2, 4, 5)
    d.voters(1, _O)
    d.fetch_timeout(1)
    d.fetch_timeout(3)
    d.lose(3)
    d.pre_vote(1, 3, "granted")
    d.roles("P(2,2)")
    d.check("granted to 1", sorted(d.state(1).granted), [1, 3])
    d.step("2 and 4 have a longer log and refuse")
    d.heal(1, 2, 4, 5)
    d.fetch_timeout(4)
    d.lose(4)
    for voter in (2, 4):
        d.request_timeout(1, voter)
        d.pre_vote(1, voter, "refused")
    d.roles("F(2,2)", "L(2)", "P(2,2)", "P(2,2)", "F(2,2)")
    d.records(2, 10, "LC X V")


SCENARIOS = (
    Scenario(
        35,
        "s12-effective-on-append",
        "Effective on append, not on commit",
        "KIP-853, S12",
        ("voters.effective-on-append",),
        tuple(EFFECTIVE_ON_APPEND),
    ),
    Scenario(
        36,
        "s13-truncation-reverts",
        "Truncation restores the previous set",
        "KIP-853, S13",
        ("voters.truncation-reverts",),
        tuple(TRUNCATION_REVERTS),
    ),
)
