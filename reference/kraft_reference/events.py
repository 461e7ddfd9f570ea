"""What can happen to a replica: the inputs of `Replica.step`.

One vocabulary: the name of an input here is its name in a trace line, the name of the TLA+ action, and the
step of a conformance vector.
"""

from dataclasses import dataclass
from typing import NamedTuple

from kraft_reference.configuration import PreVoteSupport
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.messages import Message


@dataclass(frozen=True, slots=True)
class ElectionTimeout:
    """The election timer fires: Unattached voter, Prospective, Candidate, Resigned."""


@dataclass(frozen=True, slots=True)
class FetchTimeout:
    """The fetch timer of a Follower fires."""


@dataclass(frozen=True, slots=True)
class CheckQuorumTimeout:
    """The check-quorum timer of a Leader fires: no majority fetched within the period."""


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochTimeout:
    """The Leader's announcement is due again."""


@dataclass(frozen=True, slots=True)
class RequestTimeout:
    """The connection to `destination` gives up waiting for an answer."""

    destination: int


@dataclass(frozen=True, slots=True)
class Poll:
    """The replica sends the election requests that are due on idle connections."""


@dataclass(frozen=True, slots=True)
class PollFetch:
    """The replica sends a Fetch to `destination`, which is its leader or a bootstrap server."""

    destination: int


@dataclass(frozen=True, slots=True)
class Receive:
    """A message arrives; the event is named after it, `HandleVoteRequest` and so on."""

    message: Message


@dataclass(frozen=True, slots=True)
class ClientAppend:
    """A client's record for the Leader to append; `value` is its payload."""

    value: int


@dataclass(frozen=True, slots=True)
class AppendVoters:
    """A voters set for the Leader to append, whatever protocol asks for it.

    The Leader does so only if the rules of voter changes allow it.

    Raises:
        ValueError: the set is empty.
    """

    voters: VoterSet

    def __post_init__(self) -> None:
        if not self.voters:
            raise ValueError("a voters set has at least one voter")


@dataclass(frozen=True, slots=True)
class AddVoter:
    """An admin client's AddRaftVoter arrives.  Rules: add-voter.check-order, wire.add-voter."""

    request: int
    """The client's number for it, which the reply repeats; at least 1."""
    voter: ReplicaKey
    endpoint: str | None
    """Of the default controller listener; None if the request has none."""
    timeout_ms: int = 30_000
    when_committed: bool = True
    """AckWhenCommitted: is the reply due after the commit?  Rule: add-voter.reply-after-commit."""
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

    The range is what all registered brokers support, which the controller knows and the replica does not.
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
    """The client's number for it, which the reply repeats; at least 1."""
    replicas: tuple[int, ...] | None
    """The ids that shall vote in the end, in any order; None stops the reassignment where it is."""


@dataclass(frozen=True, slots=True)
class AdvanceReassignment:
    """The Leader takes the next step towards the target.

    Rules: reassign.add-or-remove-choice, reassign.completion, reassign.leader-steps-down-before-own-removal.
    """

    chosen: ReplicaKey | None
    """Whom the step adds or removes, as `quorum_reassignment.next_steps` has them; None for one that does neither."""


@dataclass(frozen=True, slots=True)
class VoterChangeTimeout:
    """The time of the Leader's pending voter change is over.  Rule: add-voter.timeout."""


@dataclass(frozen=True, slots=True)
class TakeSnapshot:
    """The state machine has a snapshot of all records before `end_offset` ready.

    Rule: snapshot.control-records-first.
    """

    end_offset: int


@dataclass(frozen=True, slots=True)
class Shutdown:
    """A Leader shuts down gracefully."""


@dataclass(frozen=True, slots=True)
class Crash:
    """The process dies between two steps; of the log's unflushed tail the part before `log_end_offset` survives."""

    log_end_offset: int


@dataclass(frozen=True, slots=True)
class Restart:
    """The process starts from what is on disk."""

    endpoint: str | None = None
    """Where it listens from now on; None for where the configuration says.  Rule: update-voter.when-sent."""


@dataclass(frozen=True, slots=True)
class ReplaceDisk:
    """A stopped replica gets an empty disk, and with it a new directory id."""

    directory_id: str


@dataclass(frozen=True, slots=True)
class ReplaceSoftware:
    """The software of a stopped replica is replaced, as in a rolling upgrade; the next restart runs it.

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
"""All that may happen at one replica."""

DISK_EVENTS = (Crash, ReplaceDisk, ReplaceSoftware)
"""What happens to a disk, or to a stopped replica's software: nothing is written and nothing is sent in it."""


def event_name(event: Event) -> str:
    """The name of an event in traces, model and vectors."""
    if isinstance(event, Receive):
        return "Handle" + type(event.message).__name__
    return type(event).__name__


class Draw(NamedTuple):
    """What chance and the outside contribute to one step, so that a run is a function of its inputs."""

    correlation_id: int
    """For the requests that this step sends; unlike any before, restarts included."""
    election_timeout_ms: int
    """In case the step starts an election timer.  Rule: state.timers.random."""
    election_backoff_ms: int
    """In case a Candidate loses.  Rule: state.candidate.lost."""
