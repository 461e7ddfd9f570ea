"""Matching of delivered messages with sends across the traces of several processes.

Processes do not record message ids, so a message is identified by its type, sender, receiver and correlation id.
A correlation id may be used again, in particular after a restart.
So requests are matched together with their responses: the process that sent the request received the response before
it restarted, or before it sent another request with that id.
Clocks are not used.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from kraft_traces.effects import TracedSend
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage, is_request, message_type
from kraft_traces.process_trace import ProcessTrace
from kraft_traces.vocabulary import STARTS

Place = tuple[int, int]
"""Index of a trace and of an event in it."""

SendPlace = tuple[int, int, int]
"""Index of a trace, of an event in it, and of an effect."""

Key = tuple[str, int | UnsetType, int | UnsetType, int | UnsetType]
"""Type, sender, receiver and correlation id of a message."""


@dataclass(slots=True, eq=False)
class _Sent:
    place: SendPlace
    message: TracedMessage
    response: "_Received | None" = None
    """Response that its sender received."""


@dataclass(slots=True, eq=False)
class _Received:
    place: Place
    message: TracedMessage
    response: _Sent | None = None
    """Response that its receiver sent."""


class _Messages:
    """Messages of all traces by key, each list in its process's own order."""

    def __init__(self) -> None:
        self.sent: dict[Key, list[_Sent]] = defaultdict(list)
        self.received: dict[Key, list[_Received]] = defaultdict(list)

    def read(self, index: int, trace: ProcessTrace) -> None:
        """Add the messages of a trace."""
        awaited: dict[Key, _Sent] = {}
        handled: dict[Key, _Received] = {}
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
                elif (request := awaited.pop(request_key(key), None)) is not None:
                    request.response = received
            for place, message in sends_of(line):
                sent = _Sent((index, position, place), message)
                key = key_of(message)
                self.sent[key].append(sent)
                if is_request(message):
                    awaited[key] = sent
                elif (answered := handled.pop(request_key(key), None)) is not None:
                    answered.response = sent


def key_of(message: TracedMessage) -> Key:
    """Return the key that sender and receiver share for a message."""
    return message_type(message), message.source, message.destination, message.correlation_id


def request_key(key: Key) -> Key:
    """Return the key of the request to which a response belongs."""
    kind, source, destination, correlation_id = key
    return kind.removesuffix("Response") + "Request", destination, source, correlation_id


def sends_of(line: EventLine) -> tuple[tuple[int, TracedMessage], ...]:
    """Return the messages that an event sends, each with the index of its effect."""
    if line.effects is UNSET:
        return ()
    return tuple([(at, effect.message) for at, effect in enumerate(line.effects) if isinstance(effect, TracedSend)])


def deliveries(traces: Sequence[ProcessTrace]) -> dict[Place, SendPlace]:
    """Return the send of each received message; messages that no trace sends have none."""
    messages = _Messages()
    for index, trace in enumerate(traces):
        messages.read(index, trace)
    sends: dict[Place, SendPlace] = {}
    used: set[SendPlace] = set()
    for key in sorted(messages.received, key=lambda key: key[0].endswith("Response")):
        received = [delivery for delivery in messages.received[key] if delivery.place not in sends]
        sent = [send for send in messages.sent.get(key, ()) if send.place not in used]
        for delivered, its_send in _aligned(received, sent):
            pairs = [(delivered, its_send)]
            if delivered.response is not None and its_send.response is not None:
                pairs.append((its_send.response, delivered.response))
            for end, start in pairs:
                sends[end.place] = start.place
                used.add(start.place)
    return sends


def handled_at(traces: Sequence[ProcessTrace]) -> dict[Place, int]:
    """Return the index of the event that handled the request of each received response, in its handler's trace.

    The response was sent by that event or a later one.  A request is included only if its receiver's event is certain:
    the trace of its sender is whole, and both traces have only this one message with its key.
    """
    messages = _Messages()
    for index, trace in enumerate(traces):
        messages.read(index, trace)
    places: dict[Place, int] = {}
    for key, sent in messages.sent.items():
        received = messages.received.get(key, ())
        if len(sent) != 1 or len(received) != 1 or not is_request(sent[0].message) or sent[0].response is None:
            continue
        sender = traces[sent[0].place[0]]
        if not (sender.checkpoints or sender.lost or sender.kills):
            places[sent[0].response.place] = received[0].place[1]
    return places


def _aligned(received: Sequence[_Received], sent: Sequence[_Sent]) -> list[tuple[_Received, _Sent]]:
    """Pair receipts and sends in order, each send at most once; of several sends, the first of the best fit.

    If there are fewer sends than receipts, some sends were lost with the last lines of a killed process.  A receipt
    that does not agree with the next send is then one of those without a send.
    """
    pairs: list[tuple[_Received, _Sent]] = []
    first = 0
    for number, delivered in enumerate(received):
        # Keep as many sends as messages are received later.
        last = max(len(sent) - (len(received) - number - 1), first + 1)
        best, best_fit = None, (False, -1)
        for index in range(first, min(last, len(sent))):
            fit = _fit(delivered, sent[index])
            if best is None or fit > best_fit:
                best, best_fit = index, fit
            if fit == (True, 2):
                break
        is_short = len(sent) - first < len(received) - number
        if best is not None and (best_fit[0] or not is_short):
            pairs.append((delivered, sent[best]))
            first = best + 1
    return pairs


def _fit(received: _Received, sent: _Sent) -> tuple[bool, int]:
    """Return True if the messages agree, and a rank of the agreement of their responses."""
    response = 1
    if sent.response is not None:
        own = received.response
        response = 2 if own is not None and agree(own.message, sent.response.message) else 0
    return agree(received.message, sent.message), response


def agree(message: TracedMessage, other: TracedMessage) -> bool:
    """True if all fields that both have agree, except for the id."""
    if message == other:
        return True
    if type(message) is not type(other):
        return False
    pairs = ((getattr(message, name), getattr(other, name)) for name in message.__struct_fields__ if name != "id")
    return all(left == right or UNSET in (left, right) for left, right in pairs)
