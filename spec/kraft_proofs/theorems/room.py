"""Voter sets with disjoint majorities: there is room for the smallest majority of each.

Each majority first takes the replicas that the other set lacks, and then common ones. If the common replicas are enough
for both, there are two disjoint majorities.
"""

from collections.abc import Iterator

from kraft_proofs.linear import Fact, Term, at_most, equal, less, variable
from kraft_proofs.theorems.data import Obligation
from kraft_proofs.venn import Diagram, SetExpression

_NUMBERS = ("majority-of-old", "majority-of-new")
_OF_OLD, _OF_NEW = map(variable, _NUMBERS)


def room_for_both(
    case: str, diagram: Diagram, old: SetExpression, new: SetExpression, *premises: Fact, numbers: tuple[str, ...] = ()
) -> tuple[Obligation, ...]:
    """State that two sets whose smallest majorities both need common replicas have disjoint majorities.

    Returns:
        Obligations that the majorities are no smaller than the part of only one set, and that the common ones suffice.
    """
    removed, added, common = (diagram.size(part) for part in (old - new, new - old, old & new))
    denials = {
        "removed-fit": less("removed-do-not-fit", _OF_OLD, removed),
        "added-fit": less("added-do-not-fit", _OF_NEW, added),
        "room": less("too-few-in-common", common, (_OF_OLD - removed) + (_OF_NEW - added)),
    }
    facts = (*_smallest_majorities(diagram, old, new), *premises)
    return tuple(
        Obligation(f"{case}-{name}", diagram, facts, denial, (*_NUMBERS, *numbers)) for name, denial in denials.items()
    )


def room_far_apart(
    case: str, diagram: Diagram, old: SetExpression, new: SetExpression, *premises: Fact
) -> tuple[Obligation, ...]:
    """State that two sets of which one may have a majority without common replicas have disjoint majorities.

    Returns:
        Three of the four cases; if neither majority needs common replicas, there is nothing to show.
    """
    removed, added, common = (diagram.size(part) for part in (old - new, new - old, old & new))
    removed_fit, added_fit = at_most("removed-fit", removed, _OF_OLD), at_most("added-fit", added, _OF_NEW)
    removed_do_not = less("removed-do-not-fit", _OF_OLD, removed)
    added_do_not = less("added-do-not-fit", _OF_NEW, added)
    cases = {
        "both-need-common": (removed_fit, added_fit, (_OF_OLD - removed) + (_OF_NEW - added)),
        "old-needs-common": (removed_fit, added_do_not, _OF_OLD - removed),
        "new-needs-common": (removed_do_not, added_fit, _OF_NEW - added),
    }
    facts = (*_smallest_majorities(diagram, old, new), *premises)
    return tuple(
        Obligation(
            f"{case}-{name}", diagram, (*facts, of_old, of_new), less("too-few-in-common", common, needed), _NUMBERS
        )
        for name, (of_old, of_new, needed) in cases.items()
    )


def odd(name: str, size: Term) -> Fact:
    """State that the size is odd, with the number `half` for its half rounded down."""
    return equal(name, size, 2 * variable("half") + 1)


def even(name: str, size: Term) -> Fact:
    """State that the size is even, with the number `half` for its half."""
    return equal(name, size, 2 * variable("half"))


def _smallest_majorities(diagram: Diagram, old: SetExpression, new: SetExpression) -> Iterator[Fact]:
    """Yield for each set: more than half of the voters, and one fewer is not."""
    for name, majority, voters in (("old", _OF_OLD, diagram.size(old)), ("new", _OF_NEW, diagram.size(new))):
        rows = (*less("", voters, 2 * majority).rows, *at_most("", 2 * majority, voters + 2).rows)
        yield Fact(f"smallest-majority-of-{name}", rows)
