"""The tables that code declares, for docs/trace-format.md and docs/adapter-in-30-minutes.md: fields, and first vectors.

`python -m tools.site.field_tables` from the root of the repository writes them anew.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from msgspec.json import encode

from kraft_dev.markdown import code, codes, table
from kraft_traces.effects import TRACED_EFFECTS, TracedSend
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_traces.vocabulary import EVENTS, HANDLE
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.format import Vector
from kraft_vectors.smoke import SMOKE

PAGES = ("trace-format", "adapter-in-30-minutes")
"""The pages of docs/ that have such tables."""

_IN_EVERY_MESSAGE = ("id", "source", "destination", "correlation_id")


def with_tables(page: str) -> str:
    """Return the page with the tables that the code declares, each between the comments that name it."""
    for name, rows in _TABLES.items():
        before, start, rest = page.partition(f"<!-- {name} -->\n")
        if start:
            _, end, after = rest.partition(f"<!-- end of {name} -->\n")
            page = "\n".join((before + start, *rows(), "", end + after))
    return page


def _events() -> list[str]:
    rows = [
        (name, code(encode(shape.cause).decode()), codes(shape.input))
        for name, shape in EVENTS.items()
        if shape.cause is not None
    ]
    delivery = (f"{HANDLE} and the type of a message", '`{"message_id":"11.2"}`, that of `message`', "")
    return table(("event", "cause", "input"), [*rows, delivery])


def _messages() -> list[str]:
    rows = [
        (name, codes(field for field in traced.__struct_fields__ if field not in _IN_EVERY_MESSAGE))
        for name, traced in TRACED_MESSAGES.items()
    ]
    return table(("type", "fields"), rows)


def _effects() -> list[str]:
    rows = [(name, codes(traced.__struct_fields__)) for name, traced in TRACED_EFFECTS.items()]
    return table(("kind", "fields"), rows)


def _first_vectors() -> list[str]:
    rows = [
        (code(vector.id), ", ".join(step.event for step in vector.steps), codes(dict.fromkeys(_outputs(vector))))
        for vector in map(Catalogue().vector, SMOKE)
        if isinstance(vector, Vector)
    ]
    return table(("vector", "events", "expected effects and messages"), rows)


def _outputs(vector: Vector) -> Iterator[str]:
    for effect in (effect for step in vector.steps for effect in step.outputs):
        sent_or_written = effect.message if isinstance(effect, TracedSend) else effect
        yield str(sent_or_written.__struct_config__.tag)


_TABLES: Mapping[str, Callable[[], list[str]]] = {
    "events": _events,
    "messages": _messages,
    "effects": _effects,
    "first vectors": _first_vectors,
}


if __name__ == "__main__":
    for file in (Path(__file__).parents[2] / "docs" / f"{page}.md" for page in PAGES):
        file.write_text(with_tables(file.read_text(encoding="utf-8")), encoding="utf-8")
