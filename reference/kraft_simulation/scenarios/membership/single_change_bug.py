"""S10: the bug of single-server changes."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, observe, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()
_LIST = without_list(5)

EPOCH_COMMITTED = "voters.epoch-committed-before-change"

_C = voter_set(1, 2, 3, 4)
_D = voter_set(1, 2, 3, 4, 5)
_E = voter_set(2, 3, 4)


def _competing(d: Director) -> None:
    """The steps 1 to 3, and LC(e3)@11."""
    start(d, 4, 1, end_offset=10)
    d.end_offsets(10, 10, 10, 10, 10)
    d.step("1. 1 leads e2, LC(e2)@10 on all, committed")
    for voter in (1, 2, 3):
        d.fetch_timeout(voter)
    for voter in (2, 3):
        d.pre_vote(1, voter, "granted")
    for voter in (2, 3):
        d.vote(1, voter, "granted")
    d.lose(1)
    announce(d, 1)
    d.fetch(5, 4, "FENCED_LEADER_EPOCH")
    observe(d, 1, 2, 3, 4, 5)
    d.end_offsets(11, 11, 11, 11, 11)
    d.line(1, _C, 11, "1:11 2:11 3:11 4:11 5:11", 11)
    d.step("2. 1 appends D: V{1,2,3,4,5}@11, reaches 5 only")
    d.add_voter(1, 5)
    d.learn_versions(1, 5)
    d.set_offset(1, 11)
    d.fetch(5, 1)
    d.end_offsets(12, 11, 11, 11, 12)
    d.line(1, _D, 12, "1:12 2:11 3:11 4:11 5:11", 11)
    d.voters(5, _D)
    d.step("3. 1 cut off; 2 wins e3 with 2,3,4 (3 of C)")
    d.cut(1, 2, 3, 4)
    d.cut(5, 2, 3, 4)
    for voter in (2, 3, 4):
        d.fetch_timeout(voter)
    d.lose(4)
    for voter in (3, 4):
        d.pre_vote(2, voter, "granted")
    for voter in (3, 4):
        d.vote(2, voter, "granted")
    d.lose(2)
    d.roles("L(2)", "L(3)", "U(3,voted=2)", "U(3,voted=2)", "F(2,1)")
    d.begin_quorum_epoch(2, 3)
    d.step("4. 2 appends LC(e3)@11")
    d.line(2, _C, 12, "2:12 3:0 4:0", 11)


def _campaigns(d: Director) -> None:
    d.step("6. 1 is back with 4, 5; campaigns e4 under D")
    d.cut(4, 2, 3)
    d.heal(1, 4)
    d.check_quorum_timeout(1)
    d.answered(1, "NOT_LEADER_OR_FOLLOWER")
    d.election_timeout(1)
    d.fetch_timeout(5)
    d.lose(5)
    d.election_timeout(1)
    d.roles("P(3)")
    d.voters(1, _D)
    d.pre_vote(1, 5, "granted")


@VARIANTS.variant("right", cluster(5, (1, 2, 3, 4), formatted=_LIST))
def prevented(d: Director) -> None:
    """REQUEST_TIMED_OUT until LC(e3) is committed; then 4 refuses 1, which has 2 of 5."""
    # 2 first needs LC(e3)@11 on 3 of C; then 4's last epoch is e3, and 1 gets only 1 and 5, 2 of 5.
    _competing(d)
    d.step("4. E has to wait for LC(e3)@11 on 3 of C = {2,3,4}")
    d.answered(d.remove_voter(2, 1), "REQUEST_TIMED_OUT")
    d.line(2, _C, 12, "2:12 3:0 4:0", 11)
    observe(d, 2, 3)
    d.line(2, _C, 12, "2:12 3:12 4:0", 11)
    d.answered(d.remove_voter(2, 1), "REQUEST_TIMED_OUT")
    d.begin_quorum_epoch(2, 4)
    d.replicate(4, 2)
    d.line(2, _C, 12, "2:12 3:12 4:12", 12)
    removal = d.remove_voter(2, 1)
    d.line(2, _E, 13, "2:13 3:12 4:12", 12)
    d.step("5. under E: 2 and 3 are 2 of 3")
    d.replicate(3, 2)
    d.line(2, _E, 13, "2:13 3:13 4:12", 13)
    d.answered(removal, "NONE")
    _campaigns(d)
    d.step("6. 4 refuses, although its fetch timer fired: its last epoch is e3")
    d.check("granted to 1", sorted(d.state(1).granted), [1, 5])
    d.fetch_timeout(4)
    d.lose(4)
    d.pre_vote(1, 4, "refused")
    d.step("and its answer tells 1 who leads e3")
    d.roles("F(3,2)", "L(3)", "F(3,2)", "P(3,2)", "U(3)")


@VARIANTS.variant(
    "wrong",
    cluster(5, (1, 2, 3, 4), formatted=_LIST),
    "CommittedNeverLost",
    "ConfigOverlap",
    "LeaderCompleteness",
    "NoNeedlessElection",
    "StateMachineSafety",
    mutants=(EPOCH_COMMITTED,),
)
def bug(d: Director) -> None:
    """{2,3} of E commit its records, {1,4,5} of D elect 1 without them."""
    # D and E are both one step from C but two steps from each other: {2,3} and {1,4,5} decide independently.
    _competing(d)
    d.step("4. and at once E: V{2,3,4}@12, reaches 3 only")
    removal = d.remove_voter(2, 1)
    d.set_offset(2, 12)
    d.line(2, _E, 13, "2:13 3:0 4:0", 11)
    d.fetch(3, 2)
    d.end_offsets(12, 13, 13, 11, 12)
    d.unanswered(removal)
    d.step("5. under E: 2 and 3 are 2 of 3")
    d.fetch(3, 2)
    d.line(2, _E, 13, "2:13 3:13 4:0", 13)
    d.answered(removal, "NONE")
    d.append(2)
    d.replicate(3, 2)
    d.line(2, _E, 14, "2:14 3:14 4:0", 14)
    _campaigns(d)
    d.pre_vote(1, 4, "granted")
    d.vote(1, 5, "granted")
    d.vote(1, 4, "granted")
    d.roles("L(4)", "L(3)", "F(3,2)", "U(4,voted=1)", "U(4,voted=1)")
    d.records(1, 10, "LC V LC")
    d.step("7. 1 overwrites @11.. on 4, 5, later on 2, 3")
    announce(d, 1)
    observe(d, 1, 4, 5)
    d.line(1, _D, 13, "1:13 4:13 5:13", 13)
    d.heal(1, 3)
    d.crash(3)
    d.restart(3)
    d.lose(1)
    d.request_timeout(1, 3)
    d.begin_quorum_epoch(1, 3)
    d.fetch(3, 1)
    d.records(3, 10, "LC")
    d.voters(3, _C)


SCENARIOS = (
    Scenario(
        33,
        "s10-single-change-bug",
        "The bug of single-server changes",
        "KIP-853, S10",
        (EPOCH_COMMITTED,),
        tuple(VARIANTS),
    ),
)
