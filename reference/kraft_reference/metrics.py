"""Gauges of raft-metrics that the KIPs name, as functions of a replica's state; a boolean gauge is 1 or 0."""

from collections import Counter
from collections.abc import Mapping

from kraft_reference.changes import ChangeKind, change_kind
from kraft_reference.configuration import Configuration
from kraft_reference.identity import ReplicaKey, names
from kraft_reference.pending_changes import finalized_version
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter


def current_state(state: ReplicaState, configuration: Configuration) -> str:
    """Return `current-state`.

    It is leader, candidate, prospective, prospective-voted, follower, unattached, unattached-voted, observer or
    resigned; observer is a Follower or Unattached outside its own voter set.
    Rules: metric.current-state, metric.voted-renamed.
    """
    match state.role:
        case Role.RESIGNED:
            return configuration.profile.resigned_metric
        case Role.FOLLOWER if not is_voter(state):
            return "observer"
        case Role.UNATTACHED if not is_voter(state):
            return "observer"
        case Role.UNATTACHED | Role.PROSPECTIVE if state.voted_key is not None:
            return f"{state.role.lower()}-voted"
        case _:
            return state.role.lower()


def number_of_voters(state: ReplicaState) -> int:
    """Return `number-of-voters`: the size of the voter set in force.

    Rules: metric.voters-observers, metric.voters-and-observers.
    """
    return len(state.voters)


def number_of_observers(state: ReplicaState) -> int:
    """Return `number-of-observers`: replicas that fetched with a directory id in this epoch and are no voters.

    An observer without a directory id is not counted, because it cannot be added.
    Rules: metric.voters-observers, metric.voters-and-observers, identity.could-become-voter.
    """
    return sum(1 for key in state.fetch_offsets if key not in state.voters and key.directory_id is not None)


def number_of_offline_voters(
    state: ReplicaState, last_fetch_ms: Mapping[ReplicaKey, int], now_ms: int, fetch_timeout_ms: int
) -> int:
    """Return `number-of-offline-voters`: voters but the leader whose last Fetch is older than the fetch timeout.

    Args:
        state: State of the leader.
        last_fetch_ms: Time of the last Fetch of each voter entry, kept by the driver: a replica has no clock.
        now_ms: The present, by the same clock.
        fetch_timeout_ms: The fetch timeout.

    Rules: metric.voters-observers, metric.duplicate-and-offline-voters.
    """

    def is_offline(voter: ReplicaKey) -> bool:
        if names(voter, state.key):
            return False
        last_ms = last_fetch_ms.get(voter)
        return last_ms is None or now_ms - last_ms > fetch_timeout_ms

    return sum(1 for voter in state.voters if is_offline(voter))


# Voter changes.


def uncommitted_voter(state: ReplicaState) -> tuple[ChangeKind, ReplicaKey] | None:
    """Return the voter that a leader's newest voter set adds or removes; None if that set is committed.

    A set with other details or another target adds and removes no voter, so the result is None for it, too.
    """
    # At most one uncommitted set differs in its voters: the next could not have been appended before its commit.
    # Rule: voters.one-change-at-a-time.
    entries = state.log.voters
    newest, committed = entries[-1], max(state.log.start_offset, state.high_watermark)
    if state.role is not Role.LEADER or newest.offset < committed:
        return None
    before = next((entry.voters for entry in reversed(entries) if entry.offset < committed), entries[0].voters)
    for kind, some, others in ((ChangeKind.ADD, newest.voters, before), (ChangeKind.REMOVE, before, newest.voters)):
        only = {voter.id for voter in some} - {voter.id for voter in others}
        if only:
            return kind, next(voter for voter in sorted(some) if voter.id in only)
    return None


def _is_under_way(state: ReplicaState, kind: ChangeKind) -> int:
    """Return 1 if a leader works on a change of this kind, or has an uncommitted one in its log."""
    change, uncommitted = state.pending_change, uncommitted_voter(state)
    pending = change is not None and change_kind(change) is kind
    return int(pending or (uncommitted is not None and uncommitted[0] is kind))


def pending_add_voter(state: ReplicaState) -> int:
    """Return `pending-add-voter`: 1 from the acceptance of an AddVoter to its commit, or to its end without one.

    Rule: metric.pending-changes.
    """
    return _is_under_way(state, ChangeKind.ADD)


def pending_remove_voter(state: ReplicaState) -> int:
    """Return `pending-remove-voter`, which is never 1 together with `pending-add-voter`.

    Rule: metric.pending-changes.
    """
    return _is_under_way(state, ChangeKind.REMOVE)


def uncommitted_voter_change(state: ReplicaState) -> int:
    """Return `uncommitted-voter-change`, Apache Kafka's one gauge for pending-add-voter and pending-remove-voter.

    It is 1 at a leader while an AddVoter or RemoveVoter waits for its response.
    Rule: metric.pending-changes.
    """
    change = state.pending_change
    return int(change is not None and change_kind(change) in (ChangeKind.ADD, ChangeKind.REMOVE))


def controller_not_voter(state: ReplicaState) -> int:
    """Return 1 for a controller outside its own voter set; the KIP does not name the gauge.

    Rule: metric.controller-not-voter.
    """
    return int(not is_voter(state))


def duplicate_voter_ids(state: ReplicaState) -> int:
    """Return `duplicate-voter-ids`: ids of more than one voter in the set, which AddVoter prevents.

    Rules: metric.duplicate-and-offline-voters, add-voter.duplicate-id.
    """
    return sum(1 for number in Counter(voter.id for voter in state.voters).values() if number > 1)


def ignored_static_voters(state: ReplicaState, configuration: Configuration) -> int:
    """Return `ignored-static-voters`: 1 if controller.quorum.voters is set and has no effect any more.

    It follows the finalized level, because an operator who reads 1 may delete the property.
    Rules: metric.ignored-static-voters, kraft-version.static-config-ignored.
    """
    return int(configuration.kraft_version == 0 and finalized_version(state, configuration) >= 1)
