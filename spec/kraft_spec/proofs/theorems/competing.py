"""Two leaders that change one voters set, neither of which knows that the other has: the bug of single-server changes.

The first leader appends a change of the base set and commits nothing more; the second one, of a later epoch, appends
another change of the same base. Each set is one replica away from the base, and so up to two away from the other.
"""

from typing import NamedTuple

from kraft_spec.proofs.linear import Fact, at_most, equal
from kraft_spec.proofs.theorems.data import Counterexample, Obligation, Theorem, Weakening
from kraft_spec.proofs.theorems.room import even, odd, room_for_both
from kraft_spec.proofs.venn import Diagram


class _Shape(NamedTuple):
    """What the two leaders do, and the smallest base of which both do it without a majority in common."""

    name: str
    first_adds: bool
    second_adds: bool
    sets: dict[str, tuple[int, ...]]


_SHAPES = (
    _Shape(
        "add-and-add",
        True,
        True,
        {"Base": (1, 2), "First": (1, 2, 3), "Second": (1, 2, 4), "FirstMajority": (1, 3), "SecondMajority": (2, 4)},
    ),
    _Shape(
        "add-and-remove",
        True,
        False,
        {"Base": (1, 2), "First": (1, 2, 3), "Second": (1,), "FirstMajority": (2, 3), "SecondMajority": (1,)},
    ),
    _Shape(
        "remove-and-remove",
        False,
        False,
        {"Base": (1, 2), "First": (1,), "Second": (2,), "FirstMajority": (1,), "SecondMajority": (2,)},
    ),
)
_SETS = ("Base", "First", "Second")
_MAJORITIES = {"FirstMajority": "First", "SecondMajority": "Second"}


def one_change(diagram: Diagram, name: str, *, adds: bool) -> Fact:
    """The set of this name is the set `Base` with one replica more, or with one fewer."""
    base, new = diagram["Base"], diagram[name]
    fact = f"{name.lower()}-{'adds' if adds else 'removes'}-one"
    added, removed = diagram.size(new - base), diagram.size(base - new)
    return Fact(fact, (*equal(fact, added, int(adds)).rows, *equal(fact, removed, int(not adds)).rows))


def _changes(diagram: Diagram, shape: _Shape) -> tuple[Fact, Fact, Fact]:
    return (
        one_change(diagram, "First", adds=shape.first_adds),
        one_change(diagram, "Second", adds=shape.second_adds),
        at_most("base-has-a-voter", 1, diagram.size(diagram["Base"])),
    )


def _majorities(diagram: Diagram) -> tuple[Fact, Fact]:
    return (
        diagram.majority("majority-of-first", diagram["FirstMajority"], diagram["First"]),
        diagram.majority("majority-of-second", diagram["SecondMajority"], diagram["Second"]),
    )


def _odd_base(shape: _Shape) -> Obligation:
    """With an odd base all majorities of the two changes intersect."""
    diagram = Diagram(*_SETS, *_MAJORITIES, within=_MAJORITIES)
    return Obligation(
        f"{shape.name}-odd",
        diagram,
        (*_majorities(diagram), *_changes(diagram, shape), odd("odd", diagram.size(diagram["Base"]))),
        diagram.disjoint("no-replica-in-both", diagram["FirstMajority"], diagram["SecondMajority"]),
        ("half",),
    )


def _even_base(shape: _Shape) -> tuple[Obligation, ...]:
    """With an even base two different changes have disjoint ones."""
    diagram = Diagram(*_SETS)
    base, first, second = (diagram[name] for name in _SETS)
    different = at_most("different", 1, diagram.size(first ^ second))
    premises = (*_changes(diagram, shape), different, even("even", diagram.size(base)))
    return room_for_both(f"{shape.name}-even", diagram, first, second, *premises, numbers=("half",))


def _refuted(shape: _Shape, change: str, refuted: Obligation, sets: dict[str, tuple[int, ...]]) -> Weakening:
    diagram = refuted.diagram
    everyone = diagram.size(diagram["Base"] | diagram["First"] | diagram["Second"])
    own_epoch = [diagram.size(diagram["OwnEpoch"])] if "OwnEpoch" in diagram.names else []
    smallest = (diagram.size(diagram["Base"]), everyone, *own_epoch)
    return Weakening(shape.name, change, refuted, smallest, Counterexample(sets))


def _competing_changes() -> Theorem:
    odds = {shape.name: _odd_base(shape) for shape in _SHAPES}
    return Theorem(
        "competing-changes",
        "Two different changes of one voters set by one replica each have majorities without a common replica "
        "exactly if that set has an even number of voters.",
        ("voters.one-change-at-a-time", "voters.epoch-committed-before-change", "voters.effective-on-append"),
        (*odds.values(), *(part for shape in _SHAPES for part in _even_base(shape))),
        tuple(
            _refuted(
                shape,
                f"{shape.name.replace('-', ' ')}, and the base has an even or odd number of voters",
                odds[shape.name].without("odd"),
                shape.sets,
            )
            for shape in _SHAPES
        ),
        "One case for each shape of the two changes and each parity; for even sizes see which-changes-intersect.",
    )


def _own_epoch(shape: _Shape) -> Obligation:
    diagram = Diagram(*_SETS, "OwnEpoch", *_MAJORITIES, within={**_MAJORITIES, "OwnEpoch": "Base"})
    first, second = diagram["FirstMajority"], diagram["SecondMajority"]
    own_epoch = diagram["OwnEpoch"]
    return Obligation(
        shape.name,
        diagram,
        (
            diagram.majority("own-epoch-committed", own_epoch, diagram["Base"]),
            *_majorities(diagram),
            *_changes(diagram, shape),
            diagram.disjoint("second-change-is-lost", first, second),
        ),
        diagram.disjoint("voters-lack-the-own-epoch", first, own_epoch),
    )


def _own_epoch_first() -> Theorem:
    return Theorem(
        "own-epoch-first",
        "If a majority of the base has an entry of the second leader's epoch before it appends its change, every "
        "majority of the first change holds a replica with that entry, which refuses its vote to a log without it.",
        ("voters.epoch-committed-before-change", "hw.own-epoch", "vote.log-check"),
        tuple(_own_epoch(shape) for shape in _SHAPES),
        tuple(
            _refuted(
                shape,
                f"{shape.name.replace('-', ' ')}, and the second leader has committed nothing of its own epoch",
                _own_epoch(shape).without("own-epoch-committed"),
                {**shape.sets, "OwnEpoch": ()},
            )
            for shape in _SHAPES
        ),
    )


THEOREMS = (_competing_changes(), _own_epoch_first())
