"""EverybodyIsAsked: whomever a replica has to ask, it asks again and again.

A trace shows who was asked and not who never was, so this goes by what a replica owes, written from the rules and not
from what the reference takes for due:

- a Prospective and a Candidate owe a Vote request to each other voter of their set that has not answered, as long as
  a majority is possible (prevote.request.recipients, vote.request.contents);
- a Leader owes BeginQuorumEpoch to each other voter that has not fetched for a check-quorum period
  (begin-quorum.resend);
- a replica that looks for the leader owes a Fetch to each bootstrap server (discovery.bootstrap, fetch.who-fetches).

EndQuorumEpoch (end-quorum.send) is a SHOULD, of a role that soon ends, and is not part of the property.
A request may be owed for a check-quorum period, over all terms of office since the last one: the longest time that an
announcement may wait. While a request to the same replica is on its way, nothing is owed.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.violation import Violation
from kraft_reference.configuration import Configuration
from kraft_reference.effects import Send
from kraft_reference.events import Receive, ReplaceDisk
from kraft_reference.messages import BeginQuorumEpochRequest, FetchRequest, FetchSnapshotRequest, Request, VoteRequest
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, other_voters

FETCHES_PER_SERVER = 16
"""One of n bootstrap servers is asked at random: 14 n questions in a row miss it with a chance of 1 in a million."""


class _Debt(NamedTuple):
    """A request of this kind from one replica to another."""

    source: int
    kind: type[Request]
    destination: int


class EverybodyIsAsked:
    """Follows a run from its start, and says who is never asked."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._states: dict[int, tuple[int, ReplicaState]] = {}
        """Of each replica, and since when it is so."""
        self._owed_ms: dict[_Debt, int] = {}
        self._fetched_ms: dict[tuple[int, int], int] = {}
        """When a voter last fetched from a leader, or its time began."""
        self._others_asked: dict[tuple[int, int], int] = {}
        """How many Fetches went to other bootstrap servers since the last to this one."""

    def observe(self, occurrence: Occurrence) -> Violation | None:
        """Take in what happened; the first debt that is never paid."""
        after = occurrence.state
        if after is None:
            return None
        source, now_ms = after.key.id, occurrence.time_ms
        since_ms, before = self._states.get(source, (now_ms, after))
        self._states[source] = (now_ms, after)
        for debt in self._owed_by(before, since_ms):
            self._owed_ms[debt] = self._owed_ms.get(debt, 0) + now_ms - since_ms
        self._note_fetch(occurrence, before, after)
        for effect in occurrence.effects:
            if isinstance(effect, Send) and isinstance(effect.message, Request):
                self._owed_ms.pop(_Debt(source, type(effect.message), effect.message.destination), None)
                self._note_search(after, effect.message)
        return self._overdue(occurrence.sequence, source)

    def _owed_by(self, state: ReplicaState, now_ms: int) -> Iterator[_Debt]:
        """What a replica in this state owes and has not on its way."""
        kind: type[Request]
        match state.role:
            case Role.PROSPECTIVE | Role.CANDIDATE if 2 * (len(state.voters) - len(state.rejected)) > len(state.voters):
                kind, heard = VoteRequest, state.granted | state.rejected
            case Role.LEADER:
                kind = BeginQuorumEpochRequest
                heard = frozenset(one.id for one in state.voters if not self._is_silent(state, one.id, now_ms))
            case _:
                return
        for voter in other_voters(state):
            if voter.id not in heard and voter.id not in state.awaiting and voter.id != state.key.id:
                yield _Debt(state.key.id, kind, voter.id)

    def _is_silent(self, leader: ReplicaState, voter: int, now_ms: int) -> bool:
        period_ms = self._configuration.timeouts.check_quorum_period_ms
        return now_ms - self._fetched_ms.setdefault((leader.key.id, voter), now_ms) >= period_ms

    def _note_fetch(self, occurrence: Occurrence, before: ReplicaState, after: ReplicaState) -> None:
        source, event = after.key.id, occurrence.event
        if (before.role, before.epoch, before.voters) != (after.role, after.epoch, after.voters):
            for pair in [pair for pair in self._fetched_ms if pair[0] == source]:
                del self._fetched_ms[pair]
        if isinstance(event, Receive) and isinstance(event.message, FetchRequest | FetchSnapshotRequest):
            self._fetched_ms[source, event.message.source] = occurrence.time_ms
        if isinstance(event, ReplaceDisk):
            self._owed_ms = {debt: owed for debt, owed in self._owed_ms.items() if debt.source != source}

    def _note_search(self, state: ReplicaState, request: Request) -> None:
        if not isinstance(request, FetchRequest) or state.role is not Role.UNATTACHED:
            return
        for server in self._configuration.bootstrap_server_ids(state.key.id):
            asked = server == request.destination
            pair = state.key.id, server
            self._others_asked[pair] = 0 if asked else self._others_asked.get(pair, 0) + 1

    def _overdue(self, sequence: int, source: int) -> Violation | None:
        bound_ms = self._configuration.timeouts.check_quorum_period_ms
        for debt, owed_ms in self._owed_ms.items():
            if debt.source == source and owed_ms > bound_ms:
                said = f"owed a {debt.kind.__name__} to {debt.destination} for {owed_ms} ms and did not send it"
                return Violation("EverybodyIsAsked", sequence, source, said)
        servers = self._configuration.bootstrap_server_ids(source)
        for server in servers:
            asked = self._others_asked.get((source, server), 0)
            if asked > FETCHES_PER_SERVER * len(servers):
                said = f"looked for the leader with {asked} Fetches, none of them to bootstrap server {server}"
                return Violation("EverybodyIsAsked", sequence, source, said)
        return None
