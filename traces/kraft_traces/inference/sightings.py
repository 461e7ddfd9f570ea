"""What is seen of a cluster from outside: messages on the wire, and the lines of replicas that write their own."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from kraft_traces.lines import EventLine
from kraft_traces.message_types import (
    TracedFetchRequest,
    TracedFetchResponse,
    TracedMessage,
    TracedVoteRequest,
    type_of,
)

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
        return type_of(self.message)


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


class Known(NamedTuple):
    """All that is seen, with what it says of what happened before it was seen."""

    all: Sequence[Any]
    """Each is a `Seen`; a place that somebody names is that of a message."""
    answers: Mapping[int, int]
    """Places of the answers by those of their requests."""
    records: Mapping[tuple[int, int], int]
    """Values of the Data records that anybody reads, by epoch and offset."""
    ends: Mapping[tuple[int, int], int]
    """How long a replica says that its log is at most, by its id and the epoch of its last record."""


def known_of(seen: Sequence[Seen]) -> Known:
    """What is seen, in the order of the places."""
    answers = {one.request: one.number for one in seen if isinstance(one, Sighting) and one.request is not None}
    return Known(seen, answers, _records(seen), _log_ends(seen))


def _records(seen: Sequence[Seen]) -> dict[tuple[int, int], int]:
    """The values of the Data records that anybody reads, by epoch and offset."""
    values = {}
    for one in seen:
        if not isinstance(one, Sighting) or not isinstance(one.message, TracedFetchResponse) or one.request is None:
            continue
        asked = seen[one.request]
        assert isinstance(asked, Sighting), "a message stands there"
        first = asked.message.fetch_offset
        for offset, record in enumerate(one.message.records or (), first):
            values[record.epoch, offset] = record.value
    return values


def _log_ends(seen: Sequence[Seen]) -> dict[tuple[int, int], int]:
    """How long a replica says that its log is at most, by its id and the epoch of its last record."""
    ends: dict[tuple[int, int], int] = {}
    for one in seen:
        if isinstance(one, Sighting) and isinstance(one.message, TracedFetchRequest | TracedVoteRequest):
            shown = getattr(one.message, "fetch_offset", getattr(one.message, "end_offset", 0))
            at = (one.source, one.message.last_epoch)
            ends[at] = max(ends.get(at, 0), shown)
    return ends
