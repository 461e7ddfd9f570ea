"""Sequences of voters sets, each step proved; and KIP-642's sequence from any set to any other.

KIP-642 knows voters by id.
Here a voter is an id and a directory id, and no set holds an id twice, so a voter whose directory id changes is
removed before it is added again (rules add-voter.duplicate-id, auto-join.remove-stale-self-first).
Where nothing but such voters is left to add, the set is for one step a voter smaller than KIP-642 alone would have it.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kraft_reference.identity import ReplicaKey, VoterSet, names
from kraft_spec.proofs.changes import Change, Reason, change, listed, place
from kraft_spec.proofs.protocol import ProtocolVerdict, judge
from kraft_spec.proofs.transitions import Counterexample, Proof, prove_transition


class UnknownLeaderError(ValueError):
    """The leader of a plan is not among its first voters."""


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
    """The sizes that KIP-642's plan keeps to: the smaller of both ends, and one more than the larger.

    One less than the smaller, if a voter changes its directory id.
    """
    distances: tuple[int, ...]
    """How many voters each set still differs by from the last one."""

    @property
    def is_bounded(self) -> bool:
        """Is every set within the bounds?"""
        return self.bounds[0] <= self.sizes[0] and self.sizes[1] <= self.bounds[1]

    @property
    def is_direct(self) -> bool:
        """Does each step come one voter closer to the last set?  Then the plan ends, in as few steps as can be."""
        return all(here - there == 1 for here, there in pairwise(self.distances))


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


def kip642_plan(
    current: Collection[ReplicaKey], target: Collection[ReplicaKey], leader: ReplicaKey | None = None
) -> tuple[VoterSet, ...]:
    """The voters sets of KIP-642's reassignment, from `current` to `target`, both included.

    While additions are not fewer than removals one voter is added, the first in order; else one is removed, the last
    in order.
    Removals prefer a voter whose id is to be added again, and take the leader only when no other is left.
    The plan may be one that `prove_plan` refuses: a sole voter whose directory id changes leaves an empty set.
    KIP-642, Reassignment Algorithm, steps 2 and 3.
    Rules: reassign.three-sets, reassign.add-or-remove-choice, reassign.single-member-steps,
    reassign.leader-removed-last.

    Raises:
        UnknownLeaderError: the leader is not in `current`.
    """
    whole = change(current, target)
    leads = None if leader is None else min((key for key in whole.old if names(leader, key)), key=place, default=None)
    if leader is not None and leads is None:
        raise UnknownLeaderError(f"{leader} is none of the voters {listed(whole.old)}")
    sets = [whole.old]
    while sets[-1] != whole.new:
        sets.append(_next(sets[-1], whole.new, leads))
    return tuple(sets)


def leader_leaves(steps: Sequence[Step], leader: ReplicaKey) -> Reason | None:
    """What the step that removes the leader asks for; None if it stays."""
    for number, step in enumerate(steps, start=1):
        for key in step.change.removed:
            if names(leader, key):
                return Reason(
                    f"step {number} removes the leader {key}: KIP-642 has it resign first; with KIP-853 it appends the "
                    "record, does not count itself, and resigns when the record is committed",
                    (
                        "reassign.leader-steps-down-before-own-removal",
                        "voters.leader-removed-not-counted",
                        "voters.leader-removed-stays-until-commit",
                    ),
                )
    return None


def shape(sets: Sequence[Collection[ReplicaKey]]) -> Shape:
    """Measure a plan of at least one set.  Rule: reassign.add-or-remove-choice."""
    whole = change(sets[0], sets[-1])
    counts = [len(frozenset(voters)) for voters in sets]
    return Shape(
        sizes=(min(counts), max(counts)),
        bounds=(min(counts[0], counts[-1]) - bool(whole.other_directories), max(counts[0], counts[-1]) + 1),
        distances=tuple(len(of.old ^ of.new) for of in (change(voters, sets[-1]) for voters in sets)),
    )


def _next(current: VoterSet, target: VoterSet, leader: ReplicaKey | None) -> VoterSet:
    """The set after `current` on the way to `target`, which is another one."""
    added, removed = target - current, current - target
    taken = {key.id for key in current}
    free = [key for key in added if key.id not in taken]
    if len(added) >= len(removed) and (free or not removed):
        return current | {min(free or added, key=place)}
    wanted = {key.id for key in added}
    return current - {max(removed, key=lambda key: (key != leader, key.id in wanted, place(key)))}


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
