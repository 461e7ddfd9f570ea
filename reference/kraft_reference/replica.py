"""Replica of a KRaft quorum, sans-I/O: a state, an event and a configuration make an outcome.

Which module has which rules?
    `elections`: timers, Pre-Vote, Vote.
    `leadership`: BeginQuorumEpoch, EndQuorumEpoch, check quorum.
    `replication`, `watermark`, `snapshots`: Fetch, high watermark, FetchSnapshot.
    `voter_changes`, `pending_changes`: AddVoter, RemoveVoter, UpdateVoter, kraft.version.
    `self_reports`: auto join, and UpdateVoter at its sender.
    `quorum_reassignment`: KIP-642.
    `durability`: disk, crash, restart.
    `polling`: which request is sent when.
    `roles`, `transitions`: changes of role.

Which checks come first, for every message?
    A request of another cluster is refused.  A response that matches no outstanding request is ignored.
"""

from typing import NamedTuple

from kraft_reference import (
    durability,
    elections,
    events,
    leadership,
    messages,
    pending_changes,
    polling,
    quorum_reassignment,
    replication,
    self_reports,
    snapshots,
    voter_changes,
)
from kraft_reference.configuration import Configuration
from kraft_reference.effects import Effect
from kraft_reference.events import DISK_EVENTS, Draw, Event
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import Error, Message, Request, Response
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.pending_changes import answer_open_requests
from kraft_reference.records import Record, RecordKind
from kraft_reference.responses import after_failed_request, free_connection, is_foreign, refuse
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, other_voters


class Step(NamedTuple):
    """Effects of one event at one replica."""

    state: ReplicaState
    effects: tuple[Effect, ...]
    refusal: Refusal | None


def handle(state: ReplicaState, configuration: Configuration, event: Event, draw: Draw) -> Outcome:
    """Return the outcome of one event at a replica in this state; a pure function.

    An event that the replica's role does not allow changes nothing; the outcome has the reason.

    Raises:
        ValueError: A `Crash` keeps less than the synced log, more than the log, or a part of a batch.
    """
    outcome = _handle(state, configuration, event, draw)
    if outcome.state is state or isinstance(event, DISK_EVENTS):
        return outcome
    return durability.with_file_version(state, answer_open_requests(outcome, configuration))


def _handle(state: ReplicaState, configuration: Configuration, event: Event, draw: Draw) -> Outcome:
    if state.role is Role.STOPPED:
        match event:
            case events.Restart(endpoint):
                return durability.after_restart(state, configuration, draw, endpoint)
            case events.ReplaceDisk(directory_id):
                return durability.after_replace_disk(state, configuration, directory_id)
            case events.ReplaceSoftware():
                return Outcome(state)
            case _:
                return Outcome(state, refusal=Refusal.NOT_RUNNING)
    match event:
        case events.Receive(message):
            return _receive(state, configuration, message, draw)
        case events.PollFetch(destination):
            return polling.after_poll_fetch(state, configuration, destination, draw)
        case events.Poll(announce_to):
            return polling.after_poll(state, configuration, draw, announce_to)
        case events.ClientAppend(value):
            return replication.after_append(state, configuration, Record(state.epoch, RecordKind.DATA, value), draw)
        case events.ElectionTimeout():
            return elections.after_election_timeout(state, configuration, draw)
        case events.FetchTimeout():
            return elections.after_fetch_timeout(state, configuration, draw)
        case events.CheckQuorumTimeout():
            return leadership.after_check_quorum_timeout(state, configuration, draw)
        case events.BeginQuorumEpochTimeout():
            return leadership.after_begin_quorum_epoch_timeout(state, configuration)
        case events.RequestTimeout(destination):
            return _after_request_timeout(state, configuration, destination)
        case events.AddVoter() | events.RemoveVoter() if is_foreign(event, configuration):
            return refuse(state, configuration, event, Error.INCONSISTENT_CLUSTER_ID, Refusal.FOREIGN_CLUSTER)
        case events.AddVoter():
            return voter_changes.after_add_voter(state, configuration, event)
        case events.RemoveVoter():
            return voter_changes.after_remove_voter(state, configuration, event, draw)
        case events.UpdateFeatures():
            return voter_changes.after_update_features(state, configuration, event, draw)
        case events.AlterPartitionReassignments():
            return quorum_reassignment.after_alter_partition_reassignments(state, configuration, event, draw)
        case events.AdvanceReassignment():
            return quorum_reassignment.after_advance_reassignment(state, configuration, event, draw)
        case events.AppendVoters(voters):
            return voter_changes.after_append_voters(state, configuration, voters, draw)
        case events.VoterChangeTimeout():
            return pending_changes.after_voter_change_timeout(state, configuration)
        case events.TakeSnapshot(end_offset):
            return snapshots.after_take_snapshot(state, end_offset)
        case events.Shutdown():
            return leadership.after_shutdown(state, configuration, draw)
        case events.Crash(log_end_offset):
            return Outcome(durability.crash(state, log_end_offset))
        case events.Restart() | events.ReplaceDisk() | events.ReplaceSoftware():
            return Outcome(state, refusal=Refusal.RUNNING)


