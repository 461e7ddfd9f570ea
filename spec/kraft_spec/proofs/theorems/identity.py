"""A voter whose disk is replaced: the replica id stays, the directory id does not, so it is another replica."""

from kraft_spec.proofs.linear import Fact, at_most, equal
from kraft_spec.proofs.theorems.data import Counterexample, Obligation, Theorem, Weakening
from kraft_spec.proofs.venn import Diagram, SetExpression

_DIAGRAM = Diagram(
    "Old",
    "New",
    "OldDisk",
    "NewDisk",
    "OldMajority",
    "NewMajority",
    within={"OldMajority": "Old", "NewMajority": "New"},
)
_OLD, _NEW, _OLD_DISK, _NEW_DISK, _OLD_MAJORITY, _NEW_MAJORITY = (_DIAGRAM[name] for name in _DIAGRAM.names)
_DENIAL = _DIAGRAM.disjoint("no-replica-in-both", _OLD_MAJORITY, _NEW_MAJORITY)


def _step(case: str, *premises: Fact) -> Obligation:
    """The majorities before and after a step that is about the two disks share a replica."""
    disks = (
        _DIAGRAM.majority("majority-of-old", _OLD_MAJORITY, _OLD),
        _DIAGRAM.majority("majority-of-new", _NEW_MAJORITY, _NEW),
        _DIAGRAM.singleton("one-old-disk", _OLD_DISK),
        _DIAGRAM.singleton("one-new-disk", _NEW_DISK),
        _DIAGRAM.disjoint("other-directory-id", _OLD_DISK, _NEW_DISK),
    )
    return Obligation(case, _DIAGRAM, (*disks, *premises), _DENIAL)


def _becomes(expected: SetExpression) -> Fact:
    return _DIAGRAM.same("step", _NEW, expected)


def _is_voter(disk: str, *, voter: bool) -> Fact:
    name = f"{disk.lower()}-{'is' if voter else 'is-not'}-voter"
    return equal(name, _DIAGRAM.size(_OLD & _DIAGRAM[disk]), int(voter))


def _sets(*members: tuple[int, ...]) -> Counterexample:
    return Counterexample(dict(zip(_DIAGRAM.names, members, strict=True)))


def _refuted(name: str, change: str, refuted: Obligation, counterexample: Counterexample) -> Weakening:
    return Weakening(name, change, refuted, (_DIAGRAM.size(_OLD),), counterexample)


def _disk_replaced() -> Theorem:
    old, new = _is_voter("OldDisk", voter=True), _is_voter("NewDisk", voter=False)
    one_step = _step(
        "one-step",
        old,
        new,
        _becomes((_OLD - _OLD_DISK) | _NEW_DISK),
        equal("old-disk-in-majority", _DIAGRAM.size(_OLD_DISK & _OLD_MAJORITY), 1),
        equal("new-disk-in-majority", _DIAGRAM.size(_NEW_DISK & _NEW_MAJORITY), 1),
    )
    return Theorem(
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
            _step("add-then-remove-1", old, new, _becomes(_OLD | _NEW_DISK)),
            _step("add-then-remove-2", old, _is_voter("NewDisk", voter=True), _becomes(_OLD - _OLD_DISK)),
            _step("remove-then-add-1", old, new, _becomes(_OLD - _OLD_DISK)),
            _step("remove-then-add-2", _is_voter("OldDisk", voter=False), new, _becomes(_OLD | _NEW_DISK)),
        ),
        (
            _refuted(
                "one-step",
                "in one step: the majorities share the replica id, and no replica",
                one_step,
                _sets((1,), (2,), (1,), (2,), (1,), (2,)),
            ),
            _refuted(
                "one-step-of-two-or-more",
                "in one step, and there are two voters or more: the majorities share the replica id, and no replica",
                one_step.also(at_most("two-voters", 2, _DIAGRAM.size(_OLD))),
                _sets((1, 2, 3), (1, 2, 4), (3,), (4,), (1, 3), (2, 4)),
            ),
        ),
        "KIP-853 leaves only the order remove, then add, because it does not add an id that is there.",
    )


THEOREMS = (_disk_replaced(),)
