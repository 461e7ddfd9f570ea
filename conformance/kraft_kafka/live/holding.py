"""Unanswered requests of a process, held so that a vector decides when and how they are answered."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from kraft_kafka.live import bodies
from kraft_kafka.live.peers import Answer, Peer
from kraft_kafka.live.wire_log import Event
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.trace_links import TRACED_NAMES

_PAUSE_S = 0.1
"""Delay of the response to a Fetch that comes too early: some implementations fetch again at once."""
_KAFKA_LIBRARY = "apache-kafka-java"


@dataclass(slots=True, eq=False)
class Held:
    """A held request of the process."""

    peer: int
    event: Event
    answer: asyncio.Future[Document]
    correlation_id: int | None = None
    """Correlation id of the step that reported it; None before."""
    since: float = field(default_factory=time.monotonic)

    @property
    def kind(self) -> str:
        """Type of the message in a trace."""
        return TRACED_NAMES[f"{self.event.api}Request"]

    @property
    def name(self) -> str:
        """Name that distinguishes it from other outputs of a step."""
        return f"Send {self.kind} to {self.peer}"

    @property
    def is_fetch(self) -> bool:
        """True for the requests that the vector polls for separately."""
        return self.event.api in ("Fetch", "FetchSnapshot")


class Holding:
    """All held requests, the oldest first."""

    def __init__(self) -> None:
        self.all: list[Held] = []
        self._connections: set[object] = set()

    def answer_of(self, peer: Peer) -> Answer:
        """Return a peer's response function, which waits until the vector responds."""

        async def hold(event: Event) -> Document:
            if event.api == "ApiVersions" and event.body.get("clientSoftwareName") == _KAFKA_LIBRARY:
                # Kafka's client library sends ApiVersions first on each connection that it opens.
                connection = asyncio.current_task()
                if connection not in self._connections:
                    self._connections.add(connection)
                    return peer.api_versions(event.version)
            held = Held(peer.id, event, asyncio.get_running_loop().create_future())
            self.all.append(held)
            return await held.answer

        return hold

    @property
    def unshown(self) -> list[Held]:
        """Requests that no step has reported."""
        return [held for held in self.all if held.correlation_id is None]

    def hang_up(self, which: Iterable[Held]) -> None:
        """Close the connections of these requests."""
        for held in which:
            self.all.remove(held)
            held.answer.cancel()

    def tell(self, held: Held, body: Document) -> None:
        self.all.remove(held)
        if not held.answer.done():
            held.answer.set_result(body)

    def put_off(self, which: Iterable[Held]) -> None:
        """Answer requests that are outdated or early, without effect; the process sends a Fetch again."""
        for held in which:
            part = held.event.part
            match held.event.api:
                case "Fetch":
                    body = bodies.fetch_answer(max(0, part["currentLeaderEpoch"]), -1, bodies.NOT_LEADER)
                    self.tell(held, body)
                case "Vote":
                    self.tell(held, bodies.vote_answer(False, part["replicaEpoch"]))
                case "BeginQuorumEpoch" | "EndQuorumEpoch":
                    self.tell(held, bodies.quorum_answer(part["leaderEpoch"], part["leaderId"]))
                case _:
                    self.hang_up([held])

    def make_way(self, wanted: Iterable[str]) -> None:
        """Answer held requests that block a wanted one: on its connection, or because the process waits for them."""
        present = {held.name for held in self.unshown}
        missing = [name for name in wanted if "Request to " in name and name not in present]
        if not missing:
            return
        now = time.monotonic()
        early = [held for held in self.unshown if held.event.api == "Fetch" and held.name not in wanted]
        self.put_off([held for held in early if now - held.since > _PAUSE_S])
        # The reference has at most one request in flight per receiver, so it has given up earlier ones.
        receivers = {int(name.rpartition(" ")[2]) for name in missing}
        self.put_off([held for held in self.all if held.correlation_id is not None and held.peer in receivers])
