"""Plans: sequences of voter sets, each step proved, and compared with KIP-642's plan.

The steps alone decide whether a plan passes; sizes and detours are informative.
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
    """A change from one VotersRecord to the next."""

    answer: Proof | Counterexample
    """Proof that all majorities of the two sets intersect, or a counterexample."""
    protocol: ProtocolVerdict

    @property
    def change(self) -> Change:
        """The two sets."""
        return self.answer.change

    @property
    def passes(self) -> bool:
        """True if it is proved and allowed."""
        return isinstance(self.answer, Proof) and self.protocol.allowed


class Shape(NamedTuple):
    """Properties of a plan as a whole."""

    sizes: tuple[int, int]
    """Smallest and largest number of voters of its sets."""
    bounds: tuple[int, int]
    """Bounds of KIP-642's plan: the smaller of both ends, and one more than the larger."""
    distances: tuple[int, ...]
    """Number of voters by which each set differs from the last one; a missing directory id counts too."""
    disks: tuple[int, ...] = ()
    """Replica ids, in order, that change their directory id and are absent in the sets below the bounds.

    Empty if there are no such sets, or another reason exists. KIP-642 has ids only, and no set has an id twice.
    Rule: add-voter.duplicate-id.
    """

    @property
    def is_bounded(self) -> bool:
        """True if every set is within the bounds."""
        return self.bounds[0] <= self.sizes[0] and self.sizes[1] <= self.bounds[1]

    @property
    def is_direct(self) -> bool:
        """True if each step approaches the last set, so that the plan ends."""
        return not self.detours

    @property
    def detours(self) -> tuple[int, ...]:
        """Numbers, from 1, of the steps that do not approach the last set."""
        return tuple(number for number, (a, b) in enumerate(pairwise(self.distances), start=1) if a <= b)


@dataclass(frozen=True, slots=True)
class ProvedPlan:
    """A plan whose every step is proved, and allowed by the protocol."""

    steps: tuple[Step, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class RefusedPlan:
    """A plan with a refused step, or without any set."""

    steps: tuple[Step, ...]
    reasons: tuple[Reason, ...]
    """Reasons, with the number of the step; all refused steps are listed."""


def prove_step(old: Collection[ReplicaKey], new: Collection[ReplicaKey]) -> Step:
    """Return a step with its proof and KIP-853's verdict."""
    answer = prove_transition(old, new)
    return Step(answer, judge(answer.change))


def prove_plan(sets: Sequence[Collection[ReplicaKey]]) -> ProvedPlan | RefusedPlan:
    """Prove each step of a sequence of voter sets; a single set is a plan without steps.

    Rules: voters.at-most-one-difference, voters.never-empty, reassign.single-member-steps.
    """
    steps = tuple(prove_step(old, new) for old, new in pairwise(sets))
    reasons = tuple(_refusal_reasons(steps)) if steps else tuple(_single_set_reasons(sets))
    return RefusedPlan(steps, reasons) if reasons else ProvedPlan(steps, shape(sets))


def shape(sets: Sequence[Collection[ReplicaKey]]) -> Shape:
    """Measure a plan of at least one set.  Rule: reassign.add-or-remove-choice."""
    voters = [frozenset(voter_set) for voter_set in sets]
    counts = [len(voter_set) for voter_set in voters]
    bounds = min(counts[0], counts[-1]), max(counts[0], counts[-1]) + 1
    return Shape(
        sizes=(min(counts), max(counts)),
        bounds=bounds,
        distances=tuple(_distance_to(voter_set, voters[-1]) for voter_set in voters),
        disks=_find_disks(voters, bounds),
    )


def _distance_to(voters: VoterSet, last: VoterSet) -> int:
    of = change(voters, last)
    return len(of.old ^ of.new) + len(of.learned) + len(of.forgotten)


def _find_disks(sets: Sequence[VoterSet], bounds: tuple[int, int]) -> tuple[int, ...]:
    """Return `Shape.disks`."""
    small = [voters for voters in sets if len(voters) < bounds[0]]
    if any(len(voters) < bounds[0] - 1 for voters in small) or any(len(voters) > bounds[1] for voters in sets):
        return ()
    replaced = {key.id for key, _ in change(sets[0], sets[-1]).other_directories}
    absent = [replaced - {key.id for key in voters} for voters in small]
    return tuple(sorted(set().union(*absent))) if all(absent) else ()


def _refusal_reasons(steps: tuple[Step, ...]) -> Iterator[Reason]:
    for number, step in enumerate(steps, start=1):
        if isinstance(step.answer, Counterexample):
            quorums = f"{listed(step.answer.old_quorum)} and {listed(step.answer.new_quorum)}"
            yield Reason(f"step {number}: the majorities {quorums} have no replica in common")
        for text, rules in step.protocol.refusals:
            yield Reason(f"step {number}: {text}", rules)


def _single_set_reasons(sets: Sequence[Collection[ReplicaKey]]) -> Iterator[Reason]:
    if not sets:
        yield Reason("a plan has at least one voter set")
    for voters in sets:
        yield from judge(change(voters, voters)).refusals
