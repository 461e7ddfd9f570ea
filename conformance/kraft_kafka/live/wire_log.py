"""Log of the messages of a case, in order."""

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
"""80 columns with the indent of a report."""
_OMITTED = frozenset(
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
"""Fields that say little about a case; a case names a foreign cluster id itself."""


class Way(StrEnum):
    """Direction of a message."""

    ASKED = "asks"
    """Request of the implementation to a peer."""
    ANSWERED = "is told"
    """The peer's response."""
    ASK = "is asked"
    """Request of a peer or client to the implementation."""
    ANSWER = "answers"
    """The implementation's response."""
    NOTE = "note"
    """No message, but an action on the implementation."""


@dataclass(frozen=True, slots=True)
class Event:
    """A recorded message."""

    number: int
    """Index in the log, from 0."""
    at: float
    """Seconds since the log began."""
    peer: int
    """Replica id of the mock peer; 0 for a client."""
    way: Way
    api: str
    """Kafka's name without Request or Response; for a note its text."""
    version: int
    body: Document = field(default_factory=dict)

    @property
    def part(self) -> Document:
        """The body's only partition; empty if there is none, as in a top-level error response."""
        for top in ("topics", "responses"):
            listed = self.body.get(top)
            if listed and "partitions" in listed[0]:
                return dict(listed[0]["partitions"][0])
        return {}


@dataclass(frozen=True, slots=True)
class Damage:
    """An unreadable frame."""

    what: str
    api: str
    """Empty if the frame does not have it."""
    error: WireError


class WireLog:
    """All events of a case, which callers can wait for."""

    def __init__(self) -> None:
        self._zero = time.monotonic()
        self.events: list[Event] = []
        self.damage: Damage | None = None
        """The implementation's first frame that breaks Kafka's protocol."""
        self._grown = asyncio.Event()

    def add(self, peer: int, way: Way, api: str, version: int = 0, body: Document | None = None) -> Event:
        """Append an event with the current time."""
        event = Event(len(self.events), time.monotonic() - self._zero, peer, way, api, version, body or {})
        self.events.append(event)
        self._grown.set()
        return event

    def add_damage(self, peer: int, what: str, api: str, error: WireError) -> None:
        self.add(peer, Way.NOTE, f"{what} cannot be read: {error}")
        self.damage = self.damage or Damage(what, api, error)

    def all(self, wanted: Callable[[Event], bool], after: int = 0) -> list[Event]:
        """Return the wanted events from index `after` on."""
        return [event for event in self.events[after:] if wanted(event)]

    async def first(self, wanted: Callable[[Event], bool], seconds: float, after: int = 0) -> Event | None:
        """Wait for a wanted event from index `after` on; None if there is none within `seconds`."""
        end = time.monotonic() + seconds
        while True:
            if event := next(filter(wanted, self.events[after:]), None):
                return event
            after = len(self.events)
            if (left := end - time.monotonic()) <= 0:
                return None
            self._grown.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._grown.wait()

    def text(self, last: int = 60) -> str:
        """Return the last events, each in lines of at most 76 columns."""
        kept = self.events[-last:]
        left_out = [f"... {len(self.events) - len(kept)} earlier messages"] if len(kept) < len(self.events) else []
        return "\n".join([*left_out, *map(_format_event, kept)])


def _format_event(event: Event) -> str:
    head = f"{event.at * 1000:7.0f} ms "
    if event.way is Way.NOTE:
        return f"{head}-- {event.api}"
    text = f"{head}{event.way} {event.peer or 'client'}: {event.api} v{event.version} {_format_fields(event)}"
    return textwrap.fill(text, _WIDTH, subsequent_indent=" " * 12, break_long_words=True, break_on_hyphens=False)


def _format_fields(event: Event) -> str:
    fields = {name: value for name, value in event.body.items() if name not in _OMITTED}
    fields |= {name: value for name, value in event.part.items() if name not in _OMITTED}
    if fields.get("records"):
        fields["records"] = f"<{len(fields['records'])} characters>"
    if not event.part and (listed := event.body.get("topics")) and event.api == "DescribeQuorum":
        fields["topics"] = listed
    kept = {name: value for name, value in fields.items() if value not in (None, [], "")}
    return json.dumps(kept, separators=(", ", ": "), ensure_ascii=True, default=str)[1:-1]
