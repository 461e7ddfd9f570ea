"""Facts about a run that are collected from all its messages before the search."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kraft_traces.inference.captured import CapturedMessage, Span
from kraft_traces.inference.order import Order, order_of
from kraft_traces.inference.timing import LeastTimeouts
from kraft_traces.message_types import TracedFetchRequest, TracedFetchResponse, TracedVoteRequest


class RunFacts(NamedTuple):
    """All observations of a run, with facts derived from them."""

    all: Sequence[CapturedMessage]
    """All observations, by place."""
    answers: Mapping[int, int]
    """Places of the responses by those of their requests."""
    records: Mapping[tuple[int, int], int]
    """Values of the Data records in Fetch responses, by epoch and offset."""
    ends: Mapping[tuple[int, int], int]
    """Largest log end offset that a replica sends, by its id and the epoch of its last record."""
    order: Order
    least: Mapping[int, LeastTimeouts]
    """Shortest timeouts by replica; the times of other replicas are not checked."""


def facts_of(
    observations: Sequence[CapturedMessage],
    spans: Mapping[int, Span] | None = None,
    least: Mapping[int, LeastTimeouts] | None = None,
) -> RunFacts:
    """Collect the facts of a run.

    Args:
        seen: observations in the order of their places.
        spans: lifetimes of the connections.
        least: as in `RunFacts`.
    """
    answers = {message.request: message.number for message in observations if message.request is not None}
    return RunFacts(
        observations,
        answers,
        _records(observations),
        _log_ends(observations),
        order_of(observations, spans or {}),
        least or {},
    )


def _records(observations: Sequence[CapturedMessage]) -> dict[tuple[int, int], int]:
    """Return the values of the Data records in Fetch responses, by epoch and offset."""
    values = {}
    for observation in observations:
        if not isinstance(observation.message, TracedFetchResponse) or observation.request is None:
            continue
        first: Any = observations[observation.request].message.fetch_offset
        for offset, record in enumerate(observation.message.records or (), first):
            values[record.epoch, offset] = record.value
    return values


def _log_ends(observations: Sequence[CapturedMessage]) -> dict[tuple[int, int], int]:
    """Return the largest log end offset that a replica sends, by its id and the epoch of its last record."""
    ends: dict[tuple[int, int], int] = {}
    for observation in observations:
        if isinstance(observation.message, TracedFetchRequest | TracedVoteRequest):
            end_offset = getattr(observation.message, "fetch_offset", getattr(observation.message, "end_offset", 0))
            at = (observation.source, observation.message.last_epoch)
            ends[at] = max(ends.get(at, 0), end_offset)
    return ends
