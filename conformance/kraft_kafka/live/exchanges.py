"""Messages between a simulated replica and its mock peers, in a vector's form and on the wire."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import msgspec

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_kafka.live.bench import Bench
from kraft_kafka.live.holding import Holding
from kraft_kafka.live.peers import Peer, api_keys
from kraft_kafka.live.translating import Translation
from kraft_kafka.live.vector_process import QuorumStateFile
from kraft_kafka.node.exchanges import VERSIONS
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.trace_links import kafka_name
from kraft_kafka.wire.translation import from_kafka, to_kafka
from kraft_reference.messages import Error
from kraft_reference.roles import Role
from kraft_traces.effects import TracedEffect, TracedSend

_HIGHEST = {**VERSIONS, "AddRaftVoter": 1, "ApiVersions": 4}
"""Versions in which Fetch names the fetching replica, and ApiVersions has features from level 0 on."""
_WAITING = ("AddVoterRequest", "RemoveVoterRequest", "UpdateVoterRequest")
"""Requests whose response may take long."""


class Unsupported(Exception):  # noqa: N818 - carried to the runner
    """A vector's step cannot be done to a process, or its timers leave no time for it."""


class Exchanges:
    """Requests and responses in both directions, and the effects to report for them."""

    def __init__(self, shadow: ReferenceAdapter, bench: Bench, places: Translation, holding: Holding, id_: int) -> None:
        """Set the replica's id; `shadow` is the reference that runs in parallel with the process."""
        self._shadow, self._bench, self._places, self._holding, self._id = shadow, bench, places, holding, id_
        self.file: QuorumStateFile
        """Set once the process has started."""
        self.seen: list[TracedEffect] = []
        """Effects that were observed but not reported yet."""
        self.failures: list[BaseException] = []
        """Failures of background tasks."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._given_up: set[tuple[int, int | None]] = set()
        """Receiver and correlation id of requests whose connection broke."""
        self._made_to_commit = -1
        """Offset up to which the process has committed earlier than the reference."""

    def close(self) -> None:
        self._holding.hang_up([*self._holding.all])
        for task in self._tasks:
            task.cancel()

    def look(self) -> None:
        """Record the changes of the quorum-state file."""
        self.seen += self.file.news()

    def take(self) -> tuple[TracedEffect, ...]:
        """Return the effects observed since the last call."""
        taken, self.seen = tuple(self.seen), []
        return taken

    def give_up(self, to: int) -> None:
        """Close the connections of requests that wait for a peer."""
        dropped = [held for held in self._holding.all if held.peer == to and held.correlation_id is not None]
        self._given_up |= {(to, held.correlation_id) for held in dropped}
        self._holding.hang_up(dropped)

    def sent(self, message: Document, to: int) -> TracedEffect:
        fields = self._places.from_local(message) | {"source": self._id, "destination": to}
        return msgspec.convert({"kind": "Send", "message": fields}, TracedSend)

    async def leader_ends(self) -> None:
        """Make the fetch timer fire at once: the leader sends EndQuorumEpoch and prefers the replica."""
        state = self._shadow.replica().state
        if state.role is not Role.PROSPECTIVE or state.leader_id is None:
            raise Unsupported("a fetch timer that does not make it Prospective")
        leader, epoch, key = state.leader_id, state.epoch, state.key
        peer = self._bench.peers.get(leader)
        if peer is None:
            raise Unsupported("the fetch timer of a replica whose leader is not acted")
        self._holding.put_off([held for held in self._holding.unshown if held.event.api == "Fetch"])
        body: Document = {
            "type": "EndQuorumEpochRequest",
            "source": leader,
            "destination": self._id,
            "correlation_id": 0,
            "cluster_id": self._shadow.replica().configuration.cluster_id,
            "epoch": epoch,
            "preferred_candidates": [{"id": key.id, "directory_id": key.directory_id}],
        }
        await self.exchange(peer, body)

    async def commit(self, end_offset: int, epoch: int, local_end: int) -> None:
        """Make the log commit, because Kafka's controller writes nothing for a client before."""
        shadow = self._shadow.replica()
        self._made_to_commit = end_offset
        peers = sorted(voter.id for voter in shadow.state.voters if voter.id in self._bench.peers)
        for peer in peers[: len(shadow.state.voters) // 2]:
            key = shadow.configuration.replicas[peer].key
            body: Document = {"type": "FetchRequest", "source": peer, "destination": self._id, "epoch": epoch}
            body |= {"cluster_id": shadow.configuration.cluster_id, "correlation_id": 0, "last_epoch": epoch}
            body |= {"replica_key": {"id": peer, "directory_id": key.directory_id}}
            body |= self._places.from_local({"fetch_offset": local_end})
            await self.exchange(self._bench.peers[peer], body)

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work in the background, because a response may wait for a commit."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failures.append(error)

    async def client(self, request: Document, number: int) -> None:
        answer = await self.exchange(self._connect(0), request)
        self.look()
        fields = self.file.said
        leader = None if fields["leaderId"] < 0 else fields["leaderId"]
        reply = {"request": number, "error": answer["error"], "epoch": fields["leaderEpoch"], "leader_id": leader}
        reply["leader_endpoint"] = None if leader is None else self._places.endpoints.get(leader)
        self.seen.append(msgspec.convert({"kind": "Answer", "reply": reply}, TracedEffect))

    async def ask(self, message: Document) -> None:
        source = message["source"]
        peer = self._connect(source) if message["type"] in _WAITING else self._bench.peers[source]
        answer = await self.exchange(peer, message)
        # The file's current contents were written before the response was sent.
        self.look()
        self.seen.append(self.sent(answer | {"correlation_id": message["correlation_id"]}, source))

    def _connect(self, id_: int) -> Peer:
        """Return a peer, or client 0, with a connection of its own."""
        return Peer(self._bench.log, id_, 0, ("127.0.0.1", self._places.ports[self._id]))

    async def exchange(self, peer: Peer, message: Document) -> Document:
        """Send a peer's request and return the fields of the response."""
        name = message["type"]
        api = kafka_name(name).removesuffix("Request")
        version = self._bench.version(api, _HIGHEST[api])
        if api == "AddRaftVoter" and version == 0 and not message["when_committed"]:
            raise Unsupported("it does not offer AddRaftVoter version 1")
        body = to_kafka(self._places.to_local(message), version)[1]["body"]
        event = await peer.ask(api, version, body)
        answer = from_kafka(name.replace("Request", "Response"), version, {"header": {}, "body": event.body})
        if [] in (event.body.get("topics"), event.body.get("responses")):
            # A top-level error response has no leader, so no endpoint.
            answer.pop("leader_endpoint", None)
        if name == "VoteRequest" and event.part:
            # Kafka's response has no such field, so it comes from the request.
            answer["pre_vote"] = message["pre_vote"]
        if name == "FetchRequest" and event.part:
            answer["records"] = self._places.records(event.part.get("records"))
            if self._shadow.replica().state.high_watermark < self._made_to_commit:
                # The process has committed earlier than the reference.
                answer.pop("high_watermark", None)
        return answer

    def tell(self, message: Document) -> None:
        """Answer a request of the process."""
        api = kafka_name(message["type"]).removesuffix("Response")
        place = (message["source"], message["correlation_id"])
        matching = [it for it in self._holding.all if (it.peer, it.correlation_id) == place and it.event.api == api]
        request = matching[0] if matching else None
        if request is None and place in self._given_up:
            # Its connection is closed, so a late response cannot arrive.
            return
        if request is None:
            raise Unsupported(f"it waits for no such answer of replica {place[0]} to {api}")
        if message.get("error") == Error.UNSUPPORTED_VERSION:
            raise Unsupported("a version that is not there shows before a request is sent")
        if api == "Vote" and message["pre_vote"] != request.event.part.get("preVote"):
            raise Unsupported("no field of a Vote response says which kind of vote it is about")
        hidden, end = self._places.hidden, self._shadow.replica().state.log.end_offset
        if hidden is not None and message.get("diverging_end_offset", -1) >= 0 and end <= hidden:
            raise Unsupported("it would have to cut off a record that its controller has written by itself")
        body = to_kafka(self._places.to_local(message), request.event.version)[1]["body"]
        if api == "Fetch" and message.get("records"):
            raw = self._places.batches(request.event.part["fetchOffset"], message["records"])
            body["responses"][0]["partitions"][0]["records"] = raw
        if api == "ApiVersions":
            body["apiKeys"] = api_keys(self._bench.peers[message["source"]].offered)
        self._holding.tell(request, body)
