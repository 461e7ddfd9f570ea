"""A quorum of reference nodes and Kafka's controllers as processes, with faults and a recording proxy between them.

The run's folder has the plan, the capture, and each replica's properties, disk and output.
"""

import asyncio
import shlex
import sys
import time
from collections.abc import Callable
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import msgspec
from msgspec import Struct

from kraft_kafka.agent.building import agent_jar
from kraft_kafka.live.bodies import describe_quorum
from kraft_kafka.live.capture import SCHEMA, CapturedNode, CaptureHeader, CaptureWriter
from kraft_kafka.live.faults import Fault, FaultKind
from kraft_kafka.live.kafka import kafka_commands
from kraft_kafka.live.process import CLUSTER_ID, Commands, LaunchError, Process, Timeouts, free_ports
from kraft_kafka.live.recording import Recorder, Route
from kraft_kafka.node.serving import sender_of
from kraft_kafka.wire.connections import UNANSWERED, Connection
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.frames import decode_request

PLAN, DONE, CAPTURE = "plan.json", "done.json", "quorum.capture"
_AGENT = "agent"
AGENT_FILES = f"replica-*/{_AGENT}/*.raw.jsonl"
"""Files of the agent in Kafka's controllers, below the run's folder."""
_ASK_S = 1.0
_CHANGE_S = 20.0
_LEADER_S = 60.0
"""Time limit for an election, at the beginning and the end: no rule has a limit, and a machine may be busy."""
_POLL_S = 0.25
_KAFKA = "metadata.max.idle.interval.ms=500\n"
"""Two no-op records a second, so that there are records to replicate."""

Say = Callable[[str], None]


class Plan(Struct, frozen=True):
    """Plan of a run."""

    voters: tuple[int, ...]
    others: tuple[int, ...]
    """Replicas that begin as observers."""
    kafka: dict[int, str]
    """Releases, or folders of jars, of Kafka's controllers; the other replicas are nodes."""
    profile: str
    faults: tuple[Fault, ...]
    seconds: float
    seed: int
    mutants: dict[int, list[str]] = {}
    """Mutants of nodes."""

    @property
    def replicas(self) -> tuple[int, ...]:
        return (*self.voters, *self.others)


class Done(Struct, frozen=True):
    """A fault, or an observation."""

    at_ms: int
    """Milliseconds after the first election."""
    what: str


class Ran(Struct, frozen=True):
    """Result of a run."""

    done: tuple[Done, ...]
    has_leader: bool
    """True if there is a leader at the end."""
    clock_offset_us: int
    """The agent's clock minus that of the nodes' traces, in microseconds."""


def read_plan(folder: Path) -> Plan:
    """Read the plan of a run.

    Raises:
        OSError, msgspec.MsgspecError: there is none.
    """
    return msgspec.json.decode((folder / PLAN).read_bytes(), type=Plan)


def read_done(folder: Path) -> Ran:
    """Read the result of a run.

    Raises:
        OSError, msgspec.MsgspecError: the run did not end.
    """
    return msgspec.json.decode((folder / DONE).read_bytes(), type=Ran)


