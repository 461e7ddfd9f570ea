"""All fields of a trace, of all its lines, and their lies."""

from collections.abc import Callable

from kraft_dev.detectors.ends import lies_of_ends, wanted_of_ends
from kraft_dev.detectors.lies import Lie, lies_of_events
from kraft_dev.detectors.places import EVENT, declared_fields, shown_field


def wanted_fields() -> tuple[str, ...]:
    """Every field of every line type, the header's and the end's with the name of their line before them."""
    events = tuple(shown_field(field) for field in declared_fields(EVENT))
    return (*events, *(f"{line}: {shown_field(field)}" for line, field in wanted_of_ends()))


def lies_of_traces(on_field: Callable[[Lie], None] | None = None) -> dict[str, Lie]:
    """Make every field lie."""
    lies = [*lies_of_events(declared_fields(EVENT), on_field).values(), *lies_of_ends(on_field).values()]
    return {lie.field: lie for lie in lies}
