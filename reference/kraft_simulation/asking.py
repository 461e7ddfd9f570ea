"""EverybodyIsAsked: a replica repeats every request that it owes.

A trace does not show missing requests, so this check computes the requests that a replica owes, from the rules and
independently of the reference:

- a Prospective and a Candidate owe a Vote request to each other voter of their set without a response, as long as
  a majority is possible (prevote.request.recipients, vote.request.contents);
- a Leader owes BeginQuorumEpoch to each other voter that has not fetched for a check-quorum period
  (begin-quorum.resend);
- a replica that searches for the leader owes a Fetch to each bootstrap server (discovery.bootstrap, fetch.who-fetches).

EndQuorumEpoch (end-quorum.send) is a SHOULD of a role that ends soon, and is not part of the property.
A request may be owed for a check-quorum period, the longest delay of an announcement, over all leaderships since the
last request.  While a request to the same replica is in flight, nothing is owed.
"""

from typing import NamedTuple

from kraft_reference.configuration import Configuration
from kraft_reference.effects import Send
from kraft_reference.events import Receive, ReplaceDisk
from kraft_reference.messages import (
    REQUESTS,
    BeginQuorumEpochRequest,
    FetchRequest,
    FetchSnapshotRequest,
    Message,
    VoteRequest,
)
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, other_voters
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.violation import Violation

FETCHES_PER_SERVER = 16
"""Requests per bootstrap server: 14 n random requests to n servers miss one with a chance of 1 in a million."""


class _Debt(NamedTuple):
    """A request of this kind from one replica to another."""

    source: int
    kind: type[Message]
    destination: int


class EverybodyIsAsked:
    """Follows a run from its start, and finds requests that are never sent."""

    def __init__(self, configuration: Configuration) -> None:
        self._period_ms = configuration.timeouts.check_quorum_period_ms
        self._servers = {own_id: configuration.bootstrap_server_ids(own_id) for own_id in configuration.replicas}
        """Servers that each replica asks for the leader."""
        self._states: dict[int, tuple[int, ReplicaState]] = {}
        """Requests that each replica owes, and since when."""
        self._owed_ms: dict[_Debt, int] = {}
        self._fetched_ms: dict[tuple[int, int], int] = {}
        """Time of a voter's last Fetch from a leader, or of the beginning of its wait."""
        self._others_asked: dict[tuple[int, int], int] = {}
        """Number of Fetches to other bootstrap servers since the last one to this server."""

    def observe(self, occurrence: Occurrence) -> Violation | None:
        """Follow an occurrence; return the first request that is overdue."""
        after = occurrence.state
        if after is None:
            return None
        source, now_ms = after.key.id, occurrence.time_ms
        since_ms, before = self._states.get(source, (now_ms, after))
        self._states[source] = (now_ms, after)
        grown = self._owed_by(before, since_ms)
        for debt in grown:
            self._owed_ms[debt] = self._owed_ms.get(debt, 0) + now_ms - since_ms
        self._note_fetch(occurrence, before, after)
        missed = None
        for effect in occurrence.effects:
            if isinstance(effect, Send) and type(effect.message) in REQUESTS:
                self._owed_ms.pop(_Debt(source, type(effect.message), effect.message.destination), None)
                if after.role is Role.UNATTACHED and isinstance(effect.message, FetchRequest):
                    missed = self._missed(source, effect.message.destination)
        problem = self._overdue(grown) or missed
        return None if problem is None else Violation("EverybodyIsAsked", occurrence.sequence, source, problem)

    def _owed_by(self, state: ReplicaState, now_ms: int) -> list[_Debt]:
        """Return the requests that a replica in this state owes and does not have in flight."""
        kind: type[Message]
        own_id = state.key.id
        match state.role:
            case Role.LEADER:
                kind = BeginQuorumEpochRequest
                silent = [voter.id for voter in other_voters(state) if self._is_silent(own_id, voter.id, now_ms)]
            case Role.PROSPECTIVE | Role.CANDIDATE if 2 * (len(state.voters) - len(state.rejected)) > len(state.voters):
                kind, heard = VoteRequest, state.granted | state.rejected
                silent = [voter.id for voter in other_voters(state) if voter.id not in heard]
            case _:
                return []
        return [
            _Debt(own_id, kind, voter_id)
            for voter_id in silent
            if voter_id not in state.awaiting and voter_id != own_id
        ]

    def _is_silent(self, leader: int, voter: int, now_ms: int) -> bool:
        return now_ms - self._fetched_ms.setdefault((leader, voter), now_ms) >= self._period_ms

    def _note_fetch(self, occurrence: Occurrence, before: ReplicaState, after: ReplicaState) -> None:
        source, event = after.key.id, occurrence.event
        moved = before.role is not after.role or before.epoch != after.epoch
        if moved or (before.log is not after.log and before.voters != after.voters):
            for pair in [pair for pair in self._fetched_ms if pair[0] == source]:
                del self._fetched_ms[pair]
        if isinstance(event, Receive):
            if isinstance(event.message, (FetchRequest, FetchSnapshotRequest)):
                self._fetched_ms[source, event.message.source] = occurrence.time_ms
        elif isinstance(event, ReplaceDisk):
            self._owed_ms = {debt: owed for debt, owed in self._owed_ms.items() if debt.source != source}

    def _missed(self, source: int, destination: int) -> str | None:
        """Record a Fetch of a searching replica; return a message about a server that it has not asked for too long."""
        servers = self._servers[source]
        for server in servers:
            pair = source, server
            count = self._others_asked[pair] = 0 if server == destination else self._others_asked.get(pair, 0) + 1
            if count > FETCHES_PER_SERVER * len(servers):
                return f"looked for the leader with {count} Fetches, none of them to bootstrap server {server}"
        return None

    def _overdue(self, grown: list[_Debt]) -> str | None:
        """Return a message about an overdue request; None if there is none."""
        for debt in grown:
            owed_ms = self._owed_ms.get(debt, 0)
            if owed_ms > self._period_ms:
                return f"owed a {debt.kind.__name__} to {debt.destination} for {owed_ms} ms and did not send it"
        return None
