"""Lines of a run that is not written to a file, encoded on demand."""

from collections import deque
from collections.abc import Iterable

from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_traces.encode import encode_line
from kraft_traces.lines import EventLine

_HEADER_LINES = 1
_LINES_AHEAD = 100
"""Maximum number of lines encoded ahead of the checker."""


class EventLines:
    """Lines of a run; an exception of the run is raised when its line is due.

    Attributes:
        source: name of the run in errors.
        configuration: configuration of its cluster.
        line_number: number of the newest line, in a trace with a header.
        sequence: sequence of the newest line.
        time_ms: time of the newest line that has a time.
        opaque: replicas that are not observed: none.
    """

    def __init__(self, lines: Iterable[EventLine], configuration: Configuration, source: str) -> None:
        self.source = source
        self.configuration = configuration
        self.opaque: frozenset[int] = frozenset()
        self.sequence = 0
        self.time_ms = 0
        self.line_number = _HEADER_LINES
        self._lines = iter(lines)
        self._ahead: deque[tuple[EventLine, bytes]] = deque()
        self._failure: Exception | None = None

    def next_line(self) -> EventLine | None:
        """Return the next event, None after the last."""
        if self._ahead:
            line, _ = self._ahead.popleft()
        elif self._failure is not None:
            raise self._failure
        else:
            following = next(self._lines, None)
            if following is None:
                return None
            line = following
        self._took(line)
        return line

    def _took(self, line: EventLine) -> None:
        self.line_number += 1
        self.sequence = line.sequence
        if line.time_ms is not UNSET:
            self.time_ms = line.time_ms

    def ahead(self) -> bytes:
        """Return the lines that come next, without taking them."""
        while len(self._ahead) < _LINES_AHEAD and self._failure is None:
            try:
                line = next(self._lines, None)
                if line is None:
                    break
                self._ahead.append((line, encode_line(line)))
            except Exception as failure:
                self._failure = failure
        return b"".join([raw for _, raw in self._ahead])

    def skip(self, lines: int, size: int) -> None:
        """Take the first of the lines that `ahead` returned."""
        for _ in range(lines):
            line, _ = self._ahead.popleft()
            self._took(line)

    def follow(self, time_ms: int, copies: dict[str, int]) -> None:
        """Ignore the arguments, because no reader checks the continuity of these lines."""
