"""What can happen to a replica: the inputs of `Replica.step`.

One vocabulary: the name of an input here is its name in a trace line, the name of the TLA+ action, and the
step of a conformance vector.
"""

from dataclasses import dataclass

from kraft_reference.identity import VoterSet
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
    """A voters set for the Leader to append.

    The rules of when a Leader may do so are those of AddRaftVoter and its siblings; this is the part beneath.

    Raises:
        ValueError: the set is empty.
    """

    voters: VoterSet

    def __post_init__(self) -> None:
        if not self.voters:
            raise ValueError("a voters set has at least one voter")


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


@dataclass(frozen=True, slots=True)
class ReplaceDisk:
    """A stopped replica gets an empty disk, and with it a new directory id."""

    directory_id: str


Event = (
    ElectionTimeout
    | FetchTimeout
    | CheckQuorumTimeout
    | BeginQuorumEpochTimeout
    | RequestTimeout
    | Poll
    | PollFetch
    | Receive
    | ClientAppend
    | AppendVoters
    | Shutdown
    | Crash
    | Restart
    | ReplaceDisk
)


def event_name(event: Event) -> str:
    """The name of an event in traces, model and vectors."""
    if isinstance(event, Receive):
        return "Handle" + type(event.message).__name__
    return type(event).__name__


@dataclass(frozen=True, slots=True)
class Draw:
    """What chance and the outside contribute to one step, so that a run is a function of its inputs."""

    correlation_id: int
    """For the requests that this step sends; unlike any before, restarts included."""
    election_timeout_ms: int
    """In case the step starts an election timer.  Rule: state.timers.random."""
    election_backoff_ms: int
    """In case a Candidate loses.  Rule: state.candidate.lost."""
