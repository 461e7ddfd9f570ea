"""Two leaders that change one voter set without knowing of each other: the bug of single-server changes.

The first leader appends a change of the base set and commits nothing more; the second one, of a later epoch, appends
another change of the same base. Each set differs from the base by one replica, and so from the other by up to two.

The last theorem is the finding on KIP-642: a new leader that resumes a plan must first commit in its own epoch.
Read literally, KIP-642 only requires that the previous change of the set is committed. Then this may happen:

1. The old leader commits the target in epoch 1 and appends `First`, the next set of the plan, which no other replica
   of the base receives.
2. The other voters elect a leader in epoch 2, which finds the committed target in its log, resumes the plan with
   another set, `Resumed`, and commits it.
3. A majority of `First` that lacks the records committed in epoch 2 elects the old leader in epoch 3.

KIP-853, AddVoter, Handling, step 3 forbids step 2 here: first an entry of epoch 2 must be committed, by a majority of
the base. Rules: reassign.commit-before-next-step, voters.epoch-committed-before-change.
"""

from typing import NamedTuple

from kraft_proofs.linear import Fact, at_most, equal
from kraft_proofs.theorems.data import Obligation, Theorem, meet
from kraft_proofs.theorems.room import even, odd, room_for_both
from kraft_proofs.venn import Diagram


class _Shape(NamedTuple):
    """Changes of the two leaders, and the smallest base for which these have disjoint majorities."""

    name: str
    first_adds: bool
    second_adds: bool
    sets: tuple[str, str]
    """Base, First and Second; and a majority of each of the last two."""

    @property
    def words(self) -> str:
        """The name as words."""
        return self.name.replace("-", " ")


_SHAPES = (
    _Shape("add-and-add", True, True, ("1,2 | 1,2,3 | 1,2,4", "1,3 | 2,4")),
    _Shape("add-and-remove", True, False, ("1,2 | 1,2,3 | 1", "2,3 | 1")),
    _Shape("remove-and-remove", False, False, ("1,2 | 1 | 2", "1 | 2")),
)
_SETS = ("Base", "First", "Second")
_MAJORITIES = {"FirstMajority": "First", "SecondMajority": "Second"}


def _one_change(diagram: Diagram, name: str, *, adds: bool) -> Fact:
    """State that the set of this name is the set `Base` with one replica more, or with one fewer."""
    base, new = diagram["Base"], diagram[name]
    fact = f"{name.lower()}-{'adds' if adds else 'removes'}-one"
    added, removed = diagram.size(new - base), diagram.size(base - new)
    return Fact(fact, (*equal(fact, added, int(adds)).rows, *equal(fact, removed, int(not adds)).rows))


def _change_facts(diagram: Diagram, shape: _Shape) -> tuple[Fact, Fact, Fact]:
    return (
        _one_change(diagram, "First", adds=shape.first_adds),
        _one_change(diagram, "Second", adds=shape.second_adds),
        at_most("base-has-a-voter", 1, diagram.size(diagram["Base"])),
    )


def _prove_odd_base(shape: _Shape) -> Obligation:
    """State that with an odd base all majorities of the two changes intersect."""
    diagram = Diagram(*_SETS, *_MAJORITIES, within=_MAJORITIES)
    is_odd = odd("odd", diagram.size(diagram["Base"]))
    return meet(f"{shape.name}-odd", diagram, "First", "Second", *_change_facts(diagram, shape), is_odd, half=True)


def _prove_even_base(shape: _Shape) -> tuple[Obligation, ...]:
    """State that with an even base two different changes have disjoint majorities."""
    diagram = Diagram(*_SETS)
    base, first, second = (diagram[name] for name in _SETS)
    different = at_most("different", 1, diagram.size(first ^ second))
    premises = (*_change_facts(diagram, shape), different, even("even", diagram.size(base)))
    return room_for_both(f"{shape.name}-even", diagram, first, second, *premises, numbers=("half",))


def _competing_changes() -> Theorem:
    odds = {shape: _prove_odd_base(shape) for shape in _SHAPES}
    return Theorem(
        "competing-changes",
        "Two different changes of one voter set by one replica each have majorities without a common replica "
        "exactly if that set has an even number of voters.",
        ("voters.one-change-at-a-time", "voters.epoch-committed-before-change", "voters.effective-on-append"),
        (*odds.values(), *(part for shape in _SHAPES for part in _prove_even_base(shape))),
        tuple(
            claim.without("odd").weakened(
                shape.name,
                f"{shape.words}, and the base has an even or odd number of voters",
                (claim.diagram["Base"], claim.diagram["Base"] | claim.diagram["First"] | claim.diagram["Second"]),
                " | ".join(shape.sets),
            )
            for shape, claim in odds.items()
        ),
        "One case for each shape of the two changes and each parity; for even sizes see which-changes-intersect.",
    )


