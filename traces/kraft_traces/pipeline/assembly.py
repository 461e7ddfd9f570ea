"""A trace that is being put together from its lines: rows of `traces`, `segments` and `events`, or of `quarantine`."""

import pickle
from collections.abc import Iterable, Iterator
from hashlib import sha256
from tempfile import SpooledTemporaryFile
from typing import Any

from msgspec import UNSET

from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.errors import FieldError, TraceError
from kraft_traces.lines import EndLine, EventLine, HeaderLine
from kraft_traces.pipeline.observed import Row, event_row

SEGMENT_BYTES = 2**18
"""A segment is closed when it holds as much."""

SPOOL_BYTES_MAX = 2**25
"""Of a trace that waits for its end, so much is kept in memory, and the rest in a temporary file."""

PART_EVENTS = 2_000
"""A part of a trace has at least so many events; checkpoints within it are checked where they stand."""

_FIRST_ROLE = "Unattached"
"""Every replica starts on an empty disk."""

_TRACE_ID_DIGITS = 20


def trace_id_of(source: str, first_line: int) -> str:
    """The name of the trace that begins at a line of a source: the same in every run."""
    return sha256(f"{source}\0{first_line}".encode("utf-8", "surrogateescape")).hexdigest()[:_TRACE_ID_DIGITS]


def first_roles(replicas: Iterable[int]) -> dict[int, str | None]:
    """The role of each replica before the first event."""
    return dict.fromkeys(replicas, _FIRST_ROLE)


class Assembly:
    """One trace.  Its lines wait here until it is known what it is."""

    def __init__(self, source: str, first_line: int, raw: bytes, header: HeaderLine) -> None:
        self.trace_id = trace_id_of(source, first_line)
        self.source = source
        self.first_line = first_line
        self.header = header
        self.events = 0
        self._lines = 0
        self._bytes = 0
        self._digest = sha256()
        self._header = raw
        self._end: EndLine | None = None
        self._roles = first_roles(replica.id for replica in header.replicas)
        self._spool = SpooledTemporaryFile(SPOOL_BYTES_MAX)  # noqa: SIM115 - it outlives this call
        self._segments = 0
        self._part = 0
        self._part_from = 0
        self._open = bytearray()
        self._open_line = first_line
        self._open_events: list[Row] = []
        self._take(raw)

    def add_event(self, number: int, raw: bytes, line: EventLine) -> None:
        """The next event line, `number` in the source."""
        replica = line.replica
        before = None if replica is UNSET else self._roles.get(replica)
        row = event_row(self.trace_id, number, line, before)
        if replica is not UNSET:
            self._roles[replica] = row["role_after"]
        self.events += 1
        self._open_events.append(row)
        self._take(raw)

    def add_checkpoint(self, raw: bytes, line: CheckpointLine) -> None:
        """A checkpoint: what follows can be checked by itself, and makes a part of its own if this one is long."""
        if line.history.is_whole and self.events - self._part_from >= PART_EVENTS:
            self._cut(closing=raw)
            self._part += 1
            self._part_from = self.events
        self._take(raw)

    def add_end(self, raw: bytes, end: EndLine) -> None:
        """The end line."""
        self._end = end
        self._take(raw)

    def _take(self, raw: bytes) -> None:
        self._lines += 1
        self._bytes += len(raw)
        self._digest.update(raw)
        self._open += raw
        if len(self._open) >= SEGMENT_BYTES:
            self._cut()

    def _cut(self, closing: bytes | None = None) -> None:
        """Close the segment; `closing` is the checkpoint at which the part ends and the next one begins.

        The segment may be empty then, because the one before took all lines of the part.
        """
        if not self._open and closing is None:
            return
        lines = self.first_line + self._lines - self._open_line
        segment = {
            "trace_id": self.trace_id,
            "segment": self._segments,
            "part": self._part,
            "first_line": self._open_line,
            "lines": lines,
            "raw": bytes(self._open),
            "closing": closing,
            "events": self._open_events,
        }
        pickle.dump(segment, self._spool, pickle.HIGHEST_PROTOCOL)
        self._segments += 1
        self._open_line += lines
        self._open.clear()
        self._open_events = []

    def accepted(self, *, violation: str | None = None, command: str | None = None) -> Iterator[Row]:
        """The rows of a trace that can be checked, each under the name of its kind."""
        self._cut()
        header, generator = self.header, self.header.generator
        trace = {
            "trace_id": self.trace_id,
            "source": self.source,
            "first_line": self.first_line,
            "lines": self._lines,
            "events": self.events,
            "bytes": self._bytes,
            "sha256": self._digest.hexdigest(),
            "header": self._header,
            "parts": self._part + 1,
            "ended": self._end is not None,
            "complete": self._end is not None and self._end.complete,
            "generator": generator.name,
            "generator_version": generator.version,
            "seed": generator.seed,
            "workload": generator.workload,
            "profile": header.profile,
            "spec_hash": None if header.spec_hash is UNSET else header.spec_hash,
            "switched_off": list(header.switched_off),
            "violation": violation,
            "command": command,
        }
        yield {"trace": trace}
        for segment in self._spooled():
            yield {"segment": segment}

    def _spooled(self) -> Iterator[Row]:
        """The segments, once."""
        self._spool.seek(0)
        for _ in range(self._segments):
            yield pickle.load(self._spool)
        self.close()

    def quarantined(self, wrong: "Wrong") -> Iterator[Row]:
        """The rows of the lines so far of a trace that turns out to be wrong."""
        self._cut()
        for segment in self._spooled():
            if segment["raw"]:
                yield wrong.row(segment["first_line"], segment["lines"], segment["raw"])

    def close(self) -> None:
        """Forget the lines."""
        self._spool.close()


class Wrong:
    """A trace that cannot be checked, and why."""

    def __init__(self, error: TraceError, source: str, first_line: int) -> None:
        self._common: dict[str, Any] = {
            "trace_id": trace_id_of(source, first_line),
            "source": source,
            "first_line": first_line,
            "reason": reason_of(error),
            "field": error.field,
            "detail": error.detail,
        }

    def row(self, line: int, lines: int, raw: bytes, *, wrong: bool = False) -> Row:
        """The row of some of its bytes."""
        return {"quarantine": {**self._common, "line": line, "lines": lines, "wrong": wrong, "raw": raw}}


def reason_of(error: TraceError) -> str:
    """The code of an error; that of a wrong field says what is wrong with it."""
    if isinstance(error, FieldError):
        return f"{error.code}_{error.problem.replace('-', '_').upper()}"
    return error.code
