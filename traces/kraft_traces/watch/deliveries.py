"""Matching of receipts with sends in a merge that goes on, from the events merged so far.

`kraft_traces.deliveries` matches whole traces and may look ahead; here each receipt is matched when it is due.
A response belongs to the request that its receiver still awaits, and so to the receipt of that request.
A request is the first one in flight that agrees; if a restarted sender used a correlation id again, the newest one.
"""

from collections.abc import Collection, Iterator

from msgspec import UNSET, Struct

from kraft_traces.deliveries import Key, agree, key_of, request_key
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage, is_request
from kraft_traces.vocabulary import STARTS

_PENDING_MAX = 10_000
"""Maximum number of requests whose response is awaited; older ones are forgotten."""


class SavedDeliveries(Struct, frozen=True):
    """State of `LiveDeliveries` as JSON."""

    in_flight: tuple[TracedMessage, ...]
    awaited: tuple[TracedMessage, ...]
    handled: tuple[TracedMessage, ...]
    answers: dict[str, str]
    unknown: tuple[str, ...] = ()


class LiveDeliveries:
    """Messages in flight between the processes of a merge."""

    def __init__(self, saved: SavedDeliveries | None = None) -> None:
        self._in_flight: dict[str, TracedMessage] = {}
        """By id, oldest first."""
        self._by_key: dict[Key, list[str]] = {}
        self._awaited: dict[Key, TracedMessage] = {}
        """Newest request of each key that its sender has sent in this life and that has no response."""
        self._handled: dict[Key, TracedMessage] = {}
        """Newest request of each key that its receiver has received in this life and not answered."""
        self._answers: dict[str, str] = {}
        """Id of the response, by id of the request."""
        self._unknown: set[str] = set() if saved is None else set(saved.unknown)
        """Ids of the messages in flight that the merged trace does not know to be."""
        if saved is not None:
            for message in saved.in_flight:
                self._add(message)
            self._awaited = {key_of(message): message for message in saved.awaited}
            self._handled = {key_of(message): message for message in saved.handled}
            self._answers = dict(saved.answers)

    def save(self) -> SavedDeliveries:
        """Return the state."""
        return SavedDeliveries(
            tuple(self._in_flight.values()),
            tuple(self._awaited.values()),
            tuple(self._handled.values()),
            dict(self._answers),
            tuple(sorted(self._unknown)),
        )

    def observe(self, replicas: Collection[int]) -> None:
        """Forget the messages in flight to and from replicas that are observed from here on.

        They still have a receipt, which has no id.
        """
        self._unknown.update(
            name for name, it in self._in_flight.items() if it.source in replicas or it.destination in replicas
        )

    def is_known(self, identifier: str) -> bool:
        """True if the message with this id is in flight to the merged trace."""
        return identifier not in self._unknown

    def request_in_flight(self, response: TracedMessage) -> TracedMessage | None:
        """Return the request of a response, if it is in flight."""
        names = self._by_key.get(request_key(key_of(response)), ())
        return self._in_flight[names[-1]] if names else None

    def send_of(self, message: TracedMessage, *, whatever: bool = False) -> str | None:
        """Return the id of a received message; None if its send is not merged yet.

        With `whatever`, a message in flight with the same key counts even if it does not agree.
        """
        key = key_of(message)
        if not is_request(message) and (request := self._awaited.get(request_key(key))) is not None:
            answer = self._answers.get(_id(request))
            if answer in self._in_flight:
                return answer
            if not whatever:
                return None
        candidates = self._by_key.get(key, ())
        agreeing = [name for name in candidates if agree(message, self._in_flight[name])]
        if agreeing:
            # The life of the sender that used the id last, because the messages of the earlier one were probably lost.
            return agreeing[-1]
        return candidates[0] if candidates and whatever else None

    def receive(self, identifier: str) -> None:
        """Take a receipt of the message with this id."""
        message = self._in_flight[identifier]
        self._remove(identifier)
        if is_request(message):
            _put(self._handled, key_of(message), message)
        else:
            self._forget_request(request_key(key_of(message)))

    def restart(self, line: EventLine) -> None:
        """Forget what a replica awaited and owed if the line starts it."""
        if line.event not in STARTS:
            return
        for key in [key for key in self._awaited if key[1] == line.replica]:
            self._forget_request(key)
        for key in [key for key in self._handled if key[2] == line.replica]:
            del self._handled[key]

    def send(self, message: TracedMessage) -> None:
        """Take the send of a message, which has an id."""
        self._add(message)
        key = key_of(message)
        if is_request(message):
            _put(self._awaited, key, message)
        elif (request := self._handled.pop(request_key(key), None)) is not None:
            self._answers[_id(request)] = _id(message)
            if len(self._answers) > _PENDING_MAX:
                del self._answers[next(iter(self._answers))]

    def lost(self, before: int) -> Iterator[str]:
        """Remove the messages that a line before this sequence sent, and yield their ids."""
        while self._in_flight:
            identifier = next(iter(self._in_flight))
            if int(identifier.partition(".")[0]) >= before:
                return
            is_known = self.is_known(identifier)
            self._remove(identifier)
            if is_known:
                yield identifier

    def _add(self, message: TracedMessage) -> None:
        self._in_flight[_id(message)] = message
        self._by_key.setdefault(key_of(message), []).append(_id(message))

    def _remove(self, identifier: str) -> None:
        key = key_of(self._in_flight.pop(identifier))
        self._unknown.discard(identifier)
        names = self._by_key[key]
        names.remove(identifier)
        if not names:
            del self._by_key[key]

    def _forget_request(self, key: Key) -> None:
        request = self._awaited.pop(key, None)
        if request is not None:
            self._answers.pop(_id(request), None)


def _id(message: TracedMessage) -> str:
    assert message.id is not UNSET, "a merged message has an id"
    return message.id


def _put(requests: dict[Key, TracedMessage], key: Key, message: TracedMessage) -> None:
    requests.pop(key, None)
    requests[key] = message
    if len(requests) > _PENDING_MAX:
        del requests[next(iter(requests))]
