"""One change of a voters set: after which ones every majority of the old set intersects every one of the new."""

from kraft_spec.proofs.linear import Fact, at_most, equal
from kraft_spec.proofs.theorems.data import Counterexample, Obligation, Theorem, Weakening
from kraft_spec.proofs.theorems.room import even, odd, room_far_apart, room_for_both
from kraft_spec.proofs.venn import Diagram

_DIAGRAM = Diagram("Old", "New", "OldMajority", "NewMajority", within={"OldMajority": "Old", "NewMajority": "New"})
_OLD, _NEW, _OLD_MAJORITY, _NEW_MAJORITY = (_DIAGRAM[name] for name in _DIAGRAM.names)
_ALL = (_DIAGRAM.size(_OLD | _NEW),)
_NONE_ADDED = _DIAGRAM.inside("none-added", _NEW, _OLD)
_NONE_REMOVED = _DIAGRAM.inside("none-removed", _OLD, _NEW)
_ONE_ADDED = _DIAGRAM.singleton("one-added", _NEW - _OLD)
_ONE_REMOVED = _DIAGRAM.singleton("one-removed", _OLD - _NEW)
_TWO_ADDED = equal("two-added", _DIAGRAM.size(_NEW - _OLD), 2)
_TWO_REMOVED = equal("two-removed", _DIAGRAM.size(_OLD - _NEW), 2)
_TWO_BEFORE_AND_AFTER = (
    at_most("two-before", 2, _DIAGRAM.size(_OLD)),
    at_most("two-after", 2, _DIAGRAM.size(_NEW)),
)
_Members = tuple[int, ...]


def _intersect(case: str, *premises: Fact, numbers: tuple[str, ...] = ()) -> Obligation:
    """Majorities of the old and of the new set share a replica if the premises hold."""
    majorities = (
        _DIAGRAM.majority("majority-of-old", _OLD_MAJORITY, _OLD),
        _DIAGRAM.majority("majority-of-new", _NEW_MAJORITY, _NEW),
    )
    denial = _DIAGRAM.disjoint("no-replica-in-both", _OLD_MAJORITY, _NEW_MAJORITY)
    return Obligation(case, _DIAGRAM, (*majorities, *premises), denial, numbers)


def _refuted(
    name: str, change: str, refuted: Obligation, old: _Members, new: _Members, one: _Members, other: _Members
) -> Weakening:
    """A weakening refuted by two sets and a majority of each, with as few replicas as possible."""
    sets = {"Old": old, "New": new, "OldMajority": one, "NewMajority": other}
    return Weakening(name, change, refuted, _ALL, Counterexample(sets))


def _same_set() -> Theorem:
    every = _intersect("every", _DIAGRAM.same("same", _OLD, _NEW))
    as_many = equal("same", _DIAGRAM.size(_OLD), _DIAGRAM.size(_NEW))
    return Theorem(
        "same-set",
        "All majorities of two voters sets with the same replicas intersect, whatever else the sets say of them.",
        ("update-voter.not-a-membership-change", "voters.at-most-one-difference"),
        (every,),
        (
            _refuted(
                "as-many", "the new set has as many replicas as the old", every.instead(as_many), (1,), (2,), (1,), (2,)
            ),
        ),
    )


def _add_one() -> Theorem:
    every = _intersect("every", _NONE_REMOVED, _ONE_ADDED)
    two = every.without("one-added").also(_TWO_ADDED)
    return Theorem(
        "add-one",
        "All majorities of a voters set and of the same set with one voter added intersect.",
        ("add-voter.append-and-apply", "voters.at-most-one-difference"),
        (every,),
        (_refuted("two-added", "two voters are added", two, (1,), (1, 2, 3), (1,), (2, 3)),),
    )


def _remove_one() -> Theorem:
    every = _intersect("every", _NONE_ADDED, _ONE_REMOVED)
    two = every.without("one-removed").also(_TWO_REMOVED)
    return Theorem(
        "remove-one",
        "All majorities of a voters set and of the same set with one voter removed intersect.",
        ("remove-voter.append-and-apply", "voters.at-most-one-difference"),
        (every,),
        (_refuted("two-removed", "two voters are removed", two, (1, 2, 3), (1,), (2, 3), (1,)),),
    )


