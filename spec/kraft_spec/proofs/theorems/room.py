"""When two voters sets have majorities with no replica in common: when there is room for the smallest majority of each.

Take of each set first the replicas that the other lacks, and only then common ones. What has to be shown is that the
common replicas are enough for both; then there are two majorities that share nobody.
"""

from kraft_spec.proofs.linear import Fact, Term, at_most, equal, less, variable
from kraft_spec.proofs.theorems.data import Obligation
from kraft_spec.proofs.venn import Diagram, SetExpression

_OF_OLD = variable("majority-of-old")
_OF_NEW = variable("majority-of-new")


def room_for_both(
    case: str, diagram: Diagram, old: SetExpression, new: SetExpression, *premises: Fact, numbers: tuple[str, ...] = ()
) -> tuple[Obligation, ...]:
    """Two sets so close that each smallest majority needs common replicas have disjoint majorities.

    Returns:
        That the majorities are no smaller than what only one set has, and that the common replicas are enough.
    """
    removed, added, common = (diagram.size(part) for part in (old - new, new - old, old & new))
    denials = (
        ("removed-fit", less("removed-do-not-fit", _OF_OLD, removed)),
        ("added-fit", less("added-do-not-fit", _OF_NEW, added)),
        ("room", less("too-few-in-common", common, (_OF_OLD - removed) + (_OF_NEW - added))),
    )
    return tuple(
        _obligation(f"{case}-{name}", diagram, old, new, premises, denial, numbers) for name, denial in denials
    )


def room_far_apart(
    case: str, diagram: Diagram, old: SetExpression, new: SetExpression, *premises: Fact
) -> tuple[Obligation, ...]:
    """Two sets of which one may have a majority that needs no common replicas have disjoint majorities.

    Returns:
        Three of the four cases; where neither majority needs common replicas there is nothing to show.
    """
    removed, added, common = (diagram.size(part) for part in (old - new, new - old, old & new))
    cases = (
        (
            "both-need-common",
            (at_most("removed-fit", removed, _OF_OLD), at_most("added-fit", added, _OF_NEW)),
            (_OF_OLD - removed) + (_OF_NEW - added),
        ),
        (
            "old-needs-common",
            (at_most("removed-fit", removed, _OF_OLD), less("added-do-not-fit", _OF_NEW, added)),
            _OF_OLD - removed,
        ),
        (
            "new-needs-common",
            (less("removed-do-not-fit", _OF_OLD, removed), at_most("added-fit", added, _OF_NEW)),
            _OF_NEW - added,
        ),
    )
    return tuple(
        _obligation(
            f"{case}-{name}", diagram, old, new, (*premises, *fits), less("too-few-in-common", common, needed), ()
        )
        for name, fits, needed in cases
    )


def odd(name: str, size: Term) -> Fact:
    """The size is odd, with the number `half` for its half rounded down."""
    return equal(name, size, 2 * variable("half") + 1)


def even(name: str, size: Term) -> Fact:
    """The size is even, with the number `half` for its half."""
    return equal(name, size, 2 * variable("half"))


def _obligation(
    case: str,
    diagram: Diagram,
    old: SetExpression,
    new: SetExpression,
    premises: tuple[Fact, ...],
    denial: Fact,
    numbers: tuple[str, ...],
) -> Obligation:
    sizes = (
        _smallest_majority("smallest-majority-of-old", _OF_OLD, diagram.size(old)),
        _smallest_majority("smallest-majority-of-new", _OF_NEW, diagram.size(new)),
    )
    return Obligation(case, diagram, (*sizes, *premises), denial, ("majority-of-old", "majority-of-new", *numbers))


def _smallest_majority(name: str, majority: Term, voters: Term) -> Fact:
    """More than half of the voters, and with one fewer no longer."""
    return Fact(name, (*less(name, voters, 2 * majority).rows, *at_most(name, 2 * majority, voters + 2).rows))
