"""Single changes of a voter set: those after which every majority of the old set intersects every one of the new."""

from kraft_proofs.linear import Fact, at_most, equal
from kraft_proofs.theorems.data import EVERY, Obligation, Theorem, meet
from kraft_proofs.theorems.room import even, odd, room_far_apart, room_for_both
from kraft_proofs.venn import Diagram

_DIAGRAM = Diagram("Old", "New", "OldMajority", "NewMajority", within={"OldMajority": "Old", "NewMajority": "New"})
_OLD, _NEW, _, _ = (_DIAGRAM[name] for name in _DIAGRAM.names)
_ALL = (_OLD | _NEW,)
_NONE_ADDED = _DIAGRAM.inside("none-added", _NEW, _OLD)
_NONE_REMOVED = _DIAGRAM.inside("none-removed", _OLD, _NEW)
_ONE_ADDED = _DIAGRAM.singleton("one-added", _NEW - _OLD)
_ONE_REMOVED = _DIAGRAM.singleton("one-removed", _OLD - _NEW)
_TWO_ADDED = equal("two-added", _DIAGRAM.size(_NEW - _OLD), 2)
_TWO_REMOVED = equal("two-removed", _DIAGRAM.size(_OLD - _NEW), 2)
_EVEN = even("even", _DIAGRAM.size(_OLD))
_TWO_BEFORE_AND_AFTER = (
    at_most("two-before", 2, _DIAGRAM.size(_OLD)),
    at_most("two-after", 2, _DIAGRAM.size(_NEW)),
)


def _intersect(*premises: Fact, case: str = EVERY) -> Obligation:
    return meet(case, _DIAGRAM, "Old", "New", *premises, half=_EVEN in premises)


def _majorities_of_one_set() -> Theorem:
    """Return the theorem behind the single leader of an epoch, and behind its having all committed records."""
    diagram = Diagram("Voters", "OneMajority", "OtherMajority")
    voters, first, second = (diagram[name] for name in diagram.names)
    majorities = (diagram.majority("one-majority", first, voters), diagram.majority("other-majority", second, voters))
    every = Obligation(EVERY, diagram, majorities, diagram.disjoint("no-replica-in-both", first, second))
    halves = every.also(at_most("a-voter", 1, diagram.size(voters)))
    for name, majority in (("one-majority", first), ("other-majority", second)):
        halves = halves.instead(at_most(name, diagram.size(voters), 2 * diagram.size(majority & voters)))
    return Theorem(
        "majorities-of-one-set",
        "Two majorities of the same voter set share a replica.",
        ("state.voters-set.own-majority", "state.candidate.to-leader", "hw.majority", "vote.once-per-epoch"),
        (every,),
        (
            halves.weakened(
                "half-is-enough",
                "half of the voters is enough, and there is a voter",
                (voters | first | second,),
                "1,2 | 1 | 2",
            ),
        ),
    )


def _majorities_of_neighbours() -> Theorem:
    """Return the theorem behind changes of one replica at a time; a majority may include non-voters here."""
    diagram = Diagram("Old", "New", "OldMajority", "NewMajority")
    old, new, of_old, of_new = (diagram[name] for name in diagram.names)
    apart = diagram.size(old ^ new)
    every = meet(EVERY, diagram, "Old", "New", at_most("at-most-one-apart", apart, 1))
    two_apart = every.instead(at_most("at-most-one-apart", apart, 2))
    return Theorem(
        "majorities-of-neighbours",
        "A majority of one voter set and a majority of another share a replica if the sets differ by at most one.",
        (
            "voters.at-most-one-difference",
            "voters.one-change-at-a-time",
            "voters.commit-by-new-set",
            "state.voters-set.own-majority",
        ),
        (every,),
        (
            two_apart.weakened(
                "two-apart", "the sets differ by at most two", (old | new | of_old | of_new,), "1 | 2 | 1 | 2"
            ),
        ),
    )


def _same_set() -> Theorem:
    every = _intersect(_DIAGRAM.same("same", _OLD, _NEW))
    as_many = every.instead(equal("same", _DIAGRAM.size(_OLD), _DIAGRAM.size(_NEW)))
    return Theorem(
        "same-set",
        "All majorities of two voter sets with the same replicas intersect, whatever else the sets say of them.",
        ("update-voter.not-a-membership-change", "voters.at-most-one-difference"),
        (every,),
        (as_many.weakened("as-many", "the new set has as many replicas as the old", _ALL, "1 | 2 | 1 | 2"),),
    )


def _one_at_once(slug: str, done: str, rule: str, fixed: Fact, single: Fact, double: Fact, smallest: str) -> Theorem:
    """Return a theorem on one added or removed voter: `fixed` excludes the opposite, `double` makes it two voters."""
    every = _intersect(fixed, single)
    return Theorem(
        slug,
        f"All majorities of a voter set and of the same set with one voter {done} intersect.",
        (rule, "voters.at-most-one-difference"),
        (every,),
        (every.without(single.name).also(double).weakened(double.name, f"two voters are {done}", _ALL, smallest),),
    )


