"""Sequences of voters sets, each step proved, and measured beside KIP-642's plan.

Each step alone decides whether a plan passes. Sizes and detours are measured, and decide nothing.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kraft_proofs.changes import Change, Reason, change, listed
from kraft_proofs.protocol import ProtocolVerdict, judge
from kraft_proofs.transitions import Counterexample, Proof, prove_transition
from kraft_reference.identity import ReplicaKey, VoterSet


class Step(NamedTuple):
    """One VotersRecord after another."""

    answer: Proof | Counterexample
    """Do all majorities of the two sets intersect?"""
    protocol: ProtocolVerdict

    @property
    def change(self) -> Change:
        """The two sets."""
        return self.answer.change

    @property
    def passes(self) -> bool:
        """Is it proved, and allowed?"""
        return isinstance(self.answer, Proof) and self.protocol.allowed


class Shape(NamedTuple):
    """What holds of a plan as a whole, beside its steps."""

    sizes: tuple[int, int]
    """The fewest and the most voters of any of its sets."""
    bounds: tuple[int, int]
    """The sizes that KIP-642's plan keeps to: the smaller of both ends, and one more than the larger."""
    distances: tuple[int, ...]
    """How many voters each set still differs by from the last one; one without its directory id differs too."""
    disks: tuple[int, ...] = ()
    """Replica ids, in order, that change their directory id and are absent where the plan is below the bounds.

    Empty if it is not, or if that is not the whole reason. KIP-642 knows ids only, and no set holds an id twice.
    Rule: add-voter.duplicate-id.
    """

    @property
    def is_bounded(self) -> bool:
        """Is every set within the bounds?"""
        return self.bounds[0] <= self.sizes[0] and self.sizes[1] <= self.bounds[1]

    @property
    def is_direct(self) -> bool:
        """Does each step come closer to the last set?  Then the plan ends."""
        return not self.detours

    @property
    def detours(self) -> tuple[int, ...]:
        """Numbers, from 1, of the steps that do not come closer to the last set."""
        return tuple(number for number, (a, b) in enumerate(pairwise(self.distances), start=1) if a <= b)


@dataclass(frozen=True, slots=True)
class ProvedPlan:
    """Every step is proved, and allowed by the protocol."""

    steps: tuple[Step, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class RefusedPlan:
    """At least one step is not, or there is no plan at all."""

    steps: tuple[Step, ...]
    reasons: tuple[Reason, ...]
    """Why, the step first; every step that is wrong is named."""


def prove_step(old: Collection[ReplicaKey], new: Collection[ReplicaKey]) -> Step:
    """Both answers about a step: whether majorities intersect, and whether the protocol allows it."""
    answer = prove_transition(old, new)
    return Step(answer, judge(answer.change))


def prove_plan(sets: Sequence[Collection[ReplicaKey]]) -> ProvedPlan | RefusedPlan:
    """Prove each step of a sequence of voters sets; one set alone is a plan without steps.

    Rules: voters.at-most-one-difference, voters.never-empty, reassign.single-member-steps.
    """
    steps = tuple(prove_step(old, new) for old, new in pairwise(sets))
    reasons = tuple(_reasons(steps)) if steps else tuple(_reasons_of_no_steps(sets))
    return RefusedPlan(steps, reasons) if reasons else ProvedPlan(steps, shape(sets))


def shape(sets: Sequence[Collection[ReplicaKey]]) -> Shape:
    """Measure a plan of at least one set.  Rule: reassign.add-or-remove-choice."""
    voters = [frozenset(each) for each in sets]
    counts = [len(each) for each in voters]
    bounds = min(counts[0], counts[-1]), max(counts[0], counts[-1]) + 1
    return Shape(
        sizes=(min(counts), max(counts)),
        bounds=bounds,
        distances=tuple(_distance(each, voters[-1]) for each in voters),
        disks=_disks(voters, bounds),
    )


def _distance(voters: VoterSet, last: VoterSet) -> int:
    of = change(voters, last)
    return len(of.old ^ of.new) + len(of.learned) + len(of.forgotten)


def _disks(sets: Sequence[VoterSet], bounds: tuple[int, int]) -> tuple[int, ...]:
    """What `Shape.disks` says."""
    small = [voters for voters in sets if len(voters) < bounds[0]]
    if any(len(voters) < bounds[0] - 1 for voters in small) or any(len(voters) > bounds[1] for voters in sets):
        return ()
    replaced = {key.id for key, _ in change(sets[0], sets[-1]).other_directories}
    absent = [replaced - {key.id for key in voters} for voters in small]
    return tuple(sorted(set().union(*absent))) if all(absent) else ()


def _reasons(steps: tuple[Step, ...]) -> Iterator[Reason]:
    for number, step in enumerate(steps, start=1):
        if isinstance(step.answer, Counterexample):
            quorums = f"{listed(step.answer.old_quorum)} and {listed(step.answer.new_quorum)}"
            yield Reason(f"step {number}: the majorities {quorums} have no replica in common")
        for text, rules in step.protocol.refusals:
            yield Reason(f"step {number}: {text}", rules)


def _reasons_of_no_steps(sets: Sequence[Collection[ReplicaKey]]) -> Iterator[Reason]:
    if not sets:
        yield Reason("a plan has at least one voters set")
    for voters in sets:
        yield from judge(change(voters, voters)).refusals
