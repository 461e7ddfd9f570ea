"""Properties of voter sets, from their definitions at the head of the membership catalogue.

ConfigOverlap       any two voter sets that can both decide have no disjoint majorities
OnePendingChange    a leader's log has at most one uncommitted membership change
ConfigFollowsLog    a replica's voter set is a function of its snapshot and log
IdentityBinding     only the replica with the requested directory id grants a vote; a request counts for its sender only
"""

from collections.abc import Collection
from itertools import combinations

from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.log import Log
from kraft_reference.messages import FetchRequest, FetchSnapshotRequest, Message, UpdateVoterRequest, VoteRequest
from kraft_reference.profile import Profile
from kraft_reference.records import SET_KINDS, Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.history import History
from kraft_simulation.violation import BrokenProperty


def stands_for(entry: ReplicaKey, key: ReplicaKey) -> bool:
    """True if an entry of a voter set is this replica; an entry without a directory id matches any with its id."""
    return entry.id == key.id and entry.directory_id in (None, key.directory_id)


def is_member(key: ReplicaKey, voters: VoterSet) -> bool:
    """True if a replica is in a voter set."""
    return any(stands_for(entry, key) for entry in voters)


def may_disagree(first: VoterSet, other: VoterSet) -> bool:
    """True if the two sets have disjoint majorities."""
    shared = sum(any(stands_for(a, b) or stands_for(b, a) for b in other) for a in first)
    needed = sum(max(len(voters) // 2 + 1 - (len(voters) - shared), 0) for voters in (first, other))
    return needed <= shared


# ---------------------------------------------------------------------------------------------------------
# IdentityBinding.
# ---------------------------------------------------------------------------------------------------------


def check_grant(voter: ReplicaKey, request: VoteRequest) -> None:
    """Check that only the requested replica grants a vote; the response does not have the directory id."""
    meant = request.voter_key
    if meant is not None and not stands_for(meant, voter):
        raise BrokenProperty("IdentityBinding", f"{voter} grants the vote that {meant} was asked for")


def check_credit(before: ReplicaState, after: ReplicaState, message: Message | None, profile: Profile) -> None:
    """Check that a leader credits an entry of its voter set only for requests of that voter.

    An offset comes from a Fetch.  Presence in check quorum comes from a Fetch or FetchSnapshot, and from UpdateVoter
    where the profile says so (decision `update_voter_credit`).
    """
    sender = offset = None
    if isinstance(message, (FetchRequest, FetchSnapshotRequest)):
        sender = message.replica_key
    elif isinstance(message, UpdateVoterRequest) and profile.update_voter_credit == "fetch":
        sender = message.voter
    if isinstance(message, FetchRequest):
        offset = message.fetch_offset
    reason = "nothing that counts" if sender is None else f"a request of {sender}"
    if after.fetch_offsets is not before.fetch_offsets:
        for entry, counted in after.fetch_offsets.items():
            is_sender = sender is not None and stands_for(entry, sender)
            if before.fetch_offsets.get(entry) != counted and not (is_sender and counted == offset):
                raise BrokenProperty("IdentityBinding", f"{reason} counts as offset {counted} of {entry}")
    for present in after.fetchers - before.fetchers:
        if sender is None or present != sender.id or not is_member(sender, before.voters):
            raise BrokenProperty(
                "IdentityBinding", f"{reason} counts as presence of voter {present} in {before.voters}"
            )


# ---------------------------------------------------------------------------------------------------------
# OnePendingChange, ConfigOverlap.
# ---------------------------------------------------------------------------------------------------------


def check_pending(log: Log, history: History) -> None:
    """Check that the log of a leader has at most one uncommitted change."""
    open_changes = [
        entry.offset
        for previous, entry in zip(log.voters, log.voters[1:], strict=False)
        if previous.voters != entry.voters and not history.is_committed(entry.offset, log.record(entry.offset))
    ]
    if len(open_changes) > 1:
        raise BrokenProperty(
            "OnePendingChange", f"the changes at offsets {open_changes} of a leader's log are not committed"
        )


def check_overlap(states: Collection[ReplicaState], history: History) -> None:
    """Check that no two deciding sets have disjoint majorities.

    These are the newest committed set, and the set of every replica that leads, or may still win an election because
    it has every committed record.
    """
    sets = {state.voters for state in states}
    if history.newest_set is not None:
        sets.add(history.newest_set)
    if len(sets) == 1 or not any(may_disagree(first, other) for first, other in combinations(sets, 2)):
        return
    deciding = {
        state.voters
        for state in states
        if (state.role is Role.LEADER or is_member(state.key, state.voters)) and history.is_complete(state.log)
    }
    if history.newest_set is not None:
        deciding.add(history.newest_set)
    for combination, other in combinations(sorted(deciding, key=_shown), 2):
        if may_disagree(combination, other):
            both = f"both {_shown(combination)} and {_shown(other)} can decide"
            raise BrokenProperty("ConfigOverlap", f"{both}, and have majorities without a common voter")


# ---------------------------------------------------------------------------------------------------------
# ConfigFollowsLog.
# ---------------------------------------------------------------------------------------------------------


def check_config(log: Log, new_from: int) -> None:
    """Check that the newest voter set is that of the newest such record, or of the snapshot.

    The records before `new_from` were checked before.

    Raises:
        BrokenProperty: it is not.
    """
    entry, base = log.voters[-1], log.base
    expected = (base.voters, base.details, base.target)
    if entry.offset >= log.start_offset:
        record = _control_record("ConfigFollowsLog", log, entry.offset, *SET_KINDS)
        expected = (record.voters, record.details, record.target)
        if log.versions[-1].kraft_version == 0:
            raise BrokenProperty("ConfigFollowsLog", f"a VotersRecord at offset {entry.offset} at kraft.version 0")
    elif entry.offset != base.end_offset - 1:
        raise BrokenProperty("ConfigFollowsLog", f"the voter set of the snapshot stands at offset {entry.offset}")
    if entry[1:] != expected:
        raise BrokenProperty("ConfigFollowsLog", f"the voter set is not the one at offset {entry.offset}")
    if _has(log, max(new_from, entry.offset + 1), *SET_KINDS):
        raise BrokenProperty("ConfigFollowsLog", f"the voter set is the one at {entry.offset}, not the newest")


def check_level(log: Log, new_from: int) -> None:
    """Check the same for the level, for which the catalogue has no property.

    Raises:
        BrokenProperty: it is not.
    """
    version, level = log.versions[-1], log.base.kraft_version
    if version.offset >= log.start_offset:
        level = _control_record("TypeOk", log, version.offset, RecordKind.KRAFT_VERSION).value
    if version.kraft_version != level:
        raise BrokenProperty("TypeOk", f"the level is not the one at offset {version.offset}")
    if _has(log, max(new_from, version.offset + 1), RecordKind.KRAFT_VERSION):
        raise BrokenProperty("TypeOk", f"the level is the one at {version.offset}, not the newest")
    if log.records and log.records[-1].kind is RecordKind.KRAFT_VERSION:
        raise BrokenProperty("TypeOk", "the log ends between a level and its voter set, which are one batch")


def _has(log: Log, start_offset: int, *kinds: RecordKind) -> bool:
    return any(log.record(at).kind in kinds for at in range(max(start_offset, log.start_offset), log.end_offset))


def _control_record(property_name: str, log: Log, offset: int, *kinds: RecordKind) -> Record:
    if offset >= log.end_offset or log.record(offset).kind not in kinds:
        raise BrokenProperty(property_name, f"there is no {kinds[0]} record at offset {offset}")
    return log.record(offset)


def _shown(voters: VoterSet) -> str:
    return "{" + ", ".join(str(voter) for voter in sorted(voters)) + "}"
