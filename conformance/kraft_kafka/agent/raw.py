"""The agent's file, kraft-agent/1: JSON lines of what one KafkaRaftClient does, from its start to its end.

Messages and records are base64 of the bytes that Kafka itself makes of them, so the agent serves every release.
"""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError

SCHEMA = "kraft-agent/1"


class RawMessage(Struct, frozen=True):
    """A message: its class, and for those of the quorum the bytes of its body in this version."""

    name: str
    version: int = -1
    bytes: str | None = None


class RawSnapshot(Struct, frozen=True):
    """The newest snapshot of a log."""

    end_offset: int
    epoch: int
    bytes: str


class RawElection(Struct, frozen=True):
    """The content of the quorum state file."""

    epoch: int
    leader_id: int | None
    voted_key: dict[str, Any] | None


State = dict[str, Any] | None
"""Fields of the state, by the names of kraft-trace/1; null for those of the line before that has them."""


class _Line(Struct, frozen=True, tag_field="kind"):
    time_us: int
    """Wall clock, in microseconds."""


class StartLine(_Line, frozen=True, tag="start"):
    """Call of initialize: identity and disk."""

    schema: str
    replica: int
    directory_id: str
    cluster_id: str
    kafka: str | None
    endpoint: str | None
    min_version: int
    max_version: int
    static_voters: dict[int, str]
    """Endpoints of controller.quorum.voters."""
    election: RawElection | None
    snapshot: RawSnapshot | None
    log_start_offset: int
    log_end_offset: int
    log: str | None
    """Batches of the whole log, null for a log of more than 16 MiB."""


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
    records: str


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
    StartLine
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


class RawFile(Struct, frozen=True):
    """A file of the agent."""

    source: str
    start: StartLine
    lines: tuple[RawLine, ...]
    """The lines after the first."""

    @property
    def is_closed(self) -> bool:
        """True if the client was closed, not killed."""
        return any(isinstance(line, EndLine) for line in self.lines)

    @property
    def wire_ids(self) -> dict[int, int] | None:
        """Correlation ids on the wire, by those of the client; None if it has no wire."""
        ids = {line.correlation_id: line.wire_id for line in self.lines if isinstance(line, WireLine)}
        return ids or None


_DECODER: msgspec.json.Decoder[RawLine] = msgspec.json.Decoder(RawLine)


def read_raw(path: Path) -> RawFile:
    """Read a file of the agent; an incomplete last line, of a process that was killed, is ignored.

    Raises:
        CommandError: the file cannot be read, or a line is none of the agent's; the message has file, line and field.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", ExitCode.NO_INPUT) from error
    lines = []
    for number, text in enumerate(content.split(b"\n")[:-1], 1):
        try:
            lines.append(_DECODER.decode(text))
        except msgspec.DecodeError as error:
            raise CommandError(f"{path}:{number}: {error}, expected a line of {SCHEMA}", ExitCode.BAD_INPUT) from error
    if not lines or not isinstance(lines[0], StartLine) or lines[0].schema != SCHEMA:
        raise CommandError(f'{path}:1: expected a line of kind "start" with schema {SCHEMA}', ExitCode.BAD_INPUT)
    return RawFile(str(path), lines[0], tuple(lines[1:]))