def _two_at_once(
    slug: str, done: str, facts: tuple[Fact, ...], smallest: tuple[_Members, ...], larger: tuple[_Members, ...]
) -> Theorem:
    """A change of two replicas in one step; KIP-853 allows none of them, of whatever size.

    Args:
        slug: The theorem's.
        done: What the one step does, in the passive.
        facts: The same as facts.
        smallest: Old, New and a majority of each: the smallest with disjoint majorities.
        larger: The same for sets that have two voters or more before and after.
    """
    every = _intersect("every", *facts, even("even", _DIAGRAM.size(_OLD)), numbers=("half",))
    any_size = _intersect("every", *facts)
    return Theorem(
        slug,
        f"All majorities of a voters set and of the same set with {done} intersect if the number of voters is even.",
        ("voters.at-most-one-difference",),
        (every,),
        (
            _refuted("any-size", "the number of voters is even or odd", any_size, *smallest),
            _refuted(
                "two-or-more",
                "the number of voters is even or odd, and never less than two",
                any_size.also(*_TWO_BEFORE_AND_AFTER),
                *larger,
            ),
        ),
    )


def _replace_one() -> Theorem:
    return _two_at_once(
        "replace-one-even",
        "one voter replaced",
        (_ONE_ADDED, _ONE_REMOVED),
        ((1,), (2,), (1,), (2,)),
        ((1, 2, 3), (1, 2, 4), (1, 3), (2, 4)),
    )


def _add_two() -> Theorem:
    return _two_at_once(
        "add-two-even",
        "two voters added",
        (_NONE_REMOVED, _TWO_ADDED),
        ((1,), (1, 2, 3), (1,), (2, 3)),
        ((1, 2, 3), (1, 2, 3, 4, 5), (1, 2), (3, 4, 5)),
    )


def _remove_two() -> Theorem:
    return _two_at_once(
        "remove-two-even",
        "two voters removed",
        (_NONE_ADDED, _TWO_REMOVED),
        ((1, 2, 3), (1,), (2, 3), (1,)),
        ((1, 2, 3, 4, 5), (1, 2, 3), (1, 4, 5), (2, 3)),
    )


def _which_changes() -> Theorem:
    """The closed form with which tests compare the verdict on any two voters sets; the verdict itself asks Z3."""
    diagram = Diagram("Old", "New")
    old, new = diagram["Old"], diagram["New"]
    apart = diagram.size(old ^ new)
    voters = (at_most("old-has-a-voter", 1, diagram.size(old)), at_most("new-has-a-voter", 1, diagram.size(new)))
    two_apart = equal("two-apart", apart, 2)
    close = room_for_both(
        "two-apart-odd", diagram, old, new, *voters, two_apart, odd("odd", diagram.size(old)), numbers=("half",)
    )
    far = room_far_apart("three-apart", diagram, old, new, *voters, at_most("three-apart", 3, apart))
    room = close[-1]
    return Theorem(
        "which-changes-intersect",
        "All majorities of two non-empty voters sets intersect if and only if the sets differ by at most one replica, "
        "or by two and both have an even number of voters.",
        ("voters.at-most-one-difference",),
        (
            _intersect("one-apart", at_most("one-apart", _DIAGRAM.size(_OLD ^ _NEW), 1)),
            _intersect(
                "two-apart-even",
                equal("two-apart", _DIAGRAM.size(_OLD ^ _NEW), 2),
                even("even", _DIAGRAM.size(_OLD)),
                numbers=("half",),
            ),
            *close,
            *far,
        ),
        (
            _refuted(
                "two-apart",
                "sets of any size may differ by two",
                _intersect("two-apart", equal("two-apart", _DIAGRAM.size(_OLD ^ _NEW), 2)),
                (1,),
                (2,),
                (1,),
                (2,),
            ),
            Weakening(
                "two-apart-never",
                "two sets that differ by two always have disjoint majorities",
                room.without("odd"),
                (diagram.size(old | new),),
                Counterexample({"Old": (1, 2), "New": (1, 3)}, {"majority-of-old": 2, "majority-of-new": 2}),
            ),
        ),
        "The first two cases are the one direction. For the other, take of each set first the replicas that the other "
        "lacks and then common ones, up to the smallest majority: the common ones are always enough. Sets that differ "
        "by two have both even or both odd sizes. Neither set may be empty: an empty one has no majority that "
        "could be disjoint from another.",
    )


THEOREMS = (
    _same_set(),
    _add_one(),
    _remove_one(),
    _replace_one(),
    _add_two(),
    _remove_two(),
    _which_changes(),
)
