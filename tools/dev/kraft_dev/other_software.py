"""Traces of the reference as other software might write them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any

LEFT_OUT: tuple[Mapping[str, tuple[str, ...]], ...] = (
    {},
    {"state": ("awaiting", "fetchers", "flushed_offset")},
    {"line": ("time_ms", "cause"), "message": ("leader_endpoint",)},
    {"line": ("state",)},
    {"line": ("refusal",), "message": ("cluster_id",)},
)
"""Fields that other software may omit together: of lines, of states, of messages."""


def of_other_software(lines: Iterable[bytes], random: Random) -> Iterator[bytes]:
    """Yield a trace as other software might write it: with its own correlation ids, and with some fields omitted."""
    left_out, first = random.choice(LEFT_OUT), random.randrange(10**6)
    numbers: dict[tuple[int, int, int], int] = {}

    def renumbered(asker: int, receiver: int, number: int) -> int:
        return numbers.setdefault((asker, receiver, number), first + len(numbers))

    def rewritten(message: dict[str, Any]) -> None:
        ends = message["source"], message["destination"]
        asker, receiver = ends if message["type"].endswith("Request") else ends[::-1]
        message["correlation_id"] = renumbered(asker, receiver, message["correlation_id"])
        _leave_out(message, left_out.get("message", ()))

    for raw in lines:
        line = json.loads(raw)
        if line["kind"] == "header":
            line["generator"]["name"] = "other-software"
        if line["kind"] == "event":
            sent = [effect["message"] for effect in line.get("effects", ()) if effect["kind"] == "Send"]
            for message in (*sent, *(line[name] for name in ("message", "answer") if name in line)):
                rewritten(message)
            state = line.get("state")
            if state is not None:
                awaited = state["awaiting"] or ()
                state["awaiting"] = [[to, renumbered(line["replica"], to, number)] for to, number in awaited]
                pending = state["pending_change"]
                if pending is not None and isinstance(pending["requester"], int):
                    pending["request"] = renumbered(pending["requester"], line["replica"], pending["request"])
                _leave_out(state, left_out.get("state", ()))
            _leave_out(line, left_out.get("line", ()))
        yield json.dumps(line).encode() + b"\n"


def _leave_out(fields: dict[str, Any], names: Iterable[str]) -> None:
    for name in names:
        fields.pop(name, None)
