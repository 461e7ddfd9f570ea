"""From a trace line to the value of the model's variable `event`.

A complete line gives exactly one; a foreign line that leaves something out gives one for each way to fill it in.
"""

from collections.abc import Iterator, Mapping

from msgspec import UNSET

from kraft_traces.check.model import encoded_key
from kraft_traces.lines import EventLine
from kraft_traces.values import TracedKey

Event = dict[str, object]


class IncompleteLineError(Exception):
    """A line leaves out what cannot be filled in by trying: the payload of an append, a voters set, a directory id."""

    def __init__(self, field: str) -> None:
        super().__init__(f"{field} is needed: it cannot be found by trying")
        self.field = field


def message_place(identifier: str) -> tuple[int, int]:
    """The (sequence of the sending line, receiver) that a message id stands for."""
    sent, _, to = identifier.partition(".")
    return int(sent), int(to)


def _given(line: EventLine, name: str) -> object:
    return getattr(getattr(line, "input", UNSET), name, UNSET)


def _needed(line: EventLine, name: str) -> object:
    value = _given(line, name)
    if value is UNSET:
        raise IncompleteLineError(f"input.{name}")
    return value


def _voters(line: EventLine) -> tuple[TracedKey, ...]:
    if line.input is UNSET or line.input.voters is UNSET:
        raise IncompleteLineError("input.voters")
    return line.input.voters


def _one(name: str, value: object) -> Mapping[str, object] | None:
    return None if value is UNSET else {name: value}


class Binding:
    """Binds the lines of one trace.

    `replica_ids` are the ids of its header, for what has to be tried.
    """

    def __init__(self, replica_ids: tuple[int, ...]) -> None:
        self._replica_ids = replica_ids

    def base(self, line: EventLine) -> Event:
        """The part that every line has."""
        crash = line.crash
        event: Event = {
            "name": line.event,
            "replica": 0 if line.replica is UNSET else line.replica,
            "sequence": line.sequence,
            "completed": -1,
        }
        if crash is not UNSET:
            event["completed"] = crash.completed
            event["kept"] = crash.log_end_offset
        return event

    def complete(self, line: EventLine) -> Event | None:
        """The one event of a complete line, None if the line leaves something out.

        Raises:
            IncompleteLineError: what is left out cannot be tried.
        """
        event = self.base(line)
        rest = self._specifics(line)
        if rest is None:
            return None
        event.update(rest)
        return event

    def _specifics(self, line: EventLine) -> Mapping[str, object] | None:
        name: str = line.event
        if name.startswith("Handle"):
            message = line.message
            identifier = getattr(message, "id", UNSET)
            return None if identifier is UNSET else {"sent": message_place(identifier)[0]}
        match name:
            case "PollFetch" | "RequestTimeout":
                return _one("destination", _given(line, "destination"))
            case "ClientAppend":
                return {"value": _needed(line, "value")}
            case "AppendVoters":
                return {"voters": frozenset(encoded_key(key) for key in _voters(line))}
            case "Crash":
                return _one("kept", _given(line, "log_end_offset"))
            case "ReplaceDisk":
                return {"directory": _needed(line, "directory_id")}
            case "DropMessage" | "DuplicateMessage" | "AnswerUnsupportedVersion":
                sent, to = message_place(str(_needed(line, "message_id")))
                return {"sent": sent, "to": to}
            case "CutLink" | "HealLink":
                return {"source": _needed(line, "source"), "destination": _needed(line, "destination")}
            case _:
                return {}

    def tried(self, line: EventLine, in_flight: Iterator[int], log_ends: range) -> Iterator[Event]:
        """The events that a line may stand for: every message on its way, every destination, every kept log end."""
        name: str = line.event
        base = self.base(line)
        if name.startswith("Handle"):
            for sent in in_flight:
                yield {**base, "sent": sent}
        elif name == "Crash":
            for kept in log_ends:
                yield {**base, "kept": kept}
        else:
            for destination in self._replica_ids:
                yield {**base, "destination": destination}
