"""The table at the head of Trace.tla names every event of a trace, and functions that the reference has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import kraft_reference
from kraft_reference.events import Event, Receive
from kraft_reference.messages import Message
from kraft_spec.edits import package_folder

ROW = re.compile(r"^\\\* ([A-Z]\w+(?:, \w+)*),? +(?:(none): [\w ]+?|(\w+)) {2,}\S")


def rows() -> Iterator[tuple[str, str | None]]:
    """Yield (event, function or None) for each row that begins with an event."""
    text = (package_folder("kraft_spec") / "tla" / "Trace.tla").read_text(encoding="utf-8")
    for line in text.partition("EXTENDS")[0].splitlines():
        if (match := ROW.match(line)) and match[1] != "Event":
            for event in match[1].split(", "):
                yield event, match[3]


def test_every_event_of_a_replica_has_a_row() -> None:
    events = {kind.__name__ for kind in get_args(Event) if kind is not Receive}
    messages = {f"Handle{kind.__name__}" for kind in get_args(Message)}
    listed = [event for event, _ in rows()]
    assert len(listed) == len(set(listed))
    assert events | messages <= set(listed)


def test_every_function_of_the_table_is_defined() -> None:
    folder = Path(kraft_reference.__file__).parent
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in folder.glob("*.py")]
    defined = {node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {function for _, function in rows() if function} - defined == set()
