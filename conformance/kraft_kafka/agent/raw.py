"""The agent's lines, kraft-agent/2: JSON of what one KafkaRaftClient does, from its start to its end.

Messages and records are base64 of the bytes that Kafka itself makes of them, so the agent serves every release.
"""

from typing import Any

import msgspec
from msgspec import Struct

SCHEMA = "kraft-agent/2"


class RawMessage(Struct, frozen=True):
    """A message: its class, and for those of the quorum the bytes of its body in this version."""

    name: str
    version: int = -1
    bytes: str | None = None
    skipped_at: int = 0
    """Position at which records in a file are missing in the bytes."""
    skipped: int = 0
    """Size of these records: those of the log from the fetched offset on, or a piece of a snapshot."""


class RawSnapshot(Struct, frozen=True):
    """The newest snapshot of a log."""

    end_offset: int
    epoch: int
    bytes: str
    """Its first 64 KiB, which have the voters."""


class RawElection(Struct, frozen=True):
    """The content of the quorum state file."""

    epoch: int
    leader_id: int | None
    voted_key: dict[str, Any] | None


State = dict[str, Any] | None
"""Fields of the state that differ from the line before, by the names of kraft-trace/1."""


class _Line(Struct, frozen=True, tag_field="kind"):
    time_us: int
    """Wall clock, in microseconds."""


class PartLine(Struct, frozen=True, tag_field="kind", tag="part"):
    """Begin of a file."""

    schema: str
    client: str
    """The same in all files of a client."""
    number: int
    """Number of the file, from 1 on."""


class _IdentityLine(_Line, frozen=True):
    replica: int
    directory_id: str
    cluster_id: str
    kafka: str | None
    endpoint: str | None
    min_version: int
    max_version: int


class StartLine(_IdentityLine, frozen=True, tag="start"):
    """Call of initialize: identity and disk."""

    static_voters: dict[int, str]
    """Endpoints of controller.quorum.voters."""
    election: RawElection | None
    snapshot: RawSnapshot | None
    log_start_offset: int
    log_end_offset: int
    log: str | None
    """Batches of the whole log, null for a log of more than 1 MiB: then a checkpoint follows."""


class RawVoter(Struct, frozen=True):
    """A voter with its details."""

    key: dict[str, Any]
    endpoint: str | None
    min_version: int
    max_version: int


class RawBase(Struct, frozen=True):
    """Snapshot that stands for the log before a checkpoint's batches."""

    end_offset: int
    epoch: int
    kraft_version: int
    voters: tuple[RawVoter, ...]


class RawRequest(Struct, frozen=True):
    """A connection that awaits a response, or backs off."""

    destination: int
    endpoint: str
    correlation_id: int | None
    """The client's own; null for one that backs off."""


class RawProgress(Struct, frozen=True):
    """A voter or observer, as the leader sees it."""

    key: dict[str, Any]
    fetch_offset: int | None
    acknowledged: bool


class RawLeader(Struct, frozen=True):
    """State of a leader."""

    epoch_start_offset: int
    fetchers: tuple[int, ...]
    progress: tuple[RawProgress, ...]


class CheckpointLine(_IdentityLine, frozen=True, tag="checkpoint"):
    """Whole state between two polls."""

    base: RawBase
    log: str
    """Batches after the base."""
    requests: tuple[RawRequest, ...]
    state: dict[str, Any]
    has_updated_leader: bool = False
    leader: RawLeader | None = None


class StartedLine(_Line, frozen=True, tag="started"):
    """End of initialize."""

    state: State = None


class HandledLine(_Line, frozen=True, tag="handled"):
    """End of handleInboundMessage."""

    state: State = None


class PolledLine(_Line, frozen=True, tag="polled"):
    """End of a pollCurrentState in which another line was written."""

    state: State = None


class RequestLine(_Line, frozen=True, tag="request"):
    """Request at handleInboundMessage."""

    number: int
    """Number of the request within the file, which its answer repeats."""
    correlation_id: int
    """Correlation id on the wire."""
    version: int
    message: RawMessage


class AnswerLine(_Line, frozen=True, tag="answer"):
    """Completion of a request's response, in any thread."""

    number: int
    message: RawMessage | None
    """Null if it failed."""


class ResponseLine(_Line, frozen=True, tag="response"):
    """Response at handleInboundMessage."""

    correlation_id: int
    """The client's own."""
    source: int
    """Id of the node, negative for a bootstrap server."""
    endpoint: str
    expected: bool
    """True if the client waits for it."""
    message: RawMessage


class SendLine(_Line, frozen=True, tag="send"):
    """Request handed to the network channel, with the state before."""

    destination: int
    endpoint: str
    correlation_id: int
    message: RawMessage
    state: State = None


class WireLine(_Line, frozen=True, tag="wire"):
    """Correlation id on the wire of one of the client's requests."""

    correlation_id: int
    wire_id: int


class TransitionLine(_Line, frozen=True, tag="transition"):
    """Change of the role, before it."""

    role: str
    epoch: int
    from_role: str | None = msgspec.field(name="from")
    polling: bool
    """True within pollCurrentState."""
    shutdown: bool
    resigning: bool


class ExpireLine(_Line, frozen=True, tag="expire"):
    """The leader's timer for a voter change has expired."""

    state: State = None


class PersistLine(_Line, frozen=True, tag="persist"):
    """Write of the quorum state file."""

    election: RawElection
    version: int


class AppendLine(_Line, frozen=True, tag="append"):
    """Append to the log."""

    leads: bool
    base_offset: int
    end_offset: int
    polling: bool
    records: str | None
    """Null for those of the Fetch response in progress."""


class _ChangeLine(_Line, frozen=True):
    before: int
    """Log end offset before it."""
    end_offset: int
    log_start_offset: int
    done: bool
    """False if the method returned false."""
    snapshot: RawSnapshot | None = None


class FlushLine(_ChangeLine, frozen=True, tag="flush"):
    """Sync of the log."""


class TruncateLine(_ChangeLine, frozen=True, tag="truncate"):
    """Log truncation."""


class InstallLine(_ChangeLine, frozen=True, tag="install"):
    """Replacement of the log by its newest snapshot."""


class SnapshotLine(_ChangeLine, frozen=True, tag="snapshot"):
    """Deletion of the log before a snapshot."""


class CalledLine(_Line, frozen=True, tag="called"):
    """Call of shutdown or resign, in any thread."""

    method: str


class EndLine(_Line, frozen=True, tag="end"):
    """Close of the client."""


class DroppedLine(Struct, frozen=True, tag_field="kind", tag="dropped"):
    """Lines that the agent dropped here, because its queue was full."""

    lines: int


class StoppedLine(Struct, frozen=True, tag_field="kind", tag="stopped"):
    """The agent wrote no further line."""

    reason: str


RawLine = (
    PartLine
    | StartLine
    | CheckpointLine
    | StartedLine
    | HandledLine
    | PolledLine
    | RequestLine
    | AnswerLine
    | ResponseLine
    | SendLine
    | WireLine
    | TransitionLine
    | ExpireLine
    | PersistLine
    | AppendLine
    | FlushLine
    | TruncateLine
    | InstallLine
    | SnapshotLine
    | CalledLine
    | EndLine
    | DroppedLine
    | StoppedLine
)
