"""S14: votes without a membership check."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, observe, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()
_PAIR, _LIST = without_list(2), without_list(4)

MEMBERSHIP = "vote.membership-not-checked"

_FOUR = voter_set(1, 2, 3, 4)


def _second_unaware(d: Director) -> None:
    d.election_timeout(1)
    observe(d, 1, 2)
    d.line(1, voter_set(1), 3, "1:3 2:3", 3)
    d.step("(a) 1 appends V{1,2}@3 and restarts before 2 has it")
    d.add_voter(1, 2)
    d.learn_versions(1, 2)
    d.line(1, voter_set(1, 2), 4, "1:4 2:3", 3)
    d.crash(1)
    d.restart(1)
    d.voters(1, voter_set(1, 2))
    d.voters(2, voter_set(1))
    d.roles("R(1)", "F(1,1)")
    d.election_timeout(1)
    d.election_timeout(1)
    d.roles("P(2)", "F(1,1)")
    d.step("1 needs 2 of {1,2}")
    d.pre_vote(1, 2, "granted")
    d.roles("C(3)", "U(2)")


@VARIANTS.variant("right-a", cluster(2, (1,), formatted=_PAIR))
def second_grants(d: Director) -> None:
    """2 has set {1} and grants; HW 5."""
    # Reading: the text has 1 lead e2. A leader that restarts is Resigned in e1 and leaves it for e2 as Unattached
    # (state.resigned.timeout), so that it is elected in e3.
    _second_unaware(d)
    d.vote(1, 2, "granted")
    d.roles("L(3)", "U(3,voted=1)")
    d.records(1, 3, "V LC")
    d.line(1, voter_set(1, 2), 5, "1:5 2:0", -1)
    announce(d, 1)
    d.fetch(2, 1)
    d.voters(2, voter_set(1, 2))
    d.fetch(2, 1)
    d.line(1, voter_set(1, 2), 5, "1:5 2:5", 5)


@VARIANTS.variant("wrong-a", cluster(2, (1,), formatted=_PAIR), "EventualLeader", mutants=(MEMBERSHIP,))
def second_refuses(d: Director) -> None:
    """2 refuses for ever: no leader."""
    # 2 refuses because it is not a voter; no leader is ever elected.
    _second_unaware(d)
    d.vote(1, 2, "refused")

    def one_round() -> None:
        d.election_timeout(1)
        d.pre_vote(1, 2, "granted")
        d.vote(1, 2, "refused")

    one_round()
    d.lasso(one_round, "EventualLeader", epochs_grow=True)


def _fourth_unaware(d: Director) -> None:
    start(d, 1, 1, end_offset=10)
    d.step("(b) V{1,2,3,4}@10 on 1 and 2; 1 dies for good")
    request = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.fetch(2, 1)
    d.line(1, _FOUR, 11, "1:11 2:10 3:10 4:10", 10)
    d.crash(1)
    d.unanswered(request)
    d.end_offsets(11, 11, 10, 10)
    for replica_id in (2, 3, 4):
        d.fetch_timeout(replica_id)
    d.voters(2, _FOUR)
    d.voters(4, voter_set(1, 2, 3))
    d.step("3 (LEO 10, set {1,2,3}) is refused by 2")
    d.pre_vote(3, 2, "refused")
    d.lose(3)
    d.step("2 needs 3 of {1,2,3,4}: 2, 3 and 4")
    d.pre_vote(2, 3, "granted")
    d.pre_vote(2, 4, "granted")
    d.vote(2, 3, "granted")
    d.roles("stopped", "C(2)", "U(2,voted=2)", "F(1,1)")


@VARIANTS.variant("right-b", cluster(4, (1, 2, 3), formatted=_LIST))
def fourth_grants(d: Director) -> None:
    """4 grants without V@10: 2 leads e2."""
    # 4 has not read @10 and grants: 2 leads e2.
    _fourth_unaware(d)
    d.vote(2, 4, "granted")
    d.roles("stopped", "L(2)", "U(2,voted=2)", "U(2,voted=2)")
    announce(d, 2)
    observe(d, 2, 3, 4)
    d.records(2, 10, "V LC")
    d.line(2, _FOUR, 12, "2:12 3:12 4:12", 12)
    d.voters(4, _FOUR)


@VARIANTS.variant("wrong-b", cluster(4, (1, 2, 3), formatted=_LIST), "EventualLeader", mutants=(MEMBERSHIP,))
def fourth_refuses(d: Director) -> None:
    """4 refuses, 2 has 2 of 4, and 3's log is too short: no leader."""
    # 2 has 2 of 4, and 3 is refused by 2: stuck.
    _fourth_unaware(d)
    d.vote(2, 4, "refused")
    d.roles("stopped", "C(2)", "U(2,voted=2)", "U(2,voted=none)")

    def one_round() -> None:
        d.election_timeout(2)
        d.pre_vote(2, 3, "granted")
        d.pre_vote(2, 4, "granted")
        d.vote(2, 3, "granted")
        d.vote(2, 4, "refused")
        d.election_timeout(3)
        d.pre_vote(3, 2, "refused")
        d.lose(3)
        d.election_timeout(3)

    d.lasso(one_round, "EventualLeader", epochs_grow=True)


SCENARIOS = (
    Scenario(
        37,
        "s14-votes-without-membership",
        "Votes without a membership check",
        "KIP-853, S14 a and b",
        (MEMBERSHIP, "state.voters-set.own-majority"),
        tuple(VARIANTS),
    ),
)
