"""From the line of a partition trace back to the event of the reference, so that a trace can be repeated."""

from msgspec import convert, to_builtins

from kraft_reference.partitions import events
from kraft_traces.partitions.lines import TracedEvent


def event_of(traced: TracedEvent) -> events.Event:
    """The event of a line, what `encode.line_of` made it of: the class of the same name, with the same fields."""
    made: events.Event = convert(to_builtins(traced), getattr(events, type(traced).__name__))
    return made
