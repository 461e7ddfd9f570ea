"""Events that were never written down, as the lines that their trace would have, made as they are needed."""

from collections import deque
from collections.abc import Iterable

from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_traces.encode import encode_line
from kraft_traces.lines import EventLine

_HEADER_LINES = 1
_LINES_AHEAD = 100
"""So many are made before they are looked at."""


class EventLines:
    """Events of a run; what making one raises comes when it is due.

    Attributes:
        source: what errors call the run.
        configuration: of its cluster.
        line_number: that of the newest line, in a trace with a header.
        sequence: of the newest line.
        time_ms: of the newest line that has a time.
    """

    def __init__(self, lines: Iterable[EventLine], configuration: Configuration, source: str) -> None:
        self.source = source
        self.configuration = configuration
        self.sequence = 0
        self.time_ms = 0
        self.line_number = _HEADER_LINES
        self._lines = iter(lines)
        self._ahead: deque[tuple[EventLine, bytes]] = deque()
        self._failure: Exception | None = None

    def next_line(self) -> EventLine | None:
        """The next event, None after the last."""
        if self._ahead:
            line, _ = self._ahead.popleft()
        elif self._failure is not None:
            raise self._failure
        else:
            found = next(self._lines, None)
            if found is None:
                return None
            line = found
        self._took(line)
        return line

    def _took(self, line: EventLine) -> None:
        self.line_number += 1
        self.sequence = line.sequence
        if line.time_ms is not UNSET:
            self.time_ms = line.time_ms

    def ahead(self) -> bytes:
        """Lines that come next, without taking them."""
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
        """Take the first of the lines that `ahead` gave as read."""
        for _ in range(lines):
            line, _ = self._ahead.popleft()
            self._took(line)

    def follow(self, time_ms: int, copies: dict[str, int]) -> None:
        """No reader holds these lines to each other."""
