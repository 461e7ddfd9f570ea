"""Theorem on a replaced disk: the replica id stays but the directory id changes, so it is another replica."""

from kraft_proofs.linear import Fact, at_most, equal
from kraft_proofs.theorems.data import Obligation, Theorem, meet
from kraft_proofs.venn import Diagram, SetExpression

_DIAGRAM = Diagram(
    *("Old", "New", "OldDisk", "NewDisk", "OldMajority", "NewMajority"),
    within={"OldMajority": "Old", "NewMajority": "New"},
)
_OLD, _NEW, _OLD_DISK, _NEW_DISK, _OLD_MAJORITY, _NEW_MAJORITY = (_DIAGRAM[name] for name in _DIAGRAM.names)


def _step(
    case: str, becomes: SetExpression, *premises: Fact, old_votes: bool = True, new_votes: bool = False
) -> Obligation:
    """State that the majorities before and after a step share a replica; either disk may vote before it."""
    return meet(
        case,
        _DIAGRAM,
        "Old",
        "New",
        _DIAGRAM.singleton("one-old-disk", _OLD_DISK),
        _DIAGRAM.singleton("one-new-disk", _NEW_DISK),
        _DIAGRAM.disjoint("other-directory-id", _OLD_DISK, _NEW_DISK),
        _is_voter("olddisk", _OLD_DISK, old_votes),
        _is_voter("newdisk", _NEW_DISK, new_votes),
        _DIAGRAM.same("step", _NEW, becomes),
        *premises,
    )


def _is_voter(name: str, disk: SetExpression, is_voter: bool) -> Fact:
    return equal(f"{name}-{'is' if is_voter else 'is-not'}-voter", _DIAGRAM.size(_OLD & disk), int(is_voter))


_ONE_STEP = _step(
    "one-step",
    (_OLD - _OLD_DISK) | _NEW_DISK,
    equal("old-disk-in-majority", _DIAGRAM.size(_OLD_DISK & _OLD_MAJORITY), 1),
    equal("new-disk-in-majority", _DIAGRAM.size(_NEW_DISK & _NEW_MAJORITY), 1),
)

THEOREMS = (
    Theorem(
        "disk-replaced-in-two-steps",
        "When a disk is replaced by adding the new directory id and removing the old one, in either order, all "
        "majorities before and after each step intersect.",
        (
            "identity.replica-key",
            "identity.directory-id-never-silently-replaced",
            "add-voter.duplicate-id",
            "auto-join.remove-stale-self-first",
            "remove-voter.exact-key",
        ),
        (
            _step("add-then-remove-1", _OLD | _NEW_DISK),
            _step("add-then-remove-2", _OLD - _OLD_DISK, new_votes=True),
            _step("remove-then-add-1", _OLD - _OLD_DISK),
            _step("remove-then-add-2", _OLD | _NEW_DISK, old_votes=False),
        ),
        (
            _ONE_STEP.weakened(
                "one-step",
                "in one step: the majorities share the replica id, and no replica",
                (_OLD,),
                "1 | 2 | 1 | 2 | 1 | 2",
            ),
            _ONE_STEP.also(at_most("two-voters", 2, _DIAGRAM.size(_OLD))).weakened(
                "one-step-of-two-or-more",
                "in one step, and there are two voters or more: the majorities share the replica id, and no replica",
                (_OLD,),
                "1,2,3 | 1,2,4 | 3 | 4 | 1,3 | 2,4",
            ),
        ),
        "KIP-853 leaves only the order remove, then add, because it does not add an id that is there.",
    ),
)
