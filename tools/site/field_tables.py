"""The tables of docs/trace-format.md that are declared: which event, message and effect has which fields."""

import re
from collections.abc import Iterable, Iterator

from msgspec.json import encode

from kraft_traces.effects import TRACED_EFFECTS
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_traces.vocabulary import EVENTS, HANDLE

_IN_EVERY_MESSAGE = ("id", "source", "destination", "correlation_id")


def with_tables(page: str) -> str:
    """The Markdown of a page with the tables in place of the comments that name them.

    What else such a comment says is for who reads the page without the site.
    """
    tables = {"events": _events, "messages": _messages, "effects": _effects}
    return re.sub(rf"^% ({'|'.join(tables)})\b.*$", lambda found: "\n".join(tables[found[1]]()), page, flags=re.M)


def _events() -> Iterator[str]:
    yield from ("| event | cause | input |", "|---|---|---|")
    for name, shape in EVENTS.items():
        if shape.cause is not None:
            yield f"| {name} | `{encode(shape.cause).decode()}` | {_named(shape.input)} |"
    yield f'| {HANDLE} and the type of a message | `{{"message_id":"11.2"}}`, that of `message` | |'


def _messages() -> Iterator[str]:
    yield from ("| type | fields |", "|---|---|")
    for name, traced in TRACED_MESSAGES.items():
        yield f"| {name} | {_named(one for one in traced.__struct_fields__ if one not in _IN_EVERY_MESSAGE)} |"


def _effects() -> Iterator[str]:
    yield from ("| kind | fields |", "|---|---|")
    for name, traced in TRACED_EFFECTS.items():
        yield f"| {name} | {_named(traced.__struct_fields__)} |"


def _named(fields: Iterable[str]) -> str:
    return ", ".join(f"`{field}`" for field in fields)
