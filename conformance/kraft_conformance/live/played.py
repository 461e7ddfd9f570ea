"""The replica of a vector, played by a process among acted peers.

What happens to a replica from outside is done: messages, answers, connections that break, kill -9, a client's request.
Its polls it does by itself, and what it has sent is held until the vector polls.  Its timers cannot be fired: the one
of an election is waited for, and that of a Fetch fires at once when the leader ends and prefers the replica.  Whatever
else happens within a replica is unsupported.

The reference stands beside it, to know for what to wait, and how an election is told from none.  What is shown is what
was seen.
"""

import asyncio
import shutil
import time
from collections.abc import Collection, Coroutine, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.live.bench import Bench, Setup
from kraft_conformance.live.holding import Held, Holding
from kraft_conformance.live.peers import Peer
from kraft_conformance.live.process import Commands, Process, Timeouts
from kraft_conformance.live.translating import CONFIG_KEY, OLDEST_METADATA_VERSION, Translation, config_value
from kraft_conformance.node.disk import format_folder
from kraft_conformance.node.exchanges import VERSIONS
from kraft_conformance.protocol.cluster import configuration_from
from kraft_conformance.protocol.messages import Crash, Reset, Restart, Step, StepReply
from kraft_conformance.runner.comparison import effect_name
from kraft_conformance.wire.connections import Connection
from kraft_conformance.wire.decoding import Document
from kraft_conformance.wire.errors import WireError
from kraft_conformance.wire.other_requests import encode_other_request
from kraft_conformance.wire.quorum_state import DATA_VERSION
from kraft_conformance.wire.schema import NULL_UUID
from kraft_conformance.wire.snapshot_files import encode_snapshot
from kraft_conformance.wire.trace_links import kafka_name
from kraft_conformance.wire.translation import directory_of, from_kafka, to_kafka
from kraft_reference.configuration import Configuration
from kraft_reference.log import Snapshot
from kraft_reference.messages import Error
from kraft_reference.polling import due_election_requests
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_traces.effects import TracedAnswer, TracedEffect, TracedPersistQuorumState, TracedSend

_ELECTION_MS = 3000
"""Long enough for what a vector does until its next election timeout, and short enough to be waited for."""
_TIMEOUTS = Timeouts(election=_ELECTION_MS, backoff=100, fetch=120_000, request=60_000)
_TIMED = frozenset([Role.UNATTACHED, Role.PROSPECTIVE, Role.CANDIDATE, Role.RESIGNED])
"""Roles with an election timer."""
_WAIT_S = 4.0
"""For what the reference does at once."""
_TIMER_S = 20.0
"""For a timer or an answer: nothing that has a timeout of three seconds takes so long."""
_QUIET_S = 0.06
"""For what the reference does not do."""
_CLIENT_S = 5.0
"""For a controller to write a record for a client."""
_HIGHEST = {**VERSIONS, "AddRaftVoter": 1, "ApiVersions": 4}
"""From these on a Fetch tells who asks; ApiVersions tells of features from level 0 on."""
_WAITING = ("AddVoterRequest", "RemoveVoterRequest", "UpdateVoterRequest")
"""What may be answered long after it was asked."""
_ALTER_CONFIGS, _BROKER = 44, 4


class Unsupported(Exception):  # noqa: N818 - carried to the runner
    """It cannot be done to a process, or its timers leave no time for it."""