class Quorum:
    """The processes of a quorum, and the proxy between them."""

    def __init__(self, plan: Plan, folder: Path, say: Say) -> None:
        """Prepare the processes; nothing runs yet.

        Raises:
            KafkaUnavailableError, JavaMissing: Kafka cannot run.
        """
        self.plan, self.folder, self._say = plan, folder, say
        ports = free_ports(2 * len(plan.replicas))
        self._advertised = dict(zip(plan.replicas, ports, strict=False))
        own = dict(zip(plan.replicas, ports[len(plan.replicas) :], strict=True))
        self.processes = {
            id_: Process(
                _node_commands(plan, id_) if id_ not in plan.kafka else _controller_commands(plan, id_, folder),
                folder / f"replica-{id_}",
                self._advertised,
                plan.voters,
                _KAFKA if id_ in plan.kafka else "",
                id_,
                own[id_],
            )
            for id_ in plan.replicas
        }
        self._away: set[int] = set()
        """Replicas that are killed or paused."""
        self._cut: set[int] = set()
        self._zero = time.monotonic()
        self._done: list[Done] = []
        self._has_leader = False

    async def run(self) -> None:
        """Run the plan, from formatting to the end of all processes.

        Raises:
            LaunchError: a process does not start, or there is no leader.
            OSError: a port is taken, or the folder cannot be written.
        """
        self._write(PLAN, self.plan)
        self._say(f"formatting {len(self.processes)} disks")
        await asyncio.gather(*(asyncio.to_thread(process.format, Timeouts()) for process in self.processes.values()))
        with (self.folder / CAPTURE).open("xb", buffering=0) as stream:
            nodes = tuple(
                CapturedNode(id=id_, endpoint=f"127.0.0.1:{port}", directory_id=self.processes[id_].directory_id())
                for id_, port in self._advertised.items()
            )
            generator = f"kraft-spec {version('kraft-spec')}"
            header = CaptureHeader(schema=SCHEMA, generator=generator, nodes=nodes, cluster_id=CLUSTER_ID)
            routes = tuple(
                Route(id_, ("127.0.0.1", port), ("127.0.0.1", self.processes[id_].port))
                for id_, port in self._advertised.items()
            )
            recorder = Recorder(routes, CaptureWriter(stream, header), {}, passes=self._passes)
            try:
                await recorder.start()
                await self._run_plan()
                # A killed process would lose the agent's newest lines.
                controllers = [self.processes[id_] for id_ in self.plan.kafka]
                await asyncio.gather(*(asyncio.to_thread(process.terminate) for process in controllers))
            finally:
                for process in self.processes.values():
                    process.kill()
                await recorder.stop()
                recorder.end()
                self._write(DONE, Ran(tuple(self._done), self._has_leader, _clock_offset_us()))
        if recorder.failure is not None:
            raise recorder.failure

    def _write(self, name: str, document: Struct) -> None:
        (self.folder / name).write_bytes(msgspec.json.format(msgspec.json.encode(document)) + b"\n")

    async def _run_plan(self) -> None:
        self._say("starting the voters")
        await asyncio.gather(*map(self._start, self.plan.voters))
        if (leader := await self._await_leader()) is None:
            raise LaunchError(f"no leader for {_LEADER_S:.0f} s")
        await asyncio.gather(*map(self._start, self.plan.others))
        self._zero = time.monotonic()
        self._note(f"{self._named(leader)} leads")
        watch = asyncio.create_task(self._watch(leader))
        try:
            async with asyncio.TaskGroup() as tasks:
                for fault in self.plan.faults:
                    tasks.create_task(self._inject(fault))
                tasks.create_task(asyncio.sleep(self.plan.seconds))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            watch.cancel()
        last = await self._await_leader()
        self._has_leader = last is not None
        self._note("no leader at the end" if last is None else f"{self._named(last)} leads at the end")

    async def _start(self, replica: int) -> None:
        await self.processes[replica].start()

    def _note(self, text: str) -> None:
        self._done.append(Done(int((time.monotonic() - self._zero) * 1000), text))
        self._say(f"{self._done[-1].at_ms / 1000:6.1f} s  {text}")

    def _named(self, replica: int) -> str:
        return f"{replica} (Kafka)" if replica in self.plan.kafka else str(replica)

    # Faults.

    def _passes(self, node: int, frame: bytes) -> bool:
        if not self._cut:
            return True
        try:
            sender = sender_of(decode_request(frame, is_lenient=True))
        except WireError:
            return True
        return not self._cut.intersection((node, sender))

    async def _inject(self, fault: Fault) -> None:
        await asyncio.sleep(fault.at_ms / 1000)
        replica = fault.replica or await self._await_leader()
        if replica is None:
            self._note(f"{fault.kind} the leader: left out, there is none")
            return
        if fault.kind is FaultKind.VOTERS:
            await self._change_voters(replica)
            return
        if replica in self._away | self._cut:
            self._note(f"{fault.kind} {self._named(replica)}: left out, it has another fault")
            return
        (self._cut if fault.kind is FaultKind.CUT else self._away).add(replica)
        self._note(f"{fault.kind} {self._named(replica)}")
        process = self.processes[replica]
        if fault.kind is FaultKind.KILL:
            process.kill()
        elif fault.kind is FaultKind.STOP:
            process.pause()
        await asyncio.sleep(fault.lasts_ms / 1000)
        if fault.kind is FaultKind.KILL:
            await self._start(replica)
        elif fault.kind is FaultKind.STOP:
            process.resume()
        self._away.discard(replica)
        self._cut.discard(replica)
        self._note(f"{self._named(replica)} is back")

    async def _change_voters(self, replica: int) -> None:
        """Add a replica outside the voter set; if there is none, remove this one."""
        leader = await self._await_leader()
        if leader is None:
            self._note("voters: left out, nobody leads")
            return
        try:
            voters = {voter["replicaId"] for voter in (await self._describe(leader))["currentVoters"]}
        except UNANSWERED:
            self._note(f"voters: left out, {self._named(leader)} does not answer")
            return
        added = next((id_ for id_ in self.plan.replicas if id_ not in voters), None)
        changed = replica if added is None else added
        directory = self.processes[changed].directory_id()
        body: Document = {"clusterId": CLUSTER_ID, "voterId": changed, "voterDirectoryId": directory}
        name, version_ = "RemoveRaftVoter", 0
        if added is not None:
            name, listener = "AddRaftVoter", {"name": "CONTROLLER", "host": "127.0.0.1"}
            body |= {"timeoutMs": 10_000, "listeners": [listener | {"port": self._advertised[added]}]}
        self._note(f"{'remove' if added is None else 'add'} voter {self._named(changed)}")
        try:
            answer = await self._ask(leader, name, version_, body, _CHANGE_S)
        except UNANSWERED:
            self._note(f"voter {changed}: no answer")
            return
        code = answer["errorCode"]
        self._note(f"voter {changed}: {'done' if code == 0 else f'error {code}'}")

    # Requests.

    async def _ask(self, replica: int, api: str, version_: int, body: Document, seconds: float) -> Document:
        with closing(Connection("127.0.0.1", self.processes[replica].port, "kraft-spec-quorum")) as connection:
            async with asyncio.timeout(seconds):
                return (await connection.ask(api, version_, body)).body

    async def _describe(self, replica: int) -> Document:
        answer = await self._ask(replica, "DescribeQuorum", 2, describe_quorum(), _ASK_S)
        described: Document = answer["topics"][0]["partitions"][0]
        return described

    async def _led_epoch(self, replica: int) -> int:
        """Return the epoch that a replica leads with a high watermark; 0 if it does not lead."""
        if replica in self._away | self._cut or not self.processes[replica].is_alive:
            return 0
        try:
            partition = await self._describe(replica)
        except UNANSWERED:
            return 0
        return int(partition["leaderEpoch"]) if partition["errorCode"] == 0 and partition["highWatermark"] > 0 else 0

    async def _find_leader(self) -> int | None:
        epochs = await asyncio.gather(*map(self._led_epoch, self.processes))
        return max(zip(epochs, self.processes, strict=True))[1] if any(epochs) else None

    async def _await_leader(self) -> int | None:
        """Return the leader; None if there is none for a minute."""
        end = time.monotonic() + _LEADER_S
        while time.monotonic() < end:
            if (leader := await self._find_leader()) is not None:
                return leader
            await asyncio.sleep(_POLL_S)
        return None

    async def _watch(self, leader: int) -> None:
        """Note each change of the leader."""
        while True:
            await asyncio.sleep(_POLL_S)
            now = await self._find_leader()
            if now is not None and now != leader:
                leader = now
                self._note(f"{self._named(leader)} leads")


def _node_commands(plan: Plan, replica: int) -> Commands:
    node = [sys.executable, "-m", "kraft_cli.cli", "node"]
    mutants = [word for name in plan.mutants.get(replica, ()) for word in ("--mutant", name)]
    start = [*node, "run", "-c", "{properties}", "--profile", plan.profile, *mutants]
    return Commands(
        shlex.join(start), shlex.join([*node, "format", "-t", "{cluster_id}", "-c", "{properties}", "{initial}"])
    )


def _controller_commands(plan: Plan, replica: int, folder: Path) -> Commands:
    agent = f"-javaagent:{agent_jar()}={folder / f'replica-{replica}' / _AGENT}"
    return kafka_commands(plan.kafka[replica], (agent,))


def _clock_offset_us() -> int:
    return (time.time_ns() - time.monotonic_ns()) // 1000
