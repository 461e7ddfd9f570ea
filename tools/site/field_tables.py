"""Declared tables of docs/trace-format.md: the fields of each event, message and effect."""

import re

from msgspec.json import encode

from kraft_dev.markdown import code, codes, table
from kraft_traces.effects import TRACED_EFFECTS
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_traces.vocabulary import EVENTS, HANDLE

_IN_EVERY_MESSAGE = ("id", "source", "destination", "correlation_id")


def with_tables(page: str) -> str:
    """Return a page with the tables in place of the comments that name them.

    Other text of such a comment is for readers of the Markdown file.
    """
    tables = {"events": _events, "messages": _messages, "effects": _effects}
    return re.sub(rf"^% ({'|'.join(tables)})\b.*$", lambda match: "\n".join(tables[match[1]]()), page, flags=re.M)


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