class _VectorProcess(Process):
    """The replica of a vector, on a disk that is written here: the vector says what is on it."""

    def __init__(
        self, commands: Commands, home: Path, ports: dict[int, int], cluster: Configuration, replica: int
    ) -> None:
        static = ",".join(f"{one}@127.0.0.1:{ports[one]}" for one in sorted(voter.id for voter in cluster.voters))
        more = "" if cluster.kraft_version else f"controller.quorum.voters={static}\n"
        super().__init__(commands, home, ports, cluster.bootstrap_server_ids(replica) or (replica,), more, replica)
        self._cluster = cluster

    def format(self, timeouts: Timeouts) -> None:
        self.configure(timeouts)
        key, formatted = self._cluster.replicas[self.replica].key, self._cluster.checkpoint(self.replica)
        shutil.rmtree(self.data, ignore_errors=True)
        format_folder(self.data, self._cluster.cluster_id, key, formatted if formatted.kraft_version else None)
        bootstrap = encode_snapshot(Snapshot(0, 0, 0, frozenset()), [OLDEST_METADATA_VERSION], 0)
        (self.data / "bootstrap.checkpoint").write_bytes(bootstrap)


class PlayedReplica:
    """One process with its acted peers, for one vector."""

    def __init__(self, request: Reset, commands: Commands, home: Path) -> None:
        """Not started yet; `home` becomes a folder."""
        self._shadow = ReferenceAdapter()
        self._shadow.answer(request)
        self._places = Translation({one.id: one.endpoint for one in request.cluster.replicas})
        self._directories = {one.id: one.directory_id for one in request.cluster.replicas}
        cluster = configuration_from(self._places.cluster(request.cluster))
        self.id = request.replica
        if cluster.replicas[self.id].key.directory_id is None:
            raise Unsupported("a disk without a directory id")
        if cluster.replicas[self.id].auto_join:
            raise Unsupported("a replica that joins by itself does so when a timer of its own fires")
        process = _VectorProcess(commands, home, self._places.ports, cluster, self.id)
        self._process, self._bench = process, Bench(Setup(_TIMEOUTS), self._places.ports, process)
        for peer in self._bench.peers.values():
            peer.kraft_versions = (cluster.replicas[peer.id].min_version, cluster.replicas[peer.id].max_version)
        self._holding = Holding()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures: list[BaseException] = []
        """Of tasks."""
        self._seen: list[TracedEffect] = []
        """What was told to others, or written, and is not shown yet."""
        self._given_up: set[tuple[int, int | None]] = set()
        """Receiver and correlation id of requests whose connection broke."""
        self._file: Document = {}
        self._is_stopped, self._has_led = False, False
        self._made_to_commit = -1
        """The offset up to which it has committed before its time."""
        self._timer_since = 0.0
        """When an election timer may have started that runs now."""

    @property
    def _state(self) -> ReplicaState:
        """That of the reference."""
        return self._shadow.replica().state

    async def start(self) -> None:
        """Format its disk, and start it.

        Raises:
            LaunchError: it does not start.
            OSError: a port is taken.
        """
        await self._bench.open()
        for peer in self._bench.peers.values():
            peer.answers = dict.fromkeys(peer.offered, self._holding.answer_of(peer))
        self._timer_since, self._file = time.monotonic(), self._quorum_state()

    async def close(self) -> None:
        """End it, and leave nothing behind."""
        self._holding.hang_up([*self._holding.all])
        for task in self._tasks:
            task.cancel()
        await self._bench.close()
        shutil.rmtree(self._process.home, ignore_errors=True)

    def died(self) -> str | UnsetType:
        """Of what it has ended by itself."""
        if self._process.is_alive or self._is_stopped:
            return UNSET
        said = self._process.said().strip()
        return next((line.strip() for line in said.splitlines() if "Exception" in line), said[-200:]) or "it ended"

    def crash(self, request: Crash) -> None:
        """Kill -9.

        Raises:
            Unsupported: less of the log is to survive than was written.
        """
        _, end = self._process.log_end()
        self._bench.kill()
        self._is_stopped = True
        self._holding.hang_up([*self._holding.all])
        self._shadow.answer(request)
        if request.log_end_offset < end:
            raise Unsupported(f"kill -9 loses nothing of the {end} records that were written")

    async def restart(self, request: Restart) -> tuple[TracedEffect, ...]:
        """Start it again on its disk.

        Raises:
            LaunchError: it does not start.
        """
        if request.endpoint is not None:
            raise Unsupported("a process that listens elsewhere")
        self._shadow.answer(request)
        await self._process.start()
        self._is_stopped, self._timer_since = False, time.monotonic()
        await self._settled((), ())
        return self._shown()

    # --- Steps ---------------------------------------------------------------------------------------------------

    async def step(self, step: Step) -> tuple[TracedEffect, ...]:
        """Let an event happen; what comes of it.

        Raises:
            Unsupported: it cannot happen to a process.
            NoAnswerError, LaunchError: the process does not answer.
        """
        before = self._state
        self._check_time(before.role, step)
        done = self._shadow.answer(step)
        assert isinstance(done, StepReply)
        after = self._state
        wanted = {effect_name(one) for one in done.effects if isinstance(one, TracedSend | TracedAnswer)}
        seconds = _TIMER_S if step.event.endswith("Request") else _WAIT_S
        if step.event == "ElectionTimeout" or step.event == "FetchTimeout":
            kind = "BeginQuorumEpochRequest" if after.role is Role.LEADER else "VoteRequest"
            wanted = {f"Send {kind} to {voter.id}" for voter in due_election_requests(after)}
            seconds = _TIMER_S
            if not wanted:
                raise Unsupported(f"nothing on the wire says that the timer of {step.event} has fired")
        earlier = self._holding.unshown
        if step.event == "ElectionTimeout" and not all(one.is_fetch or _is_of(one, after, wanted) for one in earlier):
            raise Unsupported("it has sent by itself what the vector does not poll for")
        await self._act(step)
        if (before.role, before.epoch, before.leader_id) != (after.role, after.epoch, after.leader_id):
            self._holding.put_off(
                [one for one in earlier if one in self._holding.all and not _is_of(one, after, wanted)]
            )
        if before.role not in _TIMED or step.event == "ElectionTimeout":
            self._timer_since = time.monotonic()
        persisted = [one for one in done.effects if isinstance(one, TracedPersistQuorumState)]
        await self._settled(wanted, persisted, seconds)
        if self._failures and self._process.is_alive:
            raise self._failures.pop()
        has_committed = after.role is Role.LEADER and after.high_watermark > after.epoch_start_offset
        if has_committed and not self._has_led:
            await self._look_for_hidden()
        elif self._places.hidden is not None:
            self._places.hide(self._process.log())
        self._has_led = has_committed
        if step.event == "ElectionTimeout":
            self._timer_since = time.monotonic()
        else:
            self._check_time(after.role, step)
        requests = [*self._requests(step)]
        self._check_own_timers(wanted, requests)
        return (*self._shown(), *requests)

    def _shown(self) -> tuple[TracedEffect, ...]:
        shown, self._seen = tuple(self._seen), []
        return shown

    def _requests(self, step: Step) -> Iterator[TracedEffect]:
        """What is polled for: the Fetch to one destination, or all other requests."""
        to = step.input.destination if step.event == "PollFetch" and step.input is not UNSET else None
        polled = [one for one in self._holding.unshown if (one.peer == to if one.is_fetch else step.event == "Poll")]
        for held in polled:
            if held.is_fetch and held is not polled[-1]:
                # Kafka's client has two connections to a server that is a voter too, and may ask on both.
                self._holding.put_off([held])
            else:
                held.correlation_id = step.draw.correlation_id
                message = from_kafka(held.kind, held.event.version, {"header": {}, "body": held.event.body})
                yield self._sent(message | {"correlation_id": held.correlation_id}, held.peer)

    def _sent(self, message: Document, to: int) -> TracedEffect:
        fields = self._places.from_local(message) | {"source": self.id, "destination": to}
        return msgspec.convert({"kind": "Send", "message": fields}, TracedSend)

    def _check_time(self, role: Role, step: Step) -> None:
        """Raise `Unsupported` when an election timer may have fired by itself."""
        is_late = (time.monotonic() - self._timer_since) * 1000 > _ELECTION_MS
        if role in _TIMED and step.event != "ElectionTimeout" and is_late:
            raise Unsupported("an election timer may have fired before its time")

    def _check_own_timers(self, wanted: set[str], requests: list[TracedEffect]) -> None:
        """Raise `Unsupported` for what Kafka sends only when a long timer has fired."""
        late = wanted - {effect_name(one) for one in requests}
        if any(one.startswith(("Send UpdateVoterRequest", "Send AddVoterRequest")) for one in late):
            raise Unsupported("it reports itself when a timer of its own fires")

    async def _settled(
        self,
        wanted: Collection[str],
        persisted: Collection[TracedPersistQuorumState],
        seconds: float = _WAIT_S,
    ) -> None:
        """Wait for what the reference does, then a moment for what it does not."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._bench.is_up and not self._failures:
            there = {effect_name(one) for one in self._seen} | {one.name for one in self._holding.unshown}
            is_written = all(_says(self._quorum_state(), one) for one in persisted)
            if there.issuperset(wanted) and is_written:
                break
            self._holding.make_way(wanted)
            await asyncio.sleep(0.01)
        await asyncio.sleep(_QUIET_S)
        self._look_at_file()

    async def _act(self, step: Step) -> None:
        message: Document = {} if step.message is UNSET else msgspec.to_builtins(step.message)
        given: Document = {} if step.input is UNSET else msgspec.to_builtins(step.input)
        match step.event:
            case "Poll" | "PollFetch" | "ElectionTimeout":
                return
            case "FetchTimeout":
                await self._leader_ends()
            case "RequestTimeout":
                to = given["destination"]
                gone = [one for one in self._holding.all if one.peer == to and one.correlation_id is not None]
                self._given_up |= {(to, one.correlation_id) for one in gone}
                self._holding.hang_up(gone)
            case "ClientAppend":
                await self._append(given["value"])
            case "AddVoter" | "RemoveVoter":
                request = {"type": f"{step.event}Request", "source": 0, "destination": self.id}
                number = given.pop("request")
                version = self._bench.version(kafka_name(step.event), 1)
                if step.event == "AddVoter" and version == 0 and not given["when_committed"]:
                    raise Unsupported("it does not offer AddRaftVoter version 1")
                self._in_background(self._client(request | given | {"correlation_id": 0}, number))
            case event if event.endswith("Request"):
                if message["source"] not in self._bench.peers:
                    raise Unsupported(f"replica {message['source']} is none of the cluster's")
                self._in_background(self._ask(message))
            case event if event.endswith("Response"):
                self._tell(message)
            case event:
                raise Unsupported(f"{event} happens within a replica")

    async def _leader_ends(self) -> None:
        """The fetch timer fires at once: its leader ends, and would have it lead."""
        state = self._state
        if state.role is not Role.PROSPECTIVE or state.leader_id is None:
            raise Unsupported("a fetch timer that does not make it Prospective")
        leader, epoch, key = state.leader_id, state.epoch, state.key
        peer = self._bench.peers.get(leader)
        if peer is None:
            raise Unsupported("the fetch timer of a replica whose leader is not acted")
        self._holding.put_off([one for one in self._holding.unshown if one.event.api == "Fetch"])
        body: Document = {
            "type": "EndQuorumEpochRequest",
            "source": leader,
            "destination": self.id,
            "correlation_id": 0,
            "cluster_id": self._shadow.replica().configuration.cluster_id,
            "epoch": epoch,
            "preferred_candidates": [{"id": key.id, "directory_id": key.directory_id}],
        }
        await self._exchange(peer, body)

    async def _append(self, value: int) -> None:
        """A client has a record written: a configuration of all brokers."""
        if _ALTER_CONFIGS not in self._bench.versions:
            raise Unsupported("it does not offer IncrementalAlterConfigs, by which a client has a record written")
        state = self._state
        if state.high_watermark <= state.epoch_start_offset:
            await self._commit(state.log.end_offset - 1)
        _, before = self._process.log_end()
        one = {"name": CONFIG_KEY, "config_operation": 0, "value": config_value(value)}
        resources = [{"resource_type": _BROKER, "resource_name": "", "configs": [one]}]
        raw = encode_other_request(_ALTER_CONFIGS, 0, {"resources": resources, "validate_only": False})
        end = time.monotonic() + _CLIENT_S
        while time.monotonic() < end:
            connection = Connection("127.0.0.1", self._bench.ports[self.id], "kraft-spec")
            task = asyncio.ensure_future(self._written(connection, raw))
            self._tasks.add(task)
            # The answer comes when the record is committed, or at once if it is not written.
            while not task.done() and time.monotonic() < end:
                if self._process.log_end()[1] > before:
                    return
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
        raise Unsupported("its controller writes no record for a client now")

    @staticmethod
    async def _written(connection: Connection, raw: bytes) -> None:
        with suppress(OSError, EOFError, WireError):
            await connection.exchange(raw)

    async def _commit(self, end_offset: int) -> None:
        """Have what there is committed, before which Kafka's controller writes nothing for a client."""
        shadow = self._shadow.replica()
        self._made_to_commit = end_offset
        others = sorted(voter.id for voter in shadow.state.voters if voter.id in self._bench.peers)
        for one in others[: len(shadow.state.voters) // 2]:
            key = shadow.configuration.replicas[one].key
            epoch, offset = self._process.log_end()
            body: Document = {"type": "FetchRequest", "source": one, "destination": self.id, "epoch": epoch}
            body |= {"cluster_id": shadow.configuration.cluster_id, "correlation_id": 0, "last_epoch": epoch}
            body |= {"replica_key": {"id": one, "directory_id": key.directory_id}, "fetch_offset": offset}
            await self._exchange(self._bench.peers[one], body)
        await self._look_for_hidden()

    async def _look_for_hidden(self) -> None:
        """Once a leader has committed, its controller may write a record by itself."""
        self._has_led = True

        def is_there() -> bool:
            self._places.hide(self._process.log())
            return self._places.hidden is not None

        with suppress(WireError):
            await self._bench.eventually(is_there, _WAIT_S)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """An answer may have to wait for a commit."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failures.append(error)

    async def _client(self, request: Document, number: int) -> None:
        answer = await self._exchange(self._another(0), request)
        self._look_at_file()
        leader = None if self._file["leaderId"] < 0 else self._file["leaderId"]
        reply = {"request": number, "error": answer["error"], "epoch": self._file["leaderEpoch"], "leader_id": leader}
        reply["leader_endpoint"] = None if leader is None else self._places.endpoints.get(leader)
        self._seen.append(msgspec.convert({"kind": "Answer", "reply": reply}, TracedEffect))

    async def _ask(self, message: Document) -> None:
        source = message["source"]
        peer = self._another(source) if message["type"] in _WAITING else self._bench.peers[source]
        answer = await self._exchange(peer, message)
        # What the file says now was written before the answer was sent.
        self._look_at_file()
        self._seen.append(self._sent(answer | {"correlation_id": message["correlation_id"]}, source))

    def _another(self, id_: int) -> Peer:
        """A peer, or client 0, with a connection of its own."""
        return Peer(self._bench.log, id_, 0, ("127.0.0.1", self._places.ports[self.id]))

    async def _exchange(self, peer: Peer, message: Document) -> Document:
        """The fields of the answer to a request of a peer."""
        name = message["type"]
        api = kafka_name(name).removesuffix("Request")
        version = self._bench.version(api, _HIGHEST[api])
        body = to_kafka(self._places.to_local(message), version)[1]["body"]
        event = await peer.ask(api, version, body)
        answer = from_kafka(name.replace("Request", "Response"), version, {"header": {}, "body": event.body})
        if [] in (event.body.get("topics"), event.body.get("responses")):
            # Such an answer has no leader to have an endpoint.
            answer.pop("leader_endpoint", None)
        if name == "VoteRequest" and event.part:
            # No field of Kafka's: the request says it.
            answer["pre_vote"] = message["pre_vote"]
        if name == "FetchRequest" and event.part:
            answer["records"] = self._places.records(event.part.get("records"))
            if self._state.high_watermark < self._made_to_commit:
                # It was made to commit before its time.
                answer.pop("high_watermark", None)
        return answer

    def _tell(self, message: Document) -> None:
        """Answer what it has asked."""
        api = kafka_name(message["type"]).removesuffix("Response")
        place = (message["source"], message["correlation_id"])
        held = [one for one in self._holding.all if (one.peer, one.correlation_id) == place and one.event.api == api]
        asked = held[0] if held else None
        if asked is None and place in self._given_up:
            # Its connection is gone: an answer that comes later arrives nowhere.
            return
        if asked is None:
            raise Unsupported(f"it waits for no such answer of replica {place[0]} to {api}")
        if message.get("error") == Error.UNSUPPORTED_VERSION:
            raise Unsupported("a version that is not there shows before a request is sent")
        if api == "Vote" and message["pre_vote"] != asked.event.part.get("preVote"):
            raise Unsupported("no field of a Vote response says which kind of vote it is about")
        if self._places.hidden is not None and 0 <= message.get("diverging_end_offset", -1) <= self._places.hidden:
            raise Unsupported("it would have to cut off a record that its controller has written by itself")
        body = to_kafka(self._places.to_local(message), asked.event.version)[1]["body"]
        if api == "Fetch" and message.get("records"):
            raw = self._places.batches(asked.event.part["fetchOffset"], message["records"])
            body["responses"][0]["partitions"][0]["records"] = raw
        if api == "ApiVersions":
            body["apiKeys"] = self._bench.peers[message["source"]].api_keys()
        self._holding.tell(asked, body)

    # --- Its file ------------------------------------------------------------------------------------------------

    def _quorum_state(self) -> Document:
        try:
            return self._bench.quorum_state()
        except WireError:
            return self._file

    def _look_at_file(self) -> None:
        now = self._quorum_state()
        if now != self._file:
            self._file = now
            voted = now["votedId"]
            key = {"id": voted, "directory_id": directory_of(now.get("votedDirectoryId", NULL_UUID))}
            if "votedDirectoryId" not in now and voted in self._directories:
                # No field of version 0: what the cluster says of this voter.
                key["directory_id"] = self._directories[voted]
            self._seen.append(
                msgspec.convert(
                    {
                        "kind": "PersistQuorumState",
                        "epoch": now["leaderEpoch"],
                        "leader_id": None if now["leaderId"] < 0 else now["leaderId"],
                        "voted_key": None if voted < 0 else key,
                        "version": now[DATA_VERSION],
                    },
                    TracedPersistQuorumState,
                )
            )


def _is_of(held: Held, state: ReplicaState, wanted: Collection[str]) -> bool:
    """Whether it is a Vote of an election that the reference begins now: a timer may be ahead of its vector."""
    part = held.event.part
    is_pre_vote = state.role is Role.PROSPECTIVE
    return held.name in wanted and (part.get("replicaEpoch"), part.get("preVote")) == (state.epoch, is_pre_vote)


def _says(file: Document, written: TracedPersistQuorumState) -> bool:
    """Whether the file has it by now; a leader's own vote, and directory ids, are not waited for."""
    leader = -1 if written.leader_id is None else written.leader_id
    voted = -1 if written.voted_key is None else written.voted_key.id
    has_leader = (file["leaderEpoch"], file["leaderId"]) == (written.epoch, leader)
    return has_leader and (file["votedId"] == voted or voted == leader)
