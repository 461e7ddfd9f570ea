"""The requests of a process that nobody has answered yet, so that a vector says when, and with what."""

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
"""Before a Fetch that is not wanted yet is answered: some ask again at once."""
_KAFKA_LIBRARY = "apache-kafka-java"


@dataclass(slots=True, eq=False)
class Held:
    """A request of the process."""

    peer: int
    event: Event
    answer: asyncio.Future[Document]
    correlation_id: int | None = None
    """Of the step that has shown it; None while none has."""
    since: float = field(default_factory=time.monotonic)

    @property
    def kind(self) -> str:
        """What a trace calls it."""
        return TRACED_NAMES[f"{self.event.api}Request"]

    @property
    def name(self) -> str:
        """What tells it from the other outputs of a step."""
        return f"Send {self.kind} to {self.peer}"

    @property
    def is_fetch(self) -> bool:
        """Whether it is polled for on its own."""
        return self.event.api in ("Fetch", "FetchSnapshot")


class Holding:
    """All of them, the oldest first."""

    def __init__(self) -> None:
        self.all: list[Held] = []
        self._connections: set[object] = set()

    def answer_of(self, peer: Peer) -> Answer:
        """How a peer answers from now on: when it is told to."""

        async def hold(event: Event) -> Document:
            if event.api == "ApiVersions" and event.body.get("clientSoftwareName") == _KAFKA_LIBRARY:
                # Kafka's library asks on each connection that it opens, before it sends what that is for.
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
        """Those that no step has shown."""
        return [one for one in self.all if one.correlation_id is None]

    def hang_up(self, which: Iterable[Held]) -> None:
        """Close the connections on which these were asked."""
        for held in which:
            self.all.remove(held)
            held.answer.cancel()

    def tell(self, held: Held, body: Document) -> None:
        """Answer one."""
        self.all.remove(held)
        if not held.answer.done():
            held.answer.set_result(body)

    def put_off(self, which: Iterable[Held]) -> None:
        """Answer what nobody waits for any more, or not yet: it changes nothing, and a Fetch comes again."""
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
        """What is held keeps the connection busy on which a wanted request would come, or the process waiting."""
        there = {one.name for one in self.unshown}
        missing = [one for one in wanted if "Request to " in one and one not in there]
        if not missing:
            return
        now = time.monotonic()
        early = [one for one in self.unshown if one.event.api == "Fetch" and one.name not in wanted]
        self.put_off([one for one in early if now - one.since > _PAUSE_S])
        # The reference has one request out to a receiver: what is still held of an earlier one is given up.
        receivers = {int(one.rpartition(" ")[2]) for one in missing}
        self.put_off([one for one in self.all if one.correlation_id is not None and one.peer in receivers])
