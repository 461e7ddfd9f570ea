"""The gauges of raft-metrics that the KIPs name, as functions of a replica's state."""

from collections.abc import Mapping

from kraft_reference.configuration import Configuration
from kraft_reference.identity import ReplicaKey, names
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
    """`number-of-voters` of a Leader.  Rule: metric.voters-observers."""
    return len(state.voters)


def number_of_observers(state: ReplicaState) -> int:
    """`number-of-observers`: those that fetched with id and directory id in this epoch and are no voters.

    Rule: metric.voters-observers.
    """
    return sum(1 for key in state.fetch_offsets if key not in state.voters and key.directory_id is not None)


def number_of_offline_voters(
    state: ReplicaState, last_fetch_ms: Mapping[ReplicaKey, int], now_ms: int, fetch_timeout_ms: int
) -> int:
    """`number-of-offline-voters`: voters whose last fetch is older than the fetch timeout, the Leader never.

    `last_fetch_ms` is when each voter entry last fetched, in the clock of `now_ms`; the driver keeps it because
    a replica has no clock.
    Rule: metric.voters-observers.
    """

    def is_offline(voter: ReplicaKey) -> bool:
        if names(voter, state.key):
            return False
        last_ms = last_fetch_ms.get(voter)
        return last_ms is None or now_ms - last_ms > fetch_timeout_ms

    return sum(1 for voter in state.voters if is_offline(voter))
