"""The tables of fields that code declares, for docs/trace-format.md.

`python -m tools.site.field_tables` from the root of the repository writes them anew.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec.json import encode

from kraft_dev.markdown import code, codes, table
from kraft_traces.effects import TRACED_EFFECTS
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_traces.vocabulary import EVENTS, HANDLE

PAGE = Path(__file__).parents[2] / "docs" / "trace-format.md"

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


_TABLES: Mapping[str, Callable[[], list[str]]] = {
    "events": _events,
    "messages": _messages,
    "effects": _effects,
}


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
