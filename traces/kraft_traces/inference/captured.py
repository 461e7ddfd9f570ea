"""Observations of a cluster: captured messages."""

from typing import NamedTuple

from msgspec import UNSET

from kraft_traces.message_types import TracedMessage, message_type

FETCHES = frozenset(("FetchRequest", "FetchSnapshotRequest"))
"""Requests that a replica sends only if it awaits no response; others only need an idle connection."""


class CapturedMessage(NamedTuple):
    """Captured message.

    Its sender sent it before this place in the order of all observations; its receiver gets it later, if at all.
    """

    number: int
    """Place in the order of all observations."""
    time_ms: int
    message: TracedMessage
    """Message with source and destination, and other fields if captured; the correlation id is that of the wire."""
    request: int | None = None
    """Place of the request of a response."""
    connection: int | None = None
    """Number of the TCP connection that carried it; None if that is not recorded."""

    @property
    def source(self) -> int:
        """Sender of the message."""
        assert self.message.source is not UNSET, "the sender is captured"
        return int(self.message.source)

    @property
    def destination(self) -> int:
        """Receiver of the message."""
        assert self.message.destination is not UNSET, "the receiver is captured"
        return int(self.message.destination)

    @property
    def type(self) -> str:
        """Type name of the message."""
        return message_type(self.message)


class Span(NamedTuple):
    """Lifetime of a TCP connection, as places in the order of all observations."""

    opened: int
    """Place of the first message after it was opened."""
    closed: int | None
    """Place of the first message after it was closed; None while it is open at the end."""

    def is_open(self, place: int) -> bool:
        """True if the connection was open when the message at that place passed."""
        return self.opened <= place and (self.closed is None or place < self.closed)
