"""Replicas that are not observed, and those that are observed from the middle of a trace on.

Nobody records an opaque replica.  It may send anything at any time, so a line that receives a message from it counts as
sending it.  The messages that it receives leave the model's network when they are sent, and its state is not known.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace as replaced

from kraft_traces.check.binding import delivered_id
from kraft_traces.check.candidates import InconclusiveError
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage


def correlation_id_of(message: TracedMessage) -> int | None:
    """Return the correlation id of a message of a line that has the model's numbers; None without one."""
    return None if message.correlation_id is UNSET else message.correlation_id


def check_cluster(line: EventLine, cluster_id: str) -> None:
    """Check that a message that no line sends is of this cluster: no rule of the model is about one of another.

    Raises:
        InconclusiveError: it is of another cluster.
    """
    sent = getattr(line.message, "cluster_id", UNSET)
    if sent not in (UNSET, None, cluster_id):
        raise InconclusiveError(f"the message is of cluster {sent!r}, and the model has only cluster {cluster_id!r}")


def with_own_id(line: EventLine) -> EventLine:
    """Return a line with the id of the message that it delivers as if it had sent the message itself."""
    message = line.message
    if message is UNSET:
        return line
    whole = replaced(message, id=f"{line.sequence}.{line.replica}", destination=line.replica)
    return replaced(line, message=whole)


@dataclass(slots=True)
class Opaque:
    """Opaque replicas of one trace."""

    declared: frozenset[int] = frozenset()
    """Those that the header declares."""
    now: set[int] = field(default_factory=set)
    """Those that are not observed at present."""
    since: dict[int, int] = field(default_factory=dict)
    """Sequence of the event after which a replica became observed, for those that the header declares."""

    @classmethod
    def of(cls, declared: frozenset[int]) -> "Opaque":
        """Return those that a header declares."""
        return cls(declared, set(declared))

    def observe(self, replica: int, sequence: int) -> None:
        """Note that a replica is observed after the event of this sequence."""
        self.now.discard(replica)
        self.since[replica] = sequence

    def is_unsent(self, line: EventLine, number_of: Callable[[TracedMessage], int | None]) -> bool:
        """True if the line delivers a message that no line needs to have sent.

        An opaque replica sent it, or it was sent before its sender or its receiver became observed: the model's number
        of its request, which `number_of` returns, is not known, or not after that.
        """
        message = line.message
        if message is UNSET or line.replica is UNSET or message.source is UNSET or delivered_id(line) is not UNSET:
            return False
        if message.source in self.now:
            return True
        since = max(self.since.get(message.source, -1), self.since.get(line.replica, -1))
        if since < 0:
            return False
        number = number_of(replaced(message, destination=line.replica))
        return number is None or number <= since

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Continue from a result of `as_json`; the set `now` stays the same object."""
        self.now.clear()
        self.now.update(saved["now"])
        self.since = dict(saved["since"])

    def as_json(self) -> Mapping[str, object]:
        """Return the replicas as JSON, without the declared ones."""
        return {"now": sorted(self.now), "since": sorted(self.since.items())}
