"""Events: the inputs of `Replica.step`.

An event has the same name in a trace line, as a TLA+ action and in the step of a conformance vector.
"""

from dataclasses import dataclass
from typing import NamedTuple

from kraft_reference.configuration import PreVoteSupport
from kraft_reference.identity import DirectoryId, Offset, ReplicaId, ReplicaKey, VoterSet
from kraft_reference.messages import Message


@dataclass(frozen=True, slots=True)
class ElectionTimeout:
    """The election timer of an Unattached voter, Prospective, Candidate or Resigned fires."""


@dataclass(frozen=True, slots=True)
class FetchTimeout:
    """The fetch timer of a Follower fires."""


@dataclass(frozen=True, slots=True)
class CheckQuorumTimeout:
    """The check-quorum timer of a leader fires: no majority has fetched within the period."""


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochTimeout:
    """The begin-quorum timer of a leader fires: its announcement is due again."""


@dataclass(frozen=True, slots=True)
class RequestTimeout:
    """The request timeout of the connection to `destination` is over."""

    destination: ReplicaId


@dataclass(frozen=True, slots=True)
class Poll:
    """The replica sends the election requests that are due, on idle connections."""

    announce_to: tuple[ReplicaId, ...] | None = None
    """Voters that a leader announces itself to by its clock; None for those that have not fetched in its period."""


@dataclass(frozen=True, slots=True)
class PollFetch:
    """The replica sends a Fetch to `destination`, its leader or a bootstrap server."""

    destination: ReplicaId


@dataclass(frozen=True, slots=True)
class Receive:
    """A message arrives; the event is named after it, such as `HandleVoteRequest`."""

    message: Message


@dataclass(frozen=True, slots=True)
class ClientAppend:
    """A client appends a record at the leader; `value` is its payload."""

    value: int


@dataclass(frozen=True, slots=True)
class AppendVoters:
    """A voter set of another protocol, for the leader to append under the preconditions of voter changes.

    Raises:
        ValueError: The set is empty.
    """

    voters: VoterSet

    def __post_init__(self) -> None:
        if not self.voters:
            raise ValueError("a voter set has at least one voter")


@dataclass(frozen=True, slots=True)
class AddVoter:
    """An admin client's AddRaftVoter arrives.  Rules: add-voter.check-order, wire.add-voter."""

    request: int
    """Number of the request, which the reply repeats; at least 1."""
    voter: ReplicaKey
    endpoint: str | None
    """Endpoint of the default controller listener; None if the request has none."""
    timeout_ms: int = 30_000
    when_committed: bool = True
    """AckWhenCommitted: reply after the commit.  Rule: add-voter.reply-after-commit."""
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class RemoveVoter:
    """An admin client's RemoveRaftVoter arrives.  Rules: remove-voter.check-order, wire.remove-voter."""

    request: int
    voter: ReplicaKey
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class UpdateFeatures:
    """The kraft.version part of an UpdateFeatures arrives.

    `brokers_min` and `brokers_max` are the levels that all registered brokers support, as the controller knows them.
    Rules: kraft-version.upgrade-needs-all-voters, kraft-version.upgrade-needs-all-observers.
    """

    request: int
    kraft_version: int
    brokers_min: int = 0
    brokers_max: int = 1


@dataclass(frozen=True, slots=True)
class AlterPartitionReassignments:
    """An admin client's AlterPartitionReassignments for the quorum's own partition arrives.

    Rules: reassign.request-leader-only, reassign.cancel-null, wire.reassignment-rpcs.
    """

    request: int
    """Number of the request, which the reply repeats; at least 1."""
    replicas: tuple[ReplicaId, ...] | None
    """Target voter ids, in any order; None stops the reassignment and keeps the present voters."""


@dataclass(frozen=True, slots=True)
class AdvanceReassignment:
    """The leader takes the next step towards the target.

    Rules: reassign.add-or-remove-choice, reassign.completion, reassign.leader-steps-down-before-own-removal.
    """

    chosen: ReplicaKey | None
    """Voter that the step adds or removes, one of `quorum_reassignment.next_steps`; None if it does neither."""


@dataclass(frozen=True, slots=True)
class VoterChangeTimeout:
    """The voter-change timer of a leader fires.  Rule: add-voter.timeout."""


@dataclass(frozen=True, slots=True)
class TakeSnapshot:
    """The state machine has a snapshot of all records before `end_offset`.  Rule: snapshot.control-records-first."""

    end_offset: Offset


@dataclass(frozen=True, slots=True)
class Shutdown:
    """A leader shuts down gracefully."""


@dataclass(frozen=True, slots=True)
class Crash:
    """The process dies between two steps; the unsynced tail of the log survives up to `log_end_offset`."""

    log_end_offset: Offset


@dataclass(frozen=True, slots=True)
class Restart:
    """The process starts from its disk."""

    endpoint: str | None = None
    """New endpoint of the process; None for the configured one.  Rule: update-voter.when-sent."""


@dataclass(frozen=True, slots=True)
class ReplaceDisk:
    """A stopped replica gets an empty disk, and so a new directory id."""

    directory_id: DirectoryId


@dataclass(frozen=True, slots=True)
class ReplaceSoftware:
    """The software of a stopped replica is replaced, as in a rolling upgrade; it runs from the next restart on.

    Rule: prevote.unsupported-version.
    """

    pre_vote: PreVoteSupport
    """Pre-Vote support of the new software."""


Event = (
    ElectionTimeout
    | FetchTimeout
    | CheckQuorumTimeout
    | BeginQuorumEpochTimeout
    | VoterChangeTimeout
    | RequestTimeout
    | Poll
    | PollFetch
    | Receive
    | ClientAppend
    | AppendVoters
    | AddVoter
    | RemoveVoter
    | UpdateFeatures
    | AlterPartitionReassignments
    | AdvanceReassignment
    | TakeSnapshot
    | Shutdown
    | Crash
    | Restart
    | ReplaceDisk
    | ReplaceSoftware
)
"""Event at one replica."""

DISK_EVENTS = (Crash, ReplaceDisk, ReplaceSoftware)
"""Events of a disk or of a stopped replica's software, in which the replica writes and sends nothing."""


def event_name(event: Event) -> str:
    """Return the name of an event in traces, model and vectors."""
    if isinstance(event, Receive):
        return "Handle" + type(event.message).__name__
    return type(event).__name__


class Draw(NamedTuple):
    """Random values of one step, so that a run is a function of its inputs."""

    correlation_id: int
    """Correlation id of the requests that this step sends, never used before, not even before a restart."""
    election_timeout_ms: int
    """Election timeout, if the step starts an election timer.  Rule: state.timers.random."""
    election_backoff_ms: int
    """Backoff, if a Candidate loses.  Rule: state.candidate.lost."""
