"""Theorems on a leader that has removed itself and may count its own log until the removal is committed."""

from kraft_proofs.linear import Fact, at_most, less, variable
from kraft_proofs.theorems.data import Obligation, Theorem
from kraft_proofs.theorems.room import even, odd
from kraft_proofs.venn import Diagram, SetExpression

_DIAGRAM = Diagram(
    *("Old", "New", "Leader", "Replicated", "NextMajority"),
    within={"New": "Old", "Leader": "Old", "Replicated": "Old", "NextMajority": "Old"},
)
_OLD, _NEW, _LEADER, _REPLICATED, _NEXT = (_DIAGRAM[name] for name in _DIAGRAM.names)
_NEW_SIZE = _DIAGRAM.size(_NEW)
_TWO_REMAIN = at_most("two-remain", 2, _NEW_SIZE)
_TWO_REMAIN_SETS = "1,2,3,4 | 1,2,3 | 4 | 1,4 | 2,3"


def _next_leader_has_it(case: str, election: str, *more: Fact, counts: SetExpression = _NEW) -> Obligation:
    """State that the next leader, elected by the set of that name, has the entries that the leader committed.

    A commit needs a majority of the new set, counted among `counts`.
    """
    premises = (
        _DIAGRAM.singleton("one-leader", _LEADER),
        _DIAGRAM.same("leader-removed-itself", _NEW, _OLD - _LEADER),
        _DIAGRAM.inside("leader-has-it", _LEADER, _REPLICATED),
        less("committed", _NEW_SIZE, 2 * _DIAGRAM.size(_REPLICATED & counts)),
        _DIAGRAM.majority("next-election", _NEXT, _DIAGRAM[election]),
        _DIAGRAM.inside("voters-vote", _NEXT, _DIAGRAM[election]),
        *more,
    )
    return Obligation(case, _DIAGRAM, premises, _DIAGRAM.disjoint("no-voter-has-it", _NEXT, _REPLICATED), ("half",))


def _prove_not_counted() -> Theorem:
    counted = _next_leader_has_it("elected-by-new", "New", counts=_NEW | _LEADER)
    return Theorem(
        "leader-outside-not-counted",
        "If a leader that has removed itself does not count itself, whatever it commits is in the log of a voter of "
        "every majority, of the new set and of the old one.",
        ("hw.leader-excluded", "remove-voter.leader-removal"),
        (_next_leader_has_it("elected-by-new", "New"), _next_leader_has_it("elected-by-old", "Old")),
        (
            counted.weakened("counted", "the leader counts itself", (_NEW,), "1,2 | 1 | 2 | 2 | 1"),
            counted.also(_TWO_REMAIN).weakened(
                "counted-two-remain",
                "the leader counts itself, and two voters or more remain",
                (_NEW,),
                _TWO_REMAIN_SETS,
            ),
        ),
    )


def _prove_counted() -> Theorem:
    """Return the theorem that explains why tests with an even number of remaining voters miss the bug."""
    remaining = Diagram("New")
    size = remaining.size(remaining["New"])
    every_odd, half = (odd("odd", size),), variable("half")
    counts = _NEW | _LEADER
    by_even = _next_leader_has_it("elected-by-new-even", "New", even("even", _NEW_SIZE), counts=counts)
    not_committed = at_most("not-committed", 2 * (half + 1), size)
    not_elected = at_most("not-elected", 2 * (size - half), size)
    return Theorem(
        "leader-outside-counted",
        "If a leader that has removed itself counts itself, the next leader of the new set may lack what it committed "
        "exactly if that set has an odd number of voters; the next leader of the old set never does.",
        ("hw.leader-excluded",),
        (
            by_even,
            _next_leader_has_it("elected-by-old", "Old", counts=counts),
            Obligation("odd-commits", remaining, every_odd, not_committed, ("half",)),
            Obligation("odd-elects", remaining, every_odd, not_elected, ("half",)),
        ),
        (
            by_even.without("even")
            .also(_TWO_REMAIN)
            .weakened(
                "two-remain",
                "the new set has an even or odd number of voters, two or more",
                (_NEW,),
                _TWO_REMAIN_SETS,
            ),
        ),
        "For an odd number the leader and half of the others, rounded down, commit; the rest of them elect.",
    )


THEOREMS = (_prove_not_counted(), _prove_counted())
