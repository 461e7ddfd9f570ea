"""What is seen of a cluster from outside: messages on the wire, and the lines of replicas that write their own."""

from typing import NamedTuple

from msgspec import UNSET

from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage, message_type

FETCHES = frozenset(("FetchRequest", "FetchSnapshotRequest"))
"""Requests that need a replica that awaits nothing; any other needs an idle connection."""


class Sighting(NamedTuple):
    """A message that passed by.

    Its sender has sent it before this place in the order of all that is seen, its receiver gets it later, if at all.
    """

    number: int
    """Its place."""
    time_ms: int
    message: TracedMessage
    """As far as it is seen, source and destination in any case; its correlation id is that of the wire."""
    request: int | None = None
    """Of an answer: the place of its request."""
    arrives: bool = True
    """Whether its receiver may have got it."""
    connection: int | None = None
    """Number of the TCP connection that carried it; None if that is not recorded."""

    @property
    def source(self) -> int:
        """Who sent it."""
        assert self.message.source is not UNSET, "who sent it is seen"
        return int(self.message.source)

    @property
    def destination(self) -> int:
        """Who gets it."""
        assert self.message.destination is not UNSET, "who gets it is seen"
        return int(self.message.destination)

    @property
    def type(self) -> str:
        """Name of the message."""
        return message_type(self.message)


class Span(NamedTuple):
    """Lifetime of a TCP connection, as places in the order of all that is seen."""

    opened: int
    """Place of the first message after it was opened."""
    closed: int | None
    """Place of the first message after it was closed; None while it is open at the end."""

    def is_open(self, place: int) -> bool:
        """True if the connection was open when the message at that place passed."""
        return self.opened <= place and (self.closed is None or place < self.closed)


class OwnLine(NamedTuple):
    """A line of a replica that writes its own trace."""

    number: int
    """Its place."""
    line: EventLine
    delivers: int | None
    """The place of the message that it delivers."""
    sends: tuple[int, ...]
    """The places of the messages that it sends, in the order of its effects."""


Seen = Sighting | OwnLine
