"""KIP-853's verdict on a change of the voter set, independent of majorities.

Two sets of four that differ by a replacement have no disjoint majorities, and yet KIP-853 forbids the step.
So this verdict is separate from the one of `kraft_proofs.transitions`.
"""

from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from kraft_proofs.changes import Change, Reason, in_order, listed
from kraft_reference.identity import ReplicaKey, VoterSet

_ID = itemgetter(0)
"""Sort key: the id of a replica key."""


class ProtocolVerdict(NamedTuple):
    """Verdict of KIP-853 on a change."""

    kind: str
    """Short description of the change."""
    refusals: tuple[Reason, ...]
    """Reasons why it is forbidden; empty if it is allowed."""
    conditions: tuple[Reason, ...]
    """Preconditions when the leader appends the set; empty if it is forbidden, or if no voter changes."""

    @property
    def allowed(self) -> bool:
        """True if one VotersRecord may make this change under the conditions."""
        return not self.refusals


def judge(change: Change) -> ProtocolVerdict:
    """Check a change against the limits of one VotersRecord.

    Rules: voters.at-most-one-difference, voters.never-empty, add-voter.duplicate-id.
    """
    refusals = tuple(_find_refusals(change))
    return ProtocolVerdict(_describe(change), refusals, () if refusals else tuple(_list_conditions(change)))


def _describe(change: Change) -> str:
    parts = [f"removes {listed(change.removed)}"] if change.removed else []
    parts += [f"adds {listed(change.added)}"] if change.added else []
    for verb, keys in (("fills in", change.learned), ("drops", change.forgotten)):
        parts += [f"{verb} the directory id{'s' * (len(keys) > 1)} {listed(keys)}"] if keys else []
    return ", ".join(parts) or "changes no voter"


def _find_refusals(change: Change) -> Iterator[Reason]:
    for name, voters in (("old", change.old), ("new", change.new)):
        if not voters:
            yield Reason(f"the {name} set has no voter: nothing could ever be decided", ("voters.never-empty",))
        for first, second in _duplicates(voters):
            text = f"the {name} set holds the id {first.id} twice, {first} and {second}: DUPLICATE_VOTER"
            yield Reason(text, ("add-voter.duplicate-id",))
    for removed, added in change.other_directories:
        yield Reason(
            f"{added} takes the place of {removed} in one step: {removed} has to be removed before {added} is added",
            ("identity.directory-id-never-silently-replaced", "add-voter.duplicate-id"),
        )
    if (number := len(change.added) + len(change.removed)) > 1:
        yield Reason(
            f"{number} voters change at once: one VotersRecord adds one voter or removes one",
            ("voters.at-most-one-difference",),
        )
    if change.forgotten:
        yield Reason(
            f"a directory id that is known stays known: {listed(change.forgotten)}",
            ("identity.directory-id-never-silently-replaced",),
        )
    if len(change.learned) > 1 and not is_upgrade(change):
        yield Reason(
            f"{len(change.learned)} directory ids are filled in at once: one VotersRecord fills in one",
            ("voters.at-most-one-difference", "update-voter.not-a-membership-change"),
        )
    nameless = [key for key in change.added if key.directory_id is None]
    if nameless and any(key.directory_id for key in change.old | change.new):
        are = "is" if len(nameless) == 1 else "are"
        text = f"{listed(nameless)} {are} added without a directory id: INVALID_REQUEST"
        yield Reason(text, ("add-voter.well-formed",))


def _list_conditions(change: Change) -> Iterator[Reason]:
    if change.old == change.new and not change.learned:
        return
    if is_upgrade(change):
        yield from _upgrade_conditions(change)
        return
    yield Reason("kraft.version is 1", ("voters.static-set-at-version-0",))
    yield Reason("the old set is committed, no other change is pending", ("voters.one-change-at-a-time",))
    yield Reason("the leader has committed a record of its own epoch", ("voters.epoch-committed-before-change",))
    if change.added:
        yield Reason(f"{listed(change.added)} has caught up", ("add-voter.catch-up-first",))


def _upgrade_conditions(change: Change) -> Iterator[Reason]:
    """Yield the conditions of the upgrade; at kraft.version 0 no set is committed, because none is in the log."""
    yield Reason("it is part of the upgrade to kraft.version 1", ("kraft-version.upgrade-atomic-batch",))
    yield Reason("each voter has said that it supports kraft.version 1", ("kraft-version.upgrade-needs-all-voters",))
    yield Reason(
        "the leader has committed a record of its own epoch: KIP-853 does not say so, and the rule recommends it",
        ("kraft-version.upgrade-atomic-batch",),
    )
    if len(change.learned) == 1:
        yield Reason(
            "or it answers UpdateVoter: kraft.version is 1, the old set is committed, no other change is pending, and "
            "the leader has committed a record of its own epoch",
            (
                "update-voter.not-a-membership-change",
                "voters.one-change-at-a-time",
                "voters.epoch-committed-before-change",
            ),
        )


def is_upgrade(change: Change) -> bool:
    """Return True if all voters of a static set get their directory ids, as from kraft.version 0 to 1.

    With a single voter, this may also be an UpdateVoter.
    Rule: kraft-version.upgrade-atomic-batch.
    """
    return bool(change.learned) and frozenset(change.learned) == change.old == change.new


def _duplicates(voters: VoterSet) -> Iterator[tuple[ReplicaKey, ReplicaKey]]:
    if len(set(map(_ID, voters))) < len(voters):
        yield from ((first, second) for first, second in pairwise(in_order(voters)) if first.id == second.id)
