"""Order in which a replica sent its messages, as far as connections and correlation ids say it.

TCP keeps the order of one connection.
A client that counts its requests over all connections says in which order it created them: a request waits until its
connection is established, and one that was created later can pass first on another connection.
"""

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kraft_traces.inference.captured import CapturedMessage, Span

_SILENCE_MS = 10_000
"""How long an open connection without frames shows that its process runs: a machine that lost power closes nothing."""


class Order(NamedTuple):
    """Bounds on when messages were sent."""

    sent_before: Mapping[int, int]
    """By place of a request: the earlier place before which it was sent."""
    counted: Mapping[int, int]
    """By place of a request: the counter that made its correlation id, if one counter made all ids of its process."""
    spans: Mapping[int, Span]
    runs: Mapping[int, Sequence[tuple[int, int]]]
    """By replica: the first and last place at which one of its connections shows that its process ran."""

    def can_restart(self, replica: int, place: int) -> bool:
        """True unless a connection of the replica outlasts the place: no connection survives its process."""
        return not any(first < place <= last for first, last in self.runs.get(replica, ()))

    def is_closed(self, message: CapturedMessage, place: int) -> bool:
        """True if the connection of a message was closed before a place."""
        if message.connection is None:
            return False
        closed = self.spans[message.connection].closed
        return closed is not None and closed <= place

    def is_fixed(self, message: CapturedMessage, other: CapturedMessage) -> bool:
        """True if two messages of one replica were sent in the order in which they are tried."""
        if message.connection is not None and message.connection == other.connection:
            return True
        counter = self.counted.get(message.number)
        return counter is not None and counter == self.counted.get(other.number)


def order_of(observations: Sequence[CapturedMessage], spans: Mapping[int, Span]) -> Order:
    """Return the order of the messages of a capture; `spans` are the lifetimes of its connections."""
    sent_before: dict[int, int] = {}
    counted: dict[int, int] = {}
    requests: dict[int, list[CapturedMessage]] = defaultdict(list)
    ends: dict[tuple[int, int], tuple[int, int]] = {}
    for message in observations:
        if message.connection is None:
            continue
        first, _ = ends.setdefault((message.source, message.connection), (message.number, message.number))
        ends[message.source, message.connection] = (first, message.number)
        if message.request is None:
            requests[message.source].append(message)
    for sent in requests.values():
        for life in _lives(sent, spans):
            if _are_counted(life):
                sent_before.update(_overtaken(life))
                counted.update(dict.fromkeys([message.number for message in life], life[0].number))
    runs: dict[int, list[tuple[int, int]]] = defaultdict(list)
    times = [message.time_ms for message in observations]
    for (replica, connection), (first, last) in ends.items():
        closed = spans[connection].closed
        silent = bisect_right(times, times[last] + _SILENCE_MS) - 1
        runs[replica].append((first, max(last, silent if closed is None else min(silent, closed - 1))))
    return Order(sent_before, counted, spans, runs)


def sending(observations: Sequence[CapturedMessage], order: Order) -> Mapping[int, Sequence[CapturedMessage]]:
    """Return the messages by the place before which each was sent, in the order of sending."""
    sent: dict[int, list[CapturedMessage]] = defaultdict(list)
    overtaken = [message for message in observations if message.number in order.sent_before]
    for message in sorted(overtaken, key=lambda message: int(message.message.correlation_id)):
        sent[order.sent_before[message.number]].append(message)
    for message in observations:
        if message.number not in order.sent_before:
            sent[message.number].append(message)
    return sent


def _lives(requests: Sequence[CapturedMessage], spans: Mapping[int, Span]) -> list[list[CapturedMessage]]:
    """Split the requests of a client wherever none of its connections was open: its process may have restarted."""
    lives: list[list[CapturedMessage]] = []
    used: set[int] = set()
    for message in requests:
        assert message.connection is not None, "the caller has left out the others"
        opened = spans[message.connection].opened
        if not any(spans[number].is_open(opened) for number in used):
            lives.append([])
            used = set()
        used.add(message.connection)
        lives[-1].append(message)
    return lives


def _are_counted(requests: Sequence[CapturedMessage]) -> bool:
    """True if one counter makes the correlation ids: none occurs twice, and they rise on each connection."""
    newest: dict[int | None, int] = {}
    ids = set()
    for message in requests:
        id_ = int(message.message.correlation_id)
        if id_ in ids or id_ < newest.get(message.connection, id_):
            return False
        ids.add(id_)
        newest[message.connection] = id_
    return True


def _overtaken(requests: Sequence[CapturedMessage]) -> dict[int, int]:
    """Return the requests that passed after one with a larger correlation id, with the place of the first such one."""
    before: dict[int, int] = {}
    ids: list[tuple[int, int]] = []
    for message in requests:
        id_ = int(message.message.correlation_id)
        later = ids[bisect_right(ids, (id_, message.number)) :]
        if later:
            before[message.number] = min(place for _, place in later)
        insort(ids, (id_, before.get(message.number, message.number)))
    return before