_OWN_EPOCH = Diagram(*_SETS, "OwnEpoch", *_MAJORITIES, within={**_MAJORITIES, "OwnEpoch": "Base"})


def _prove_own_epoch(shape: _Shape) -> Obligation:
    diagram = _OWN_EPOCH
    own_epoch, first, second = (diagram[name] for name in ("OwnEpoch", *_MAJORITIES))
    return Obligation(
        shape.name,
        diagram,
        (
            diagram.majority("own-epoch-committed", own_epoch, diagram["Base"]),
            diagram.majority("majority-of-first", first, diagram["First"]),
            diagram.majority("majority-of-second", second, diagram["Second"]),
            *_change_facts(diagram, shape),
            diagram.disjoint("second-change-is-lost", first, second),
        ),
        diagram.disjoint("voters-lack-the-own-epoch", first, own_epoch),
    )


def _own_epoch_first() -> Theorem:
    base, first, second = (_OWN_EPOCH[name] for name in _SETS)
    return Theorem(
        "own-epoch-first",
        "If a majority of the base has an entry of the second leader's epoch before it appends its change, every "
        "majority of the first change holds a replica with that entry, which refuses its vote to a log without it.",
        ("voters.epoch-committed-before-change", "hw.own-epoch", "vote.log-check"),
        tuple(_prove_own_epoch(shape) for shape in _SHAPES),
        tuple(
            _prove_own_epoch(shape)
            .without("own-epoch-committed")
            .weakened(
                shape.name,
                f"{shape.words}, and the second leader has committed nothing of its own epoch",
                (base, base | first | second, _OWN_EPOCH["OwnEpoch"]),
                " | | ".join(shape.sets),
            )
            for shape in _SHAPES
        ),
    )


_RESUMED = Diagram(
    *("OldLeader", "Base", "First", "Resumed", "Elects", "OwnEpoch", "Commits", "ElectsAgain"),
    within={
        "OldLeader": "Base",
        "Elects": "Base",
        "OwnEpoch": "Base",
        "Commits": "Resumed",
        "ElectsAgain": "First",
    },
)


def _prove_resumed(case: str, *, adds: bool) -> Obligation:
    """State that replicas which lack the new leader's committed records cannot elect the old leader again."""
    diagram = _RESUMED
    old_leader, base, first, resumed, elects, own_epoch, commits, elects_again = map(diagram.__getitem__, diagram.names)
    return Obligation(
        case,
        diagram,
        (
            diagram.singleton("one-old-leader", old_leader),
            _one_change(diagram, "First", adds=adds),
            _one_change(diagram, "Resumed", adds=adds),
            diagram.majority("elected-in-epoch-2", elects, base),
            diagram.disjoint("longer-log-refuses", old_leader, elects),
            diagram.majority("own-epoch-committed", own_epoch, base),
            diagram.majority("resumed-is-committed", commits, resumed),
            at_most("new-leader-has-it", 1, diagram.size(elects & commits)),
            diagram.majority("elected-in-epoch-3", elects_again, first),
            diagram.inside("old-leader-votes-for-itself", old_leader, elects_again),
            diagram.disjoint("committed-is-lost", elects_again, commits),
        ),
        diagram.disjoint("voters-lack-the-own-epoch", elects_again, own_epoch),
    )


def _resumed_plan() -> Theorem:
    both = {"add": _prove_resumed("add", adds=True), "remove": _prove_resumed("remove", adds=False)}
    smallest = {
        "add": "1 | 1,2,3,4 | 1,2,3,4,5 | 1,2,3,4,6 | 2,3,4 | 2,3 | 2,3,6 | 1,4,5",
        "remove": "1 | 1,2,3,4 | 1,2,3 | 2,3,4 | 2,3,4 | 2,4 | 2,4 | 1,3",
    }
    base = _RESUMED["Base"]
    everyone = base | _RESUMED["First"] | _RESUMED["Resumed"]
    return Theorem(
        "resumed-plan",
        "If a new leader commits an entry of its own epoch before it resumes a KIP-642 plan, no majority of the set "
        "that its predecessor left uncommitted can elect a leader without that entry.",
        (
            "reassign.commit-before-next-step",
            "reassign.new-leader-resumes",
            "voters.epoch-committed-before-change",
            "add-voter.check-order",
            "remove-voter.check-order",
        ),
        tuple(both.values()),
        tuple(
            obligation.without("own-epoch-committed").weakened(
                name,
                f"KIP-642 read literally, both leaders {name}: nothing of epoch 2 is committed before the plan is "
                "resumed",
                (base, everyone),
                smallest[name],
            )
            for name, obligation in both.items()
        ),
        "Both leaders follow the same plan from the same set, so both add or both remove.",
    )


THEOREMS = (_competing_changes(), _own_epoch_first())
RESUMED = (_resumed_plan(),)
