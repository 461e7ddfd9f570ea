"""What a reader of a plan should know beside its verdict: none of it decides whether the plan is safe.

KIP-642's bounds, the order in which its plan comes closer to the target, and the leader's turn are its choices among
plans that are all safe.
"""

from collections.abc import Collection, Iterator, Sequence

from kraft_proofs.changes import Reason, change, listed, number_of
from kraft_proofs.kip642 import is_same
from kraft_proofs.plans import ProvedPlan, RefusedPlan, Shape, Step
from kraft_proofs.protocol import is_upgrade
from kraft_reference.identity import ReplicaKey


def plan_notes(
    sets: Sequence[Collection[ReplicaKey]], plan: ProvedPlan | RefusedPlan, leader: ReplicaKey | None = None
) -> tuple[Reason, ...]:
    """The notes about a plan of at least one set.

    Args:
        sets: The voters sets, as they are given.
        plan: What `prove_plan` says of them.
        leader: One of the first voters.
    """
    return tuple(_notes(sets, plan, leader))


def leader_leaves(steps: Sequence[Step], leader: ReplicaKey) -> Reason | None:
    """What the step that removes the leader asks for; None if it stays."""
    found = _removal_of(leader, steps)
    if found is None:
        return None
    number, key = found
    return Reason(
        f"step {number} removes the leader {key}: KIP-642 has it resign first; with KIP-853 it appends the "
        "record, does not count itself, and resigns when the record is committed",
        (
            "reassign.leader-steps-down-before-own-removal",
            "hw.leader-excluded",
            "remove-voter.leader-removal",
        ),
    )


def size_in_words(shape: Shape) -> str:
    """How many voters a plan has, and whether that is within KIP-642's bounds."""
    bounds = "KIP-642's bounds of {} to {}".format(*shape.bounds)
    if shape.is_bounded:
        return f"{_sizes(shape)}, within {bounds}"
    if shape.disks:
        change_disks = "changes its disk" if len(shape.disks) == 1 else "change their disks"
        return f"{_sizes(shape)}, one below {bounds}, because {', '.join(map(str, shape.disks))} {change_disks}"
    return f"{_sizes(shape)}, NOT within {bounds}"


def _notes(
    sets: Sequence[Collection[ReplicaKey]], plan: ProvedPlan | RefusedPlan, leader: ReplicaKey | None
) -> Iterator[Reason]:
    yield from change(sets[0], sets[-1]).notes
    yield from _static(sets[0], plan.steps)
    if isinstance(plan, ProvedPlan):
        yield from _unlike_kip642(plan.shape)
    if leader is not None:
        if (leaves := leader_leaves(plan.steps, leader)) is not None:
            yield leaves
        yield from _leader_first(plan.steps, leader)


def _static(first: Collection[ReplicaKey], steps: Sequence[Step]) -> Iterator[Reason]:
    """Voters without directory ids are static, or their directory ids were left out: only the reader knows."""
    if not any(step.change.learned for step in steps) or is_upgrade(steps[0].change):
        return
    if all(key.directory_id is None for key in first):
        yield Reason(
            f"if {listed(first)} are static voters, the upgrade to kraft.version 1 comes first, and fills in the "
            "directory ids of all of them at once",
            ("kraft-version.upgrade-atomic-batch",),
        )


def _unlike_kip642(shape: Shape) -> Iterator[Reason]:
    if not shape.is_bounded and not shape.disks:
        there_are = "there is" if shape.sizes == (1, 1) else "there are"
        text = "{} {}, outside KIP-642's bounds of {} to {}".format(there_are, _sizes(shape), *shape.bounds)
        yield Reason(text, ("reassign.add-or-remove-choice",))
    if shape.detours:
        steps = ", ".join(map(str, shape.detours))
        yield Reason(
            "not every step comes closer to the last set, as in KIP-642's plan: not "
            f"step{'s' * (len(shape.detours) > 1)} {steps}",
            ("reassign.three-sets",),
        )


def _leader_first(steps: Sequence[Step], leader: ReplicaKey) -> Iterator[Reason]:
    if (found := _removal_of(leader, steps)) is not None:
        number, key = found
        later = [removed for step in steps[number:] for removed in step.change.removed]
        if later:
            text = f"step {number} removes the leader {key} before {listed(frozenset(later))}: KIP-642 removes it last"
            yield Reason(text, ("reassign.leader-removed-last",))


def _removal_of(leader: ReplicaKey, steps: Sequence[Step]) -> tuple[int, ReplicaKey] | None:
    """The number of the step that removes the leader, and its entry."""
    for number, step in enumerate(steps, start=1):
        for key in step.change.removed:
            if is_same(key, leader):
                return number, key
    return None


def _sizes(shape: Shape) -> str:
    low, high = shape.sizes
    return number_of(low, "voter") if low == high else f"{low} to {high} voters"
