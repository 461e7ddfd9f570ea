"""Notes on a plan that do not affect whether it is safe.

KIP-642's bounds, the order of its steps, and the leader's position are its choices among safe plans.
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
    """Return the notes about a plan of at least one set.

    Args:
        sets: The voter sets, as entered.
        plan: Result of `prove_plan` for them.
        leader: One of the first voters.
    """
    return tuple(_list_notes(sets, plan, leader))


def leader_leaves(steps: Sequence[Step], leader: ReplicaKey) -> Reason | None:
    """Return the note on the step that removes the leader; None if it stays."""
    removal = _find_removal(leader, steps)
    if removal is None:
        return None
    number, key = removal
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
    """Return the numbers of voters of a plan, and whether they are within KIP-642's bounds."""
    bounds = "KIP-642's bounds of {} to {}".format(*shape.bounds)
    if shape.is_bounded:
        return f"{_format_sizes(shape)}, within {bounds}"
    if shape.disks:
        change_disks = "changes its disk" if len(shape.disks) == 1 else "change their disks"
        return f"{_format_sizes(shape)}, one below {bounds}, because {', '.join(map(str, shape.disks))} {change_disks}"
    return f"{_format_sizes(shape)}, NOT within {bounds}"


def _list_notes(
    sets: Sequence[Collection[ReplicaKey]], plan: ProvedPlan | RefusedPlan, leader: ReplicaKey | None
) -> Iterator[Reason]:
    yield from change(sets[0], sets[-1]).notes
    yield from _note_static_voters(sets[0], plan.steps)
    if isinstance(plan, ProvedPlan):
        yield from _note_differences(plan.shape)
    if leader is not None:
        if (leaves := leader_leaves(plan.steps, leader)) is not None:
            yield leaves
        yield from _note_early_removal(plan.steps, leader)


def _note_static_voters(first: Collection[ReplicaKey], steps: Sequence[Step]) -> Iterator[Reason]:
    """Yield the upgrade note, because voters without directory ids may be static or just entered without them."""
    if not any(step.change.learned for step in steps) or is_upgrade(steps[0].change):
        return
    if all(key.directory_id is None for key in first):
        yield Reason(
            f"if {listed(first)} are static voters, the upgrade to kraft.version 1 comes first, and fills in the "
            "directory ids of all of them at once",
            ("kraft-version.upgrade-atomic-batch",),
        )


def _note_differences(shape: Shape) -> Iterator[Reason]:
    if not shape.is_bounded and not shape.disks:
        there_are = "there is" if shape.sizes == (1, 1) else "there are"
        text = "{} {}, outside KIP-642's bounds of {} to {}".format(there_are, _format_sizes(shape), *shape.bounds)
        yield Reason(text, ("reassign.add-or-remove-choice",))
    if shape.detours:
        steps = ", ".join(map(str, shape.detours))
        yield Reason(
            "not every step comes closer to the last set, as in KIP-642's plan: not "
            f"step{'s' * (len(shape.detours) > 1)} {steps}",
            ("reassign.three-sets",),
        )


def _note_early_removal(steps: Sequence[Step], leader: ReplicaKey) -> Iterator[Reason]:
    if (removal := _find_removal(leader, steps)) is not None:
        number, key = removal
        later = [removed for step in steps[number:] for removed in step.change.removed]
        if later:
            text = f"step {number} removes the leader {key} before {listed(frozenset(later))}: KIP-642 removes it last"
            yield Reason(text, ("reassign.leader-removed-last",))


def _find_removal(leader: ReplicaKey, steps: Sequence[Step]) -> tuple[int, ReplicaKey] | None:
    """Return the number of the step that removes the leader, and its entry."""
    for number, step in enumerate(steps, start=1):
        for key in step.change.removed:
            if is_same(key, leader):
                return number, key
    return None


def _format_sizes(shape: Shape) -> str:
    low, high = shape.sizes
    return number_of(low, "voter") if low == high else f"{low} to {high} voters"
