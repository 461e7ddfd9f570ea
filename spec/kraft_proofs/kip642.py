"""KIP-642's plan from any voters set to any other.

KIP-642 knows voters by id.
Here a voter is an id and a directory id, and no set holds an id twice, so a voter whose directory id changes is
removed before it is added again (rules add-voter.duplicate-id, auto-join.remove-stale-self-first).
Where nothing but such voters is left to add, the set is for one step a voter smaller than KIP-642 alone would have it.

Directory ids that only the target gives are filled in first, by records of their own.
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
    """The voters sets of KIP-642's reassignment, from `current` to `target`, both included as they are given.

    First come the directory ids that only `target` gives: all at once if that is the upgrade of a static set, else one
    at a time, as UpdateVoter has it.
    Then, while additions are not fewer than removals, one voter is added, the first in order; else one is removed, the
    last in order.
    Removals prefer a voter whose id is to be added again, and take the leader only when no other is left.
    Last come the directory ids that only `current` gives, in one step, which `prove_plan` refuses.
    It refuses others too: a sole voter whose directory id changes leaves an empty set.
    KIP-642, Reassignment Algorithm, steps 2 and 3.
    Rules: reassign.three-sets, reassign.add-or-remove-choice, reassign.single-member-steps,
    reassign.leader-removed-last, kraft-version.upgrade-atomic-batch, update-voter.not-a-membership-change.

    Raises:
        UnknownLeaderError: the leader is not in `current`.
    """
    whole = change(current, target)
    leads = None if leader is None else leading_voter(whole.old, leader)
    sets = [whole.given_old, *_filled_in(whole), *_reassigned(whole, leads)]
    if whole.forgotten:
        sets.append(whole.given_new)
    return tuple(sets)


def leading_voter(voters: VoterSet, leader: ReplicaKey) -> ReplicaKey:
    """The entry that the leader has in a voters set, where either may lack its directory id.

    Rule: identity.unknown-directory-matches-id.

    Raises:
        UnknownLeaderError: it has none.
    """
    entries = in_order(key for key in voters if is_same(key, leader))
    if not entries:
        raise UnknownLeaderError(f"{leader} is none of the voters {listed(voters)}")
    return entries[0]


def is_same(key: ReplicaKey, other: ReplicaKey) -> bool:
    """May both be one replica?  Rule: identity.unknown-directory-matches-id."""
    return names(key, other) or names(other, key)


def _filled_in(whole: Change) -> Iterator[VoterSet]:
    """The sets after each record that fills in directory ids."""
    if is_upgrade(whole._replace(new=whole.old)):
        yield whole.old
        return
    voters = whole.given_old
    for key in whole.learned:
        voters = voters - {ReplicaKey(key.id)} | {key}
        yield voters


def _reassigned(whole: Change, leader: ReplicaKey | None) -> Iterator[VoterSet]:
    """The sets after each addition and each removal."""
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
            # An id twice: the plan ends all the same, and is refused.
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
