"""Random values of a step of a vector or of kraft-adapter/1."""

from msgspec import Struct

from kraft_reference.events import Draw
from kraft_traces.values import CorrelationId, DurationMs


class TracedDraw(Struct, frozen=True, forbid_unknown_fields=True):
    """Random values and the correlation id of a step."""

    correlation_id: CorrelationId
    """Correlation id of the requests that the step sends; unused before, even before restarts."""
    election_timeout_ms: DurationMs
    """Length of an election timer that the step starts."""
    election_backoff_ms: DurationMs
    """Backoff of a Candidate that loses."""


def traced_draw(draw: Draw) -> TracedDraw:
    """Return the draw for a vector."""
    return TracedDraw(draw.correlation_id, draw.election_timeout_ms, draw.election_backoff_ms)


def draw_of(draw: TracedDraw) -> Draw:
    """Return the draw for the reference."""
    return Draw(draw.correlation_id, draw.election_timeout_ms, draw.election_backoff_ms)
