"""Facts that all messages of a run show together, collected before the search."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kraft_traces.inference.order import Order, order_of
from kraft_traces.inference.sightings import Seen, Sighting, Span
from kraft_traces.inference.timing import LeastTimeouts
from kraft_traces.message_types import TracedFetchRequest, TracedFetchResponse, TracedVoteRequest


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
    order: Order
    least: Mapping[int, LeastTimeouts]
    """Shortest timeouts by replica; of the others the times are not compared."""


def known_of(
    seen: Sequence[Seen],
    spans: Mapping[int, Span] | None = None,
    least: Mapping[int, LeastTimeouts] | None = None,
) -> Known:
    """Collect the facts of a run.

    Args:
        seen: in the order of their places.
        spans: lifetimes of the connections.
        least: as in `Known`.
    """
    answers = {one.request: one.number for one in seen if isinstance(one, Sighting) and one.request is not None}
    return Known(seen, answers, _records(seen), _log_ends(seen), order_of(seen, spans or {}), least or {})


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