def _receive(state: ReplicaState, configuration: Configuration, message: Message, draw: Draw) -> Outcome:
    if not isinstance(message, Request):
        return _receive_response(state, configuration, message, draw)
    if is_foreign(message, configuration):
        return refuse(state, configuration, message, Error.INCONSISTENT_CLUSTER_ID, Refusal.FOREIGN_CLUSTER)
    match message:
        case messages.FetchRequest():
            return replication.after_fetch_request(state, configuration, message, draw)
        case messages.VoteRequest():
            return elections.after_vote_request(state, configuration, message, draw)
        case messages.BeginQuorumEpochRequest():
            return leadership.after_begin_quorum_epoch_request(state, configuration, message, draw)
        case messages.EndQuorumEpochRequest():
            return leadership.after_end_quorum_epoch_request(state, configuration, message, draw)
        case messages.FetchSnapshotRequest():
            return snapshots.after_fetch_snapshot_request(state, configuration, message)
        case messages.ApiVersionsRequest():
            return pending_changes.after_api_versions_request(state, configuration, message)
        case messages.AddVoterRequest():
            return voter_changes.after_add_voter(state, configuration, message)
        case messages.RemoveVoterRequest():
            return voter_changes.after_remove_voter(state, configuration, message, draw)
        case messages.UpdateVoterRequest():
            return voter_changes.after_update_voter_request(state, configuration, message, draw)


def _receive_response(state: ReplicaState, configuration: Configuration, response: Response, draw: Draw) -> Outcome:
    # A response has to match an outstanding request.  Prospective 1 loses its round, begins another in the same epoch,
    # and gets a grant that voter 2 gave in the first: epoch and role fit, but 2 may have fetched from a leader of this
    # epoch since, and 1 would depose that leader.  The check comes before the epoch, as in Kafka, which drops such a
    # response unread; a larger epoch comes again with the next message.
    # Rules: prevote.response.correlate, vote.response.late, prevote.response.ignored-when-candidate.
    if state.awaiting.get(response.source) != response.correlation_id:
        return Outcome(state, refusal=Refusal.UNCORRELATED_RESPONSE)
    idle = free_connection(state, response.source)
    match response:
        case messages.FetchResponse():
            return replication.after_fetch_response(idle, configuration, response, draw)
        case messages.VoteResponse():
            return elections.after_vote_response(idle, configuration, response, draw)
        case messages.BeginQuorumEpochResponse() | messages.EndQuorumEpochResponse():
            return leadership.after_announcement_response(idle, configuration, response, draw)
        case messages.FetchSnapshotResponse():
            return snapshots.after_fetch_snapshot_response(idle, configuration, response, draw)
        case messages.ApiVersionsResponse():
            return pending_changes.after_api_versions_response(idle, configuration, response, draw)
        case messages.AddVoterResponse() | messages.RemoveVoterResponse() | messages.UpdateVoterResponse():
            return self_reports.after_change_response(idle, configuration, response, draw)


def _after_request_timeout(state: ReplicaState, configuration: Configuration, destination: int) -> Outcome:
    """Free the connection; a late response will match no request."""
    # Rules: prevote.response.correlate, begin-quorum.resend, fetch.who-fetches.
    if destination not in state.awaiting:
        return Outcome(state, refusal=Refusal.NOTHING_DUE)
    idle = free_connection(state, destination)
    if state.role is Role.LEADER and configuration.profile.latitude.announcement_again == "by-timer":
        # The announcement counts as acknowledged until the begin-quorum timer fires.
        quiet = {voter.id for voter in other_voters(state) if voter.id == destination}
        return Outcome(idle._replace(acknowledging_voters=state.acknowledging_voters | quiet))
    return Outcome(after_failed_request(idle, configuration, destination))


class Replica:
    """Replica that keeps its state between steps, for drivers that want an object.

    The state is a value: `replica.state` can be kept, compared and put back.
    """

    def __init__(self, state: ReplicaState, configuration: Configuration) -> None:
        self.state = state
        self.configuration = configuration

    def may_die_during(self, event: Event) -> bool:
        """Return True if a driver may let the replica crash within this event; disk events are atomic."""
        return not isinstance(event, DISK_EVENTS)

    def next_steps(self) -> frozenset[ReplicaKey | None]:
        """Return the choices for the next step of a reassignment; see `quorum_reassignment.next_steps`."""
        return quorum_reassignment.next_steps(self.state)

    def outcome(self, event: Event, draw: Draw) -> Outcome:
        """Return the outcome of an event without taking the step."""
        return handle(self.state, self.configuration, event, draw)

    def step(self, event: Event, draw: Draw) -> Step:
        """Handle one event and return its effects in the order in which the driver must carry them out."""
        # Rules: durable.write-before-act, vote.persist-before-reply.
        before = self.state
        outcome = self.outcome(event, draw)
        self.state = outcome.state
        effects = () if isinstance(event, DISK_EVENTS) else durability.effects_of(before, outcome)
        return Step(outcome.state, effects, outcome.refusal)

    def crash_during(self, event: Event, draw: Draw, completed: int, log_end_offset: int) -> Step:
        """Handle one event but crash after the first `completed` of its durable effects and sends.

        Raises:
            ValueError: A crash at that point cannot leave a log that ends at `log_end_offset`.
        """
        before = self.state
        outcome = self.outcome(event, draw)
        done = durability.effects_of(before, outcome)[:completed]
        self.state = durability.crash(durability.apply_durable(before, done), log_end_offset)
        return Step(self.state, done, outcome.refusal)
