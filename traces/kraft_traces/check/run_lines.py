"""A run of the reference as the lines that its trace would have, made as they are needed."""

from collections import deque
from collections.abc import Iterable
from itertools import islice

from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.configuration import Configuration
from kraft_traces.encode import encode_line, event_line
from kraft_traces.lines import EventLine

_HEADER_LINES = 1


class RunLines:
    """The event lines of a run; what it raises comes when the line is due at which it does.

    Attributes:
        source: what errors call the run.
        configuration: of its cluster.
        line_number: that of the newest line, in a trace with a header.
        raw_line: the newest line, if it was skipped.
        sequence: of the newest line.
        time_ms: of the newest line.
    """

    def __init__(self, occurrences: Iterable[Occurrence], configuration: Configuration, source: str) -> None:
        self.source = source
        self.configuration = configuration
        self.raw_line = b""
        self.sequence = 0
        self.time_ms = 0
        self.line_number = _HEADER_LINES
        self._occurrences = iter(occurrences)
        self._ahead: deque[tuple[Occurrence, bytes]] = deque()
        self._failure: Exception | None = None

    def next_line(self) -> EventLine | None:
        """The next event, None after the last."""
        if self._ahead:
            occurrence, _ = self._ahead.popleft()
        elif self._failure is not None:
            raise self._failure
        else:
            found = next(self._occurrences, None)
            if found is None:
                return None
            occurrence = found
        self.line_number += 1
        self.sequence, self.time_ms = occurrence.sequence, occurrence.time_ms
        return event_line(occurrence)

    def ahead(self, lines_max: int) -> list[bytes]:
        """The bytes of lines that come next, without taking them."""
        while len(self._ahead) < lines_max and self._failure is None:
            try:
                occurrence = next(self._occurrences, None)
                if occurrence is None:
                    break
                self._ahead.append((occurrence, encode_line(event_line(occurrence))))
            except Exception as failure:
                self._failure = failure
        return [raw for _, raw in islice(self._ahead, lines_max)]

    def skip(self, raw_lines: list[bytes]) -> None:
        """Take the first of the lines that `ahead` gave as read."""
        for _ in raw_lines:
            occurrence, self.raw_line = self._ahead.popleft()
        self.line_number += len(raw_lines)
        self.sequence, self.time_ms = occurrence.sequence, occurrence.time_ms

    def follow(self, time_ms: int, copies: dict[str, int]) -> None:
        """Nothing of these lines was left to a reader."""
