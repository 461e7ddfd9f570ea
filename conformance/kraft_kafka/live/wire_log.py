"""What was on the wire in a case, in order."""

import asyncio
import json
import textwrap
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum

from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.errors import WireError

_WIDTH = 76
"""With the indent of a report 80 columns."""
_UNTOLD = frozenset(
    [
        "apiKeys",
        "clientSoftwareName",
        "clientSoftwareVersion",
        "clusterId",
        "finalizedFeatures",
        "isolationLevel",
        "lastStableOffset",
        "logStartOffset",
        "maxBytes",
        "minBytes",
        "partitionIndex",
        "partitionMaxBytes",
        "preferredReadReplica",
        "replicaState",
        "responses",
        "sessionEpoch",
        "sessionId",
        "supportedFeatures",
        "throttleTimeMs",
        "topics",
    ]
)
"""What says little about a case; a foreign cluster id is named by its case."""


class Way(StrEnum):
    """Who sent a message to whom."""

    ASKED = "asks"
    """The implementation asks a peer."""
    ANSWERED = "is told"
    """The peer answers that."""
    ASK = "is asked"
    """A peer or a client asks the implementation."""
    ANSWER = "answers"
    """It answers that."""
    NOTE = "note"
    """No message: something that was done to the implementation."""


@dataclass(frozen=True, slots=True)
class Event:
    """A message as it was seen."""

    number: int
    """Place in the log, from 0."""
    at: float
    """Seconds since the log began."""
    peer: int
    """The replica id of our side; 0 for a client."""
    way: Way
    api: str
    """Kafka's name without Request or Response; of a note its text."""
    version: int
    body: Document = field(default_factory=dict)

    @property
    def part(self) -> Document:
        """The one partition in the body; empty if there is none, as with an error at top level."""
        for top in ("topics", "responses"):
            listed = self.body.get(top)
            if listed and "partitions" in listed[0]:
                return dict(listed[0]["partitions"][0])
        return {}


@dataclass(frozen=True, slots=True)
class Damage:
    """A frame that cannot be read."""

    what: str
    api: str
    """Empty if the frame does not say it."""
    error: WireError


class WireLog:
    """All events, and waiting for one."""

    def __init__(self) -> None:
        self._zero = time.monotonic()
        self.events: list[Event] = []
        self.damage: Damage | None = None
        """The first frame of the implementation that is none of Kafka's protocol."""
        self._grown = asyncio.Event()

    def add(self, peer: int, way: Way, api: str, version: int = 0, body: Document | None = None) -> Event:
        """Append an event that is seen now."""
        event = Event(len(self.events), time.monotonic() - self._zero, peer, way, api, version, body or {})
        self.events.append(event)
        self._grown.set()
        return event

    def add_damage(self, peer: int, what: str, api: str, error: WireError) -> None:
        """Take note of a frame that cannot be read."""
        self.add(peer, Way.NOTE, f"{what} cannot be read: {error}")
        self.damage = self.damage or Damage(what, api, error)

    def all(self, wanted: Callable[[Event], bool], after: int = 0) -> list[Event]:
        """The events from number `after` on that are wanted."""
        return [event for event in self.events[after:] if wanted(event)]

    async def first(self, wanted: Callable[[Event], bool], seconds: float, after: int = 0) -> Event | None:
        """The first event from number `after` on that is wanted; None if there is none within `seconds`."""
        end = time.monotonic() + seconds
        while True:
            if found := next(filter(wanted, self.events[after:]), None):
                return found
            after = len(self.events)
            if (left := end - time.monotonic()) <= 0:
                return None
            self._grown.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._grown.wait()

    def text(self, last: int = 60) -> str:
        """The last events, each in lines of at most 76 columns."""
        shown = self.events[-last:]
        left_out = [f"... {len(self.events) - len(shown)} earlier messages"] if len(shown) < len(self.events) else []
        return "\n".join([*left_out, *map(_lines, shown)])


def _lines(event: Event) -> str:
    head = f"{event.at * 1000:7.0f} ms "
    if event.way is Way.NOTE:
        return f"{head}-- {event.api}"
    text = f"{head}{event.way} {event.peer or 'client'}: {event.api} v{event.version} {_fields(event)}"
    return textwrap.fill(text, _WIDTH, subsequent_indent=" " * 12, break_long_words=True, break_on_hyphens=False)


def _fields(event: Event) -> str:
    told = {name: value for name, value in event.body.items() if name not in _UNTOLD}
    told |= {name: value for name, value in event.part.items() if name not in _UNTOLD}
    if told.get("records"):
        told["records"] = f"<{len(told['records'])} characters>"
    if not event.part and (listed := event.body.get("topics")) and event.api == "DescribeQuorum":
        told["topics"] = listed
    kept = {name: value for name, value in told.items() if value not in (None, [], "")}
    return json.dumps(kept, separators=(", ", ": "), ensure_ascii=True, default=str)[1:-1]