def _two_at_once(slug: str, done: str, facts: tuple[Fact, ...], smallest: str, larger: str) -> Theorem:
    """Return a theorem on a change of two replicas in one step, which KIP-853 forbids at any size.

    Args:
        slug: The theorem's.
        done: The step's change, in the passive.
        facts: The same as facts.
        smallest: The smallest sets with disjoint majorities.
        larger: The same for sets with at least two voters before and after.
    """
    any_size = _intersect(*facts)
    two_or_more = any_size.also(*_TWO_BEFORE_AND_AFTER)
    words = "the number of voters is even or odd"
    return Theorem(
        slug,
        f"All majorities of a voter set and of the same set with {done} intersect if the number of voters is even.",
        ("voters.at-most-one-difference",),
        (_intersect(*facts, _EVEN),),
        (
            any_size.weakened("any-size", words, _ALL, smallest),
            two_or_more.weakened("two-or-more", f"{words}, and never less than two", _ALL, larger),
        ),
    )


def _which_changes() -> Theorem:
    """Return the closed form with which tests compare the verdict on any two voter sets; the verdict itself uses Z3."""
    diagram = Diagram("Old", "New")
    old, new = diagram["Old"], diagram["New"]
    apart = diagram.size(old ^ new)
    voters = (at_most("old-has-a-voter", 1, diagram.size(old)), at_most("new-has-a-voter", 1, diagram.size(new)))
    two_apart = equal("two-apart", apart, 2)
    close = room_for_both(
        "two-apart-odd", diagram, old, new, *voters, two_apart, odd("odd", diagram.size(old)), numbers=("half",)
    )
    far = room_far_apart("three-apart", diagram, old, new, *voters, at_most("three-apart", 3, apart))
    apart_by_two = equal("two-apart", _DIAGRAM.size(_OLD ^ _NEW), 2)
    return Theorem(
        "which-changes-intersect",
        "All majorities of two non-empty voter sets intersect if and only if the sets differ by at most one replica, "
        "or by two and both have an even number of voters.",
        ("voters.at-most-one-difference",),
        (
            _intersect(at_most("one-apart", _DIAGRAM.size(_OLD ^ _NEW), 1), case="one-apart"),
            _intersect(apart_by_two, _EVEN, case="two-apart-even"),
            *close,
            *far,
        ),
        (
            _intersect(apart_by_two, case="two-apart").weakened(
                "two-apart", "sets of any size may differ by two", _ALL, "1 | 2 | 1 | 2"
            ),
            close[-1]
            .without("odd")
            .weakened(
                "two-apart-never",
                "two sets that differ by two always have disjoint majorities",
                (old | new,),
                "1,2 | 1,3",
                **{"majority-of-old": 2, "majority-of-new": 2},
            ),
        ),
        "The first two cases are the one direction. For the other, take of each set first the replicas that the other "
        "lacks and then common ones, up to the smallest majority: the common ones are always enough. Sets that differ "
        "by two have both even or both odd sizes. Neither set may be empty: an empty one has no majority that "
        "could be disjoint from another.",
    )


MAJORITIES = (_majorities_of_one_set(), _majorities_of_neighbours())
"""Theorems that the inductive proof relies on.

In both a majority is any set of replicas with more than half of the voters, possibly with other replicas.
`kraft_proofs.induction` assumes them in this form, and nothing else about majorities.
"""

THEOREMS = (
    *MAJORITIES,
    _same_set(),
    _one_at_once(
        "add-one", "added", "add-voter.append-and-apply", _NONE_REMOVED, _ONE_ADDED, _TWO_ADDED, "1 | 1,2,3 | 1 | 2,3"
    ),
    _one_at_once(
        "remove-one",
        "removed",
        "remove-voter.append-and-apply",
        _NONE_ADDED,
        _ONE_REMOVED,
        _TWO_REMOVED,
        "1,2,3 | 1 | 2,3 | 1",
    ),
    _two_at_once(
        "replace-one-even",
        "one voter replaced",
        (_ONE_ADDED, _ONE_REMOVED),
        "1 | 2 | 1 | 2",
        "1,2,3 | 1,2,4 | 1,3 | 2,4",
    ),
    _two_at_once(
        "add-two-even",
        "two voters added",
        (_NONE_REMOVED, _TWO_ADDED),
        "1 | 1,2,3 | 1 | 2,3",
        "1,2,3 | 1,2,3,4,5 | 1,2 | 3,4,5",
    ),
    _two_at_once(
        "remove-two-even",
        "two voters removed",
        (_NONE_ADDED, _TWO_REMOVED),
        "1,2,3 | 1 | 2,3 | 1",
        "1,2,3,4,5 | 1,2,3 | 1,4,5 | 2,3",
    ),
    _which_changes(),
)
