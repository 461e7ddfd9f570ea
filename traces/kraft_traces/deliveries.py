"""The send to which each delivered message of several processes' traces belongs.

A process knows no ids of messages: a message is known by its type, its ends and its correlation id.
A correlation id may come again, after a restart above all.
So a request goes with its response: the process that sent the request received the response before it restarted, or
sent another request of that id.
Clocks do not decide.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from kraft_traces.effects import TracedSend
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage, is_request, type_of
from kraft_traces.process_trace import ProcessTrace
from kraft_traces.vocabulary import STARTS

Place = tuple[int, int]
"""Index of a trace, and of an event in it."""

SendPlace = tuple[int, int, int]
"""The same, and the index of the effect."""

_Key = tuple[str, int | UnsetType, int | UnsetType, int | UnsetType]
"""Type, sender, receiver and correlation id of a message."""


@dataclass(slots=True, eq=False)
class _Sent:
    place: SendPlace
    message: TracedMessage
    response: "_Received | None" = None
    """What its sender received in response."""


@dataclass(slots=True, eq=False)
class _Received:
    place: Place
    message: TracedMessage
    response: _Sent | None = None
    """What its receiver sent in response."""


class _Messages:
    """The messages of all traces by key, each list in its process's own order."""

    def __init__(self) -> None:
        self.sent: dict[_Key, list[_Sent]] = defaultdict(list)
        self.received: dict[_Key, list[_Received]] = defaultdict(list)

    def read(self, index: int, trace: ProcessTrace) -> None:
        """Take the messages of a trace."""
        awaited: dict[_Key, _Sent] = {}
        handled: dict[_Key, _Received] = {}
        for position, (_, line) in enumerate(trace.events):
            if line.event in STARTS:
                # A restarted process awaits no response, and owes none.
                for own, place in ((awaited, 1), (handled, 2)):
                    for key in [key for key in own if key[place] == line.replica]:
                        del own[key]
            if line.message is not UNSET:
                received = _Received((index, position), line.message)
                key = key_of(line.message)
                self.received[key].append(received)
                if is_request(line.message):
                    handled[key] = received
                elif (request := awaited.pop(_request_key(key), None)) is not None:
                    request.response = received
            for place, message in sends_of(line):
                sent = _Sent((index, position, place), message)
                key = key_of(message)
                self.sent[key].append(sent)
                if is_request(message):
                    awaited[key] = sent
                elif (answered := handled.pop(_request_key(key), None)) is not None:
                    answered.response = sent


def key_of(message: TracedMessage) -> _Key:
    """The names by which both ends know a message."""
    return type_of(message), message.source, message.destination, message.correlation_id


def _request_key(key: _Key) -> _Key:
    """The key of the request to which a response belongs."""
    kind, source, destination, correlation_id = key
    return kind.removesuffix("Response") + "Request", destination, source, correlation_id


def sends_of(line: EventLine) -> tuple[tuple[int, TracedMessage], ...]:
    """The messages that an event sends, each with the index of its effect."""
    if line.effects is UNSET:
        return ()
    return tuple([(place, one.message) for place, one in enumerate(line.effects) if isinstance(one, TracedSend)])


def deliveries(traces: Sequence[ProcessTrace]) -> dict[Place, SendPlace]:
    """The send of each message that is received; of messages that no trace sends there is none."""
    messages = _Messages()
    for index, trace in enumerate(traces):
        messages.read(index, trace)
    found: dict[Place, SendPlace] = {}
    used: set[SendPlace] = set()
    for key in sorted(messages.received, key=lambda key: key[0].endswith("Response")):
        received = [one for one in messages.received[key] if one.place not in found]
        sent = [one for one in messages.sent.get(key, ()) if one.place not in used]
        for delivered, its_send in _aligned(received, sent):
            pairs = [(delivered, its_send)]
            if delivered.response is not None and its_send.response is not None:
                pairs.append((its_send.response, delivered.response))
            for end, start in pairs:
                found[end.place] = start.place
                used.add(start.place)
    return found


def _aligned(received: Sequence[_Received], sent: Sequence[_Sent]) -> list[tuple[_Received, _Sent]]:
    """Both in their order, each send at most once; of several that are possible, the first that fits best."""
    pairs: list[tuple[_Received, _Sent]] = []
    first = 0
    for number, delivered in enumerate(received):
        # As many sends are left as messages that are received later.
        last = max(len(sent) - (len(received) - number - 1), first + 1)
        best, best_fit = None, (False, -1)
        for index in range(first, min(last, len(sent))):
            fit = _fit(delivered, sent[index])
            if best is None or fit > best_fit:
                best, best_fit = index, fit
            if fit == (True, 2):
                break
        if best is not None:
            pairs.append((delivered, sent[best]))
            first = best + 1
    return pairs


def _fit(received: _Received, sent: _Sent) -> tuple[bool, int]:
    """Whether the messages agree, and how well their responses do."""
    response = 1
    if sent.response is not None:
        own = received.response
        response = 2 if own is not None and _agree(own.message, sent.response.message) else 0
    return _agree(received.message, sent.message), response


def _agree(one: TracedMessage, other: TracedMessage) -> bool:
    """True if no field that both show differs; ids of messages are not compared."""
    if one == other:
        return True
    if type(one) is not type(other):
        return False
    pairs = ((getattr(one, name), getattr(other, name)) for name in one.__struct_fields__ if name != "id")
    return all(left == right or UNSET in (left, right) for left, right in pairs)
