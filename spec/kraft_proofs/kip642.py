"""KIP-642's plan from any voter set to any other.

KIP-642 identifies voters by id.
Here a voter is an id and a directory id, and no set has an id twice, so a voter whose directory id changes is removed
before it is added again (rules add-voter.duplicate-id, auto-join.remove-stale-self-first).
If only such voters remain to be added, the set is for one step a voter smaller than in KIP-642.

Directory ids that only the target has are added first, by records of their own.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterator
from heapq import heapify, heappop, heappush

from kraft_proofs.changes import Change, change, in_order, listed, place
from kraft_proofs.protocol import is_upgrade
from kraft_reference.identity import ReplicaKey, VoterSet, names


class UnknownLeaderError(ValueError):
    """The leader of a plan is not among its first voters."""


def kip642_plan(
    current: Collection[ReplicaKey], target: Collection[ReplicaKey], leader: ReplicaKey | None = None
) -> tuple[VoterSet, ...]:
    """Return the voter sets of KIP-642's reassignment, from `current` to `target`, both included as entered.

    The directory ids that only `target` has come first: all at once if that is the upgrade of a static set, otherwise
    one at a time, as by UpdateVoter.
    Then, while additions are not fewer than removals, one voter is added, the first in order; otherwise one is removed,
    the last in order.
    Removals prefer a voter whose id is added again, and take the leader last.
    The directory ids that only `current` has come last, in one step, which `prove_plan` refuses.
    It also refuses others: a sole voter whose directory id changes leaves an empty set.
    KIP-642, Reassignment Algorithm, steps 2 and 3.
    Rules: reassign.three-sets, reassign.add-or-remove-choice, reassign.single-member-steps,
    reassign.leader-removed-last, kraft-version.upgrade-atomic-batch, update-voter.not-a-membership-change.

    Raises:
        UnknownLeaderError: the leader is not in `current`.
    """
    whole = change(current, target)
    leads = None if leader is None else leading_voter(whole.old, leader)
    sets = [whole.given_old, *_add_directories(whole), *_reassign(whole, leads)]
    if whole.forgotten:
        sets.append(whole.given_new)
    return tuple(sets)


def leading_voter(voters: VoterSet, leader: ReplicaKey) -> ReplicaKey:
    """Return the leader's entry in a voter set, where either may lack its directory id.

    Rule: identity.unknown-directory-matches-id.

    Raises:
        UnknownLeaderError: it has none.
    """
    entries = in_order(key for key in voters if is_same(key, leader))
    if not entries:
        raise UnknownLeaderError(f"{leader} is none of the voters {listed(voters)}")
    return entries[0]


def is_same(key: ReplicaKey, other: ReplicaKey) -> bool:
    """Return True if both may be the same replica.  Rule: identity.unknown-directory-matches-id."""
    return names(key, other) or names(other, key)


def _add_directories(whole: Change) -> Iterator[VoterSet]:
    """Yield the set after each record that adds directory ids."""
    if is_upgrade(whole._replace(new=whole.old)):
        yield whole.old
        return
    voters = whole.given_old
    for key in whole.learned:
        voters = voters - {ReplicaKey(key.id)} | {key}
        yield voters


def _reassign(whole: Change, leader: ReplicaKey | None) -> Iterator[VoterSet]:
    """Yield the set after each addition and each removal."""
    voters = whole.old
    wanted = {key.id for key in whole.added}
    removals = deque(sorted(whole.removed, key=lambda key: (key != leader, key.id in wanted, place(key)), reverse=True))
    taken = {key.id for key in voters}
    free = [(place(key), key) for key in whole.added if key.id not in taken]
    heapify(free)
    waiting = defaultdict(list)
    for key in whole.added:
        if key.id in taken:
            waiting[key.id].append(key)
    additions = len(whole.added)
    while additions or removals:
        if not free and not removals:
            # A set has an id twice: complete the plan, which is then refused.
            free = [(place(key), key) for keys in waiting.values() for key in keys]
            heapify(free)
        if additions >= len(removals) and free:
            _, added = heappop(free)
            voters |= {added}
            additions -= 1
        else:
            removed = removals.popleft()
            voters -= {removed}
            for key in waiting.pop(removed.id, ()):
                heappush(free, (place(key), key))
        yield voters
