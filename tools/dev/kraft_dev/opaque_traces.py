"""Traces of the reference as they would be if nobody had recorded some of their replicas."""

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

Line = dict[str, Any]


def without_replicas(
    lines: Iterable[bytes], opaque: Collection[int], observed_at: int | None = None
) -> Iterator[bytes]:
    """Yield a trace with all events and states of these replicas taken away; the header declares them.

    They are observed from the first checkpoint after the event `observed_at` of the whole trace on; never if None.
    """
    taking = _Taking(frozenset(opaque), observed_at)
    for raw in lines:
        line = taking.line(json.loads(raw))
        if line is not None:
            yield json.dumps(line).encode() + b"\n"


class _Taking:
    def __init__(self, opaque: frozenset[int], observed_at: int | None) -> None:
        self._opaque = opaque
        self._observed_at = observed_at
        self._late: frozenset[int] = frozenset()
        """Replicas that became observed, after the event `_since` of the whole trace."""
        self._since = 0
        self._sender: dict[int, int] = {}
        """Replica that sent the messages of a line, by the line's sequence in the whole trace."""
        self._renumbered: dict[int, int] = {0: 0}
        """Sequence in the new trace, by that in the whole trace; of a line taken away, that of the line before."""
        self._events = 0

    def line(self, line: Line) -> Line | None:
        """Return a line of the new trace; None if it is taken away."""
        match line["kind"]:
            case "header":
                for replica in line["replicas"]:
                    if replica["id"] in self._opaque:
                        replica["observed"] = False
            case "event":
                return self._event(line)
            case "checkpoint" if self._observed_at is not None and line["sequence"] >= self._observed_at:
                return self._observe(line)
            case "checkpoint":
                self._checkpoint(line)
            case _:
                line["events"] = self._events
        return line

    def _event(self, line: Line) -> Line | None:
        sequence = line["sequence"]
        self._sender[sequence] = line.get("replica", -1)
        if "answer" in line:
            self._sender[sequence] = line["answer"]["source"]
        is_taken = line.get("replica") in self._opaque
        about = line.get("input", {}).get("message_id")
        if about is not None:
            sent, receiver = self._ends(about)
            is_taken = self._is_unsent(about, self._sender[sent], receiver)
        self._events += not is_taken
        self._renumbered[sequence] = self._events
        if is_taken:
            return None
        line["sequence"] = self._events
        if about is not None:
            line["input"]["message_id"] = self._identifier(about)
        message = line.get("message")
        if message is not None and self._is_unsent(message["id"], message["source"], message["destination"]):
            del message["id"], line["cause"]
        elif message is not None:
            message["id"] = line["cause"]["message_id"] = self._identifier(message["id"])
        sent_now = [effect["message"] for effect in line.get("effects", ()) if effect["kind"] == "Send"]
        for it in (*sent_now, *([line["answer"]] if "answer" in line else [])):
            it["id"] = self._identifier(it["id"])
        return line

    def _checkpoint(self, line: Line) -> None:
        line["sequence"] = self._renumbered[line["sequence"]]
        line["replicas"] = [it for it in line["replicas"] if it["state"]["replica_key"]["id"] not in self._opaque]
        ends = ("source", "destination")
        flights = [
            it
            for it in line["network"]
            if not self._is_unsent(it["message"]["id"], *[it["message"][end] for end in ends])
        ]
        for it in flights:
            it["message"]["id"] = self._identifier(it["message"]["id"])
        line["network"] = flights
        line["software"] = [row for row in line.get("software", ()) if row[0] not in self._opaque]
        del line["history"]

    def _observe(self, line: Line) -> Line:
        states = [it for it in line["replicas"] if it["state"]["replica_key"]["id"] in self._opaque]
        self._late, self._opaque = self._opaque, frozenset()
        self._since, self._observed_at = line["sequence"], None
        sequence, observed = self._renumbered[self._since], sorted(self._late)
        del line["history"]
        software = [row for row in line.get("software", ()) if row[0] in self._late]
        nothing: dict[str, list[Any]] = {"network": [], "cuts": [], "software": software}
        return {**line, **nothing, "sequence": sequence, "replicas": states, "observed": observed}

    def _is_unsent(self, identifier: str, source: int, destination: int) -> bool:
        """True if no line of the new trace sends the message, or none receives it."""
        ends = {source, destination}
        return bool(ends & self._opaque) or bool(ends & self._late and self._ends(identifier)[0] <= self._since)

    @staticmethod
    def _ends(identifier: str) -> tuple[int, int]:
        sent, receiver = identifier.split(".")[:2]
        return int(sent), int(receiver)

    def _identifier(self, identifier: str) -> str:
        sent, dot, rest = identifier.partition(".")
        return f"{self._renumbered[int(sent)]}{dot}{rest}"
