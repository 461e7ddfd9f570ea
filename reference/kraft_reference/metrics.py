"""The gauges of raft-metrics that the KIPs name, as functions of a replica's state.

A gauge that answers a question with yes or no is 1 or 0.
"""

from collections import Counter
from collections.abc import Mapping

from kraft_reference.changes import ChangeKind, kind_of
from kraft_reference.configuration import Configuration
from kraft_reference.identity import ReplicaKey, names
from kraft_reference.pending_changes import finalized_version
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter


def current_state(state: ReplicaState, configuration: Configuration) -> str:
    """The value of `current-state`.

    leader, candidate, prospective, prospective-voted, follower, unattached, unattached-voted, observer or
    resigned; observer is a Follower or Unattached outside its own voters set.
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
    """`number-of-voters`: the size of the voters set in force.

    Rules: metric.voters-observers, metric.voters-and-observers.
    """
    return len(state.voters)


def number_of_observers(state: ReplicaState) -> int:
    """`number-of-observers`: those that fetched with id and directory id in this epoch and are no voters.

    An observer that sends no directory id can never be added, so it is not counted.
    Rules: metric.voters-observers, metric.voters-and-observers, identity.could-become-voter.
    """
    return sum(1 for key in state.fetch_offsets if key not in state.voters and key.directory_id is not None)


def number_of_offline_voters(
    state: ReplicaState, last_fetch_ms: Mapping[ReplicaKey, int], now_ms: int, fetch_timeout_ms: int
) -> int:
    """`number-of-offline-voters`: voters whose last fetch is older than the fetch timeout, the Leader never.

    `last_fetch_ms` is when each voter entry last fetched, in the clock of `now_ms`; the driver keeps it because
    a replica has no clock.
    Rules: metric.voters-observers, metric.duplicate-and-offline-voters.
    """

    def is_offline(voter: ReplicaKey) -> bool:
        if names(voter, state.key):
            return False
        last_ms = last_fetch_ms.get(voter)
        return last_ms is None or now_ms - last_ms > fetch_timeout_ms

    return sum(1 for voter in state.voters if is_offline(voter))


# ---------------------------------------------------------------------------------------------------------
# Voter changes.
# ---------------------------------------------------------------------------------------------------------


def uncommitted_voter(state: ReplicaState) -> tuple[ChangeKind, ReplicaKey] | None:
    """Whom the newest voters set of a Leader adds or removes, unless the set is known to be committed.

    A set that only tells more of the same voters, or names another target, adds and removes nobody.
    At most one of the sets that are not committed does: the next one could not have been appended before.
    Rule: voters.one-change-at-a-time.
    """
    entries = state.log.voters
    newest, known = entries[-1], max(state.log.start_offset, state.high_watermark)
    if state.role is not Role.LEADER or newest.offset < known:
        return None
    before = next((entry.voters for entry in reversed(entries) if entry.offset < known), entries[0].voters)
    for kind, some, others in ((ChangeKind.ADD, newest.voters, before), (ChangeKind.REMOVE, before, newest.voters)):
        only = {voter.id for voter in some} - {voter.id for voter in others}
        if only:
            return kind, next(voter for voter in sorted(some) if voter.id in only)
    return None


def _is_under_way(state: ReplicaState, kind: ChangeKind) -> int:
    """Does a Leader work on such a change, or is one in its log that is not committed yet?"""
    change, uncommitted = state.pending_change, uncommitted_voter(state)
    return int(
        (change is not None and kind_of(change) is kind) or (uncommitted is not None and uncommitted[0] is kind),
    )


def pending_add_voter(state: ReplicaState) -> int:
    """`pending-add-voter`: from the acceptance of an AddVoter to the commit of its set, or its end without one.

    Rule: metric.pending-changes.
    """
    return _is_under_way(state, ChangeKind.ADD)


def pending_remove_voter(state: ReplicaState) -> int:
    """`pending-remove-voter`, likewise; never 1 together with `pending-add-voter`.  Rule: metric.pending-changes."""
    return _is_under_way(state, ChangeKind.REMOVE)


def uncommitted_voter_change(state: ReplicaState) -> int:
    """`uncommitted-voter-change`: Apache Kafka's one gauge in place of those two.

    It is of a Leader only, and of a request: 1 while an AddVoter or RemoveVoter waits for its answer.
    Rule: metric.pending-changes.
    """
    change = state.pending_change
    return int(change is not None and kind_of(change) in (ChangeKind.ADD, ChangeKind.REMOVE))


def controller_not_voter(state: ReplicaState) -> int:
    """A controller outside its own voters set; the KIP has left the name open.  Rule: metric.controller-not-voter."""
    return int(not is_voter(state))


def duplicate_voter_ids(state: ReplicaState) -> int:
    """`duplicate-voter-ids`: ids with more than one voter in the set, which AddVoter refuses to make.

    Rules: metric.duplicate-and-offline-voters, add-voter.duplicate-id.
    """
    return sum(1 for number in Counter(voter.id for voter in state.voters).values() if number > 1)


def ignored_static_voters(state: ReplicaState, configuration: Configuration) -> int:
    """`ignored-static-voters`: controller.quorum.voters is set, as in any cluster that began at kraft.version 0.

    It follows the finalized level, since an operator who reads 1 may delete the property for good.
    Rules: metric.ignored-static-voters, kraft-version.static-config-ignored.
    """
    return int(configuration.kraft_version == 0 and finalized_version(state, configuration) >= 1)
