"""One replica of a KRaft quorum, sans-I/O.

How it works.
A replica is a state (`ReplicaState`, a value) and a configuration.
Its driver hands it one event at a time: a timer that fired, a message that arrived, a request of a client or an
operator, a crash, a restart.
`handle` answers with an outcome: the state after, the messages to send, the timers to start, or why nothing
happened.
`step` turns the outcome into effects in the order in which they must happen: what a message depends on is on
disk before it leaves.
The driver owns the clock, the network, the disk and every random choice; those come in with the event (`Draw`).
So a run is a function of its inputs, and a crash can be put after any prefix of a step's effects.

Where to find a rule: timers, Pre-Vote and Vote in `elections`; BeginQuorumEpoch, EndQuorumEpoch and check quorum
in `leadership`; Fetch in `replication`; the high watermark in `watermark`; what all answers share in `responses`;
AddVoter, RemoveVoter, UpdateVoter and kraft.version in `voter_changes`, what follows once one is accepted in
`pending_changes`, what a voter or a joining replica asks for itself in `self_reports`; quorum reassignment in
`quorum_reassignment`; snapshots in `snapshots`; disk and restarts in `durability`; what is sent when in `polling`;
roles in `roles` and `transitions`.
"""

from typing import NamedTuple

from kraft_reference import (
    durability,
    elections,
    leadership,
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
from kraft_reference.events import (
    DISK_EVENTS,
    AddVoter,
    AdvanceReassignment,
    AlterPartitionReassignments,
    AppendVoters,
    BeginQuorumEpochTimeout,
    CheckQuorumTimeout,
    ClientAppend,
    Crash,
    Draw,
    ElectionTimeout,
    Event,
    FetchTimeout,
    Poll,
    PollFetch,
    Receive,
    RemoveVoter,
    ReplaceDisk,
    ReplaceSoftware,
    RequestTimeout,
    Restart,
    Shutdown,
    TakeSnapshot,
    UpdateFeatures,
    VoterChangeTimeout,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import (
    AddVoterRequest,
    AddVoterResponse,
    ApiVersionsRequest,
    ApiVersionsResponse,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    Message,
    RemoveVoterRequest,
    RemoveVoterResponse,
    UpdateVoterRequest,
    UpdateVoterResponse,
    VoteRequest,
    VoteResponse,
)
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.pending_changes import with_lost_leadership
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, other_voters


class Step(NamedTuple):
    """What one event did to one replica."""

    state: ReplicaState
    effects: tuple[Effect, ...]
    refusal: Refusal | None


def handle(state: ReplicaState, configuration: Configuration, event: Event, draw: Draw) -> Outcome:
    """The outcome of one event at a replica in this state; a pure function.

    An event that the replica's role does not allow changes nothing and names its reason.

    Raises:
        ValueError: a `Crash` keeps more or less of the log than it can.
    """
    outcome = _handle(state, configuration, event, draw)
    if outcome.state is state or isinstance(event, DISK_EVENTS):
        return outcome
    return durability.with_file_version(state, with_lost_leadership(state, outcome, configuration))


def _handle(state: ReplicaState, configuration: Configuration, event: Event, draw: Draw) -> Outcome:
    if state.role is Role.STOPPED:
        match event:
            case Restart(endpoint):
                return durability.after_restart(state, configuration, draw, endpoint)
            case ReplaceDisk(directory_id):
                return durability.after_replace_disk(state, configuration, directory_id)
            case ReplaceSoftware():
                return Outcome(state)
            case _:
                return Outcome(state, refusal=Refusal.NOT_RUNNING)
    match event:
        case Receive(message):
            return _receive(state, configuration, message, draw)
        case PollFetch(destination):
            return polling.after_poll_fetch(state, configuration, destination, draw)
        case Poll():
            return polling.after_poll(state, configuration, draw)
        case ClientAppend(value):
            return replication.after_append(state, configuration, Record(state.epoch, RecordKind.DATA, value), draw)
        case ElectionTimeout():
            return elections.after_election_timeout(state, configuration, draw)
        case FetchTimeout():
            return elections.after_fetch_timeout(state, configuration, draw)
        case CheckQuorumTimeout():
            return leadership.after_check_quorum_timeout(state, configuration, draw)
        case BeginQuorumEpochTimeout():
            return leadership.after_begin_quorum_epoch_timeout(state, configuration)
        case RequestTimeout(destination):
            return _after_request_timeout(state, configuration, destination)
        case AddVoter():
            return voter_changes.after_add_voter(state, configuration, event)
        case RemoveVoter():
            return voter_changes.after_remove_voter(state, configuration, event, draw)
        case UpdateFeatures():
            return voter_changes.after_update_features(state, configuration, event, draw)
        case AlterPartitionReassignments():
            return quorum_reassignment.after_alter_partition_reassignments(state, configuration, event, draw)
        case AdvanceReassignment():
            return quorum_reassignment.after_advance_reassignment(state, configuration, event, draw)
        case AppendVoters(voters):
            return voter_changes.after_append_voters(state, configuration, voters, draw)
        case VoterChangeTimeout():
            return pending_changes.after_voter_change_timeout(state, configuration)
        case TakeSnapshot(end_offset):
            return snapshots.after_take_snapshot(state, end_offset)
        case Shutdown():
            return leadership.after_shutdown(state, configuration, draw)
        case Crash(log_end_offset):
            return Outcome(durability.crashed(state, log_end_offset))
        case Restart() | ReplaceDisk() | ReplaceSoftware():
            return Outcome(state, refusal=Refusal.RUNNING)


def _receive(state: ReplicaState, configuration: Configuration, message: Message, draw: Draw) -> Outcome:
    match message:
        case FetchRequest():
            return replication.after_fetch_request(state, configuration, message, draw)
        case FetchResponse():
            return replication.after_fetch_response(state, configuration, message, draw)
        case VoteRequest():
            return elections.after_vote_request(state, configuration, message, draw)
        case VoteResponse():
            return elections.after_vote_response(state, configuration, message, draw)
        case BeginQuorumEpochRequest():
            return leadership.after_begin_quorum_epoch_request(state, configuration, message, draw)
        case EndQuorumEpochRequest():
            return leadership.after_end_quorum_epoch_request(state, configuration, message, draw)
        case BeginQuorumEpochResponse() | EndQuorumEpochResponse():
            return leadership.after_announcement_response(state, configuration, message, draw)
        case FetchSnapshotRequest():
            return snapshots.after_fetch_snapshot_request(state, configuration, message)
        case FetchSnapshotResponse():
            return snapshots.after_fetch_snapshot_response(state, configuration, message, draw)
        case ApiVersionsRequest():
            return pending_changes.after_api_versions_request(state, configuration, message)
        case ApiVersionsResponse():
            return pending_changes.after_api_versions_response(state, configuration, message, draw)
        case AddVoterRequest():
            return voter_changes.after_add_voter(state, configuration, message)
        case RemoveVoterRequest():
            return voter_changes.after_remove_voter(state, configuration, message, draw)
        case UpdateVoterRequest():
            return voter_changes.after_update_voter_request(state, configuration, message, draw)
        case AddVoterResponse() | RemoveVoterResponse() | UpdateVoterResponse():
            return self_reports.after_change_response(state, configuration, message, draw)


def _after_request_timeout(state: ReplicaState, configuration: Configuration, destination: int) -> Outcome:
    """The connection is idle again; a late answer will match no request.

    Rules: prevote.response.correlate, begin-quorum.resend, fetch.who-fetches.
    """
    if destination not in state.awaiting:
        return Outcome(state, refusal=Refusal.NOTHING_DUE)
    awaiting = {to: correlation for to, correlation in state.awaiting.items() if to != destination}
    if state.role is Role.LEADER and configuration.profile.announcement_again == "by-timer":
        # Its announcement counts as acknowledged until that timer fires.
        voter = {voter.id for voter in other_voters(state) if voter.id == destination}
        return Outcome(state._replace(awaiting=awaiting, acknowledged=state.acknowledged | voter))
    if state.role is Role.FOLLOWER and configuration.profile.unanswered_fetch == "servers-too":
        return Outcome(state._replace(awaiting=awaiting, searching=state.searching or destination == state.leader_id))
    return Outcome(state._replace(awaiting=awaiting))


class Replica:
    """A replica that keeps its state between steps, for drivers that want an object.

    The state is a value, so `replica.state` can be kept, compared and put back.
    """

    def __init__(self, state: ReplicaState, configuration: Configuration) -> None:
        self.state = state
        self.configuration = configuration

    def may_die_during(self, event: Event) -> bool:
        """Can a driver let the replica die in the middle of this event?  Those of the disk have no middle."""
        return not isinstance(event, DISK_EVENTS)

    def next_steps(self) -> frozenset[ReplicaKey | None]:
        """The steps of a reassignment that a driver may choose from; see `quorum_reassignment.next_steps`."""
        return quorum_reassignment.next_steps(self.state)

    def outcome(self, event: Event, draw: Draw) -> Outcome:
        """What would come of an event; nothing happens."""
        return handle(self.state, self.configuration, event, draw)

    def step(self, event: Event, draw: Draw) -> Step:
        """Handle one event; the effects come in the order in which the driver must carry them out.

        Rules: durable.write-before-act, vote.persist-before-reply.
        """
        before = self.state
        outcome = self.outcome(event, draw)
        self.state = outcome.state
        effects = () if isinstance(event, DISK_EVENTS) else durability.effects_of(before, outcome)
        return Step(outcome.state, effects, outcome.refusal)

    def crash_during(self, event: Event, draw: Draw, completed: int, log_end_offset: int) -> Step:
        """Handle one event but die after the first `completed` of its durable effects and sends.

        Raises:
            ValueError: `log_end_offset` is not what a crash at that point can leave.
        """
        before = self.state
        outcome = self.outcome(event, draw)
        done = durability.effects_of(before, outcome)[:completed]
        self.state = durability.crashed(durability.apply_durable(before, done), log_end_offset)
        return Step(self.state, done, outcome.refusal)
