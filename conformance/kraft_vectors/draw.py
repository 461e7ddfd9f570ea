"""The values that chance decides in a step of a vector or of kraft-adapter/1."""

from msgspec import Struct

from kraft_reference.events import Draw
from kraft_traces.values import CorrelationId, DurationMs


class TracedDraw(Struct, frozen=True, forbid_unknown_fields=True):
    """What chance and the outside contribute to one step."""

    correlation_id: CorrelationId
    """For the requests that the step sends; unlike any before, restarts included."""
    election_timeout_ms: DurationMs
    """In case the step starts an election timer."""
    election_backoff_ms: DurationMs
    """In case a Candidate loses."""


def traced_draw(draw: Draw) -> TracedDraw:
    """The draw as a vector has it."""
    return TracedDraw(draw.correlation_id, draw.election_timeout_ms, draw.election_backoff_ms)


def draw_of(draw: TracedDraw) -> Draw:
    """The draw of a vector for the reference."""
    return Draw(draw.correlation_id, draw.election_timeout_ms, draw.election_backoff_ms)
