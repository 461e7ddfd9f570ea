"""A leader that has removed itself: whether it counts its own log for the high watermark until that is committed."""

from kraft_spec.proofs.linear import Fact, Term, at_most, less, variable
from kraft_spec.proofs.theorems.data import Counterexample, Obligation, Theorem, Weakening
from kraft_spec.proofs.theorems.room import even, odd
from kraft_spec.proofs.venn import Diagram

_DIAGRAM = Diagram(
    "Old",
    "New",
    "Leader",
    "Replicated",
    "NextMajority",
    within={"New": "Old", "Leader": "Old", "Replicated": "Old", "NextMajority": "Old"},
)
_OLD, _NEW, _LEADER, _REPLICATED, _NEXT = (_DIAGRAM[name] for name in _DIAGRAM.names)
_NEW_SIZE = _DIAGRAM.size(_NEW)


def _committed(counted: Term) -> Fact:
    """The leader counts so many as a majority of the new set."""
    return less("committed", _NEW_SIZE, 2 * counted)


_WITHOUT_LEADER = _committed(_DIAGRAM.size(_REPLICATED & _NEW))
_WITH_LEADER = _committed(_DIAGRAM.size(_REPLICATED & (_NEW | _LEADER)))
_TWO_REMAIN = at_most("two-remain", 2, _NEW_SIZE)


def _next_leader_has_it(
    case: str, committed: Fact, election: str, *more: Fact, numbers: tuple[str, ...] = ()
) -> Obligation:
    """Whoever is elected next by the set of that name has what the leader committed."""
    premises = (
        _DIAGRAM.singleton("one-leader", _LEADER),
        _DIAGRAM.same("leader-removed-itself", _NEW, _OLD - _LEADER),
        _DIAGRAM.inside("leader-has-it", _LEADER, _REPLICATED),
        committed,
        _DIAGRAM.majority("next-election", _NEXT, _DIAGRAM[election]),
        _DIAGRAM.inside("voters-vote", _NEXT, _DIAGRAM[election]),
        *more,
    )
    return Obligation(case, _DIAGRAM, premises, _DIAGRAM.disjoint("no-voter-has-it", _NEXT, _REPLICATED), numbers)


def _sets(*members: tuple[int, ...]) -> Counterexample:
    return Counterexample(dict(zip(_DIAGRAM.names, members, strict=True)))


def _refuted(name: str, change: str, refuted: Obligation, counterexample: Counterexample) -> Weakening:
    return Weakening(name, change, refuted, (_NEW_SIZE,), counterexample)


def _not_counted() -> Theorem:
    by_new = _next_leader_has_it("elected-by-new", _WITHOUT_LEADER, "New")
    counted = by_new.instead(_WITH_LEADER)
    return Theorem(
        "leader-outside-not-counted",
        "If a leader that has removed itself does not count itself, whatever it commits is in the log of a voter of "
        "every majority, of the new set and of the old one.",
        (
            "voters.leader-removed-not-counted",
            "hw.leader-excluded",
            "state.leader.outside-voters-set",
            "remove-voter.leader-removal",
        ),
        (by_new, _next_leader_has_it("elected-by-old", _WITHOUT_LEADER, "Old")),
        (
            _refuted("counted", "the leader counts itself", counted, _sets((1, 2), (1,), (2,), (2,), (1,))),
            _refuted(
                "counted-two-remain",
                "the leader counts itself, and two voters or more remain",
                counted.also(_TWO_REMAIN),
                _sets((1, 2, 3, 4), (1, 2, 3), (4,), (1, 4), (2, 3)),
            ),
        ),
    )


def _counted() -> Theorem:
    """Why tests with an even number of remaining voters do not find the bug."""
    remaining = Diagram("New")
    size = remaining.size(remaining["New"])
    every_odd = odd("odd", size)
    by_even = _next_leader_has_it(
        "elected-by-new-even", _WITH_LEADER, "New", even("even", _NEW_SIZE), numbers=("half",)
    )
    half = variable("half")
    return Theorem(
        "leader-outside-counted",
        "If a leader that has removed itself counts itself, the next leader of the new set may lack what it committed "
        "exactly if that set has an odd number of voters; the next leader of the old set never does.",
        ("voters.leader-removed-not-counted", "hw.leader-excluded"),
        (
            by_even,
            _next_leader_has_it("elected-by-old", _WITH_LEADER, "Old"),
            Obligation(
                "odd-commits", remaining, (every_odd,), at_most("not-committed", 2 * (half + 1), size), ("half",)
            ),
            Obligation(
                "odd-elects", remaining, (every_odd,), at_most("not-elected", 2 * (size - half), size), ("half",)
            ),
        ),
        (
            _refuted(
                "two-remain",
                "the new set has an even or odd number of voters, two or more",
                by_even.without("even").also(_TWO_REMAIN),
                _sets((1, 2, 3, 4), (1, 2, 3), (4,), (1, 4), (2, 3)),
            ),
        ),
        "For an odd number the leader and half of the others, rounded down, commit; the rest of them elect.",
    )


THEOREMS = (_not_counted(), _counted())
