"""A node: the reference with a clock, a disk and connections.

Each event is processed to its end: the trace has its line and durable effects are on disk before messages are sent and
timers start.  Rules: durable.write-before-act, vote.persist-before-reply.
"""

import asyncio
import itertools
import random
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from kraft_kafka.node.disk import Disk
from kraft_kafka.node.exchanges import CLIENT, Received, exchange, fetch_wait_ms
from kraft_kafka.node.image import counted
from kraft_kafka.node.metadata import METADATA_VERSION_RECORD, says_metadata_version
from kraft_kafka.node.settings import NodeProperties
from kraft_kafka.node.trace import NodeTrace
from kraft_kafka.wire.connections import UNANSWERED, Connection
from kraft_kafka.wire.log_records import number_of
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.describe import FetchTimes, with_fetch
from kraft_reference.effects import TIMERS, Answer, Effect, Send, StartTimer, Timer
from kraft_reference.events import (
    ClientAppend,
    Draw,
    Event,
    Poll,
    PollFetch,
    Receive,
    RequestTimeout,
    Restart,
    Shutdown,
    TakeSnapshot,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import REQUESTS, FetchRequest, FetchResponse, Message, QuorumResponse, Reply, Request
from kraft_reference.polling import due_change_request, due_election_requests, due_fetch_targets
from kraft_reference.profile import Profile
from kraft_reference.replica import Replica, Step
from kraft_reference.roles import Role
from kraft_reference.timers import TIMER_EVENTS
from kraft_simulation.world import MakeReplica

_BACKOFF_S = 0.05
"""Pause after a request that failed, or got an error, before the next to the same replica."""


def wall_clock_ms() -> int:
    """Return milliseconds since 1970, which operators see."""
    return int(time.time() * 1000)


def configuration_of(
    properties: NodeProperties, disk: Disk, profile: Profile, bootstrap: Mapping[int, str], version: int
) -> Configuration:
    """Return the node's configuration of its cluster; it adds replicas that it learns of to the mapping later.

    Args:
        properties: the node's properties.
        disk: the node's disk.
        profile: the decisions on open points.
        bootstrap: endpoints of the bootstrap servers, by id.
        version: the kraft.version that the node was formatted with.
    """
    details = disk.state.log.voters[-1].details
    endpoints = dict(bootstrap) | {voter.id: voter.endpoint for voter in details}
    voters = {voter.id: voter for voter in disk.state.log.voters[-1].voters}
    replicas = {
        number: ReplicaConfiguration(voters.get(number, ReplicaKey(number)), endpoint)
        for number, endpoint in endpoints.items()
    }
    replicas[disk.key.id] = ReplicaConfiguration(
        disk.key,
        properties.endpoint,
        initial_voters=None if voters else frozenset(),
        auto_join=properties.auto_join,
    )
    return Configuration(
        replicas=replicas,
        voters=disk.state.log.voters[-1].voters,
        kraft_version=1 if version else 0,
        bootstrap_servers=tuple(sorted(bootstrap)),
        cluster_id=disk.cluster_id,
        profile=profile,
        timeouts=properties.timeouts,
    )


class Node:
    """A running node."""

    def __init__(
        self,
        configuration: Configuration,
        disk: Disk,
        trace: NodeTrace,
        snapshot_bytes: int,
        make_replica: MakeReplica = Replica,
    ) -> None:
        """Make a stopped node: `start` restarts the replica."""
        self.configuration, self.disk, self._trace = configuration, disk, trace
        self._snapshot_bytes = snapshot_bytes
        self.replica = make_replica(disk.state, configuration)
        self.fetch_times: FetchTimes = {}
        self.changed = asyncio.Event()
        """Set by each step after which a waiting Fetch may be answered; the waiting task clears it."""
        self._random = random.Random()
        self._correlation_ids = itertools.count(int(time.time() * 1000) % 2**29 + 1)
        self._requests = itertools.count(1)
        self._responses: dict[tuple[int, int], asyncio.Future[Message]] = {}
        self._replies: dict[int, asyncio.Future[Reply]] = {}
        self._connections: dict[tuple[int, str], Connection] = {}
        self._timers: dict[Timer, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._values: dict[int, bytes] = {}
        self._next_fetch = 0.0
        self._is_polling = False

    @property
    def id(self) -> int:
        return self.disk.key.id

    @property
    def leads(self) -> bool:
        """True if the node is the active controller: it leads and has committed a record of its own epoch."""
        state = self.replica.state
        return state.role is Role.LEADER and state.high_watermark > state.epoch_start_offset

    @property
    def leader_endpoint(self) -> str | None:
        """Endpoint of the leader that this node follows."""
        leader_id = self.replica.state.leader_id
        return None if leader_id is None else self._endpoint(leader_id)

    def _endpoint(self, replica_id: int) -> str | None:
        replica = self.configuration.replicas.get(replica_id)
        leader = self.replica.state.leader_endpoint if self.replica.state.leader_id == replica_id else None
        return leader or (None if replica is None else replica.endpoint)

    def start(self) -> None:
        """Start the replica; its first start is no event, because it begins the trace."""
        own = self.configuration.replicas[self.id].endpoint
        listed = {details.id: details.endpoint for details in self.replica.state.log.voters[-1].details}
        self.step(Restart(own if listed.get(self.id, own) != own else None), is_traced=not self._trace.is_new)

    async def stop(self, is_leaving: bool) -> None:
        """Stop the node; with `is_leaving` a leader first resigns and notifies the other voters."""
        if is_leaving and self.replica.state.role is not Role.STOPPED:
            self.step(Shutdown())
            await asyncio.sleep(2 * _BACKOFF_S)
        for handle in self._timers.values():
            handle.cancel()
        self._timers.clear()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connection in self._connections.values():
            connection.close()
        self._trace.close()
        self.disk.close()

    # Events.

    def step(self, event: Event, received: Received | None = None, is_traced: bool = True) -> Step:
        """Process one event, and carry out its effects."""
        timeouts = self.configuration.timeouts
        draw = Draw(
            next(self._correlation_ids),
            self._random.randrange(timeouts.election_timeout_ms, 2 * timeouts.election_timeout_ms),
            self._random.randrange(1, max(2, timeouts.election_backoff_max_ms)),
        )
        before = self.replica.state
        done = self.replica.step(event, draw)
        if is_traced:
            self._trace.write(event, done)
        for effect in done.effects:
            self._carry_out(effect, received)
        after = done.state
        if (before.role, before.epoch) != (after.role, after.epoch):
            self.fetch_times = {}
        for timer in set(self._timers) - set(TIMERS[after.role]):
            self._timers.pop(timer).cancel()
        for details in after.log.voters[-1].details:
            self.knows(details.id, details.endpoint)
        self.changed.set()
        self._poll_soon()
        return done

    def _carry_out(self, effect: Effect, received: Received | None) -> None:
        match effect:
            case Send(message):
                self._send(message)
            case Answer(reply):
                if (future := self._replies.pop(reply.request, None)) is not None and not future.done():
                    future.set_result(reply)
            case StartTimer(timer, duration_ms):
                if (running := self._timers.pop(timer, None)) is not None:
                    running.cancel()
                loop = asyncio.get_running_loop()
                self._timers[timer] = loop.call_later(duration_ms / 1000, self._fire, timer)
            case _:
                batches = received.batches if received is not None else ()
                snapshot = received.snapshot if received is not None else None
                voters = [voter.id for voter in self.replica.state.voters]
                self.disk.carry_out(effect, batches, self._values, voters, snapshot)

    def _fire(self, timer: Timer) -> None:
        del self._timers[timer]
        self.step(TIMER_EVENTS[timer])

    def knows(self, replica_id: int, endpoint: str) -> None:
        """Learn the endpoint of another replica from a record, a request or the operator."""
        replicas = self.configuration.replicas
        assert isinstance(replicas, dict), "`configuration_of` made it"
        replica = replicas.get(replica_id)
        if replica_id != self.id and (replica is None or replica.endpoint != endpoint):
            replicas[replica_id] = ReplicaConfiguration(ReplicaKey(replica_id), endpoint)

    # Due actions.

    def _poll_soon(self) -> None:
        if not self._is_polling:
            self._is_polling = True
            asyncio.get_running_loop().call_soon(self._poll)

    def _poll(self) -> None:
        self._is_polling = False
        state, configuration = self.replica.state, self.configuration
        if state.role is Role.STOPPED:
            return
        if due_election_requests(state, configuration) or due_change_request(state, configuration, 0) is not None:
            self.step(Poll())
            return
        self._append_metadata_version()
        self._take_snapshot()
        targets = due_fetch_targets(self.replica.state, self.configuration)
        wait = self._next_fetch - asyncio.get_running_loop().time()
        if targets and wait <= 0:
            self.step(PollFetch(self._random.choice(targets)))
        elif targets:
            self._is_polling = True
            asyncio.get_running_loop().call_later(wait, self._poll)

    def _append_metadata_version(self) -> None:
        """Append the controller's first record, without which Kafka's tools take the quorum for an older version."""
        if self.leads and not any(map(says_metadata_version, self.disk.values(self.replica.state.log.end_offset))):
            self.append(METADATA_VERSION_RECORD)

    def _take_snapshot(self) -> None:
        """Take a snapshot of the committed records once the log has grown enough; not in a transaction.

        Rule: snapshot.set-at-its-end-offset.
        """
        state = self.replica.state
        is_due = self.disk.bytes_since_snapshot >= self._snapshot_bytes
        is_new = state.log.base.end_offset < state.high_watermark <= state.log.end_offset
        if is_due and is_new and not counted(self.disk.values(state.high_watermark))[1]:
            self.step(TakeSnapshot(state.high_watermark))

    def append(self, value: bytes) -> Step:
        """Append a record of the controller's as leader."""
        self._values[number_of(value)] = value
        return self.step(ClientAppend(number_of(value)))

    # Outbound messages.

    def _send(self, message: Message) -> None:
        if isinstance(message, REQUESTS):
            self._start_task(self._send_request(message))
            return
        future = self._responses.pop((message.destination, message.correlation_id), None)
        if future is not None and not future.done():
            future.set_result(message)

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send_request(self, request: Request) -> None:
        state = self.replica.state
        to = request.destination
        at_hand = {"epoch": state.epoch, "leader_id": state.leader_id, "leader_endpoint": state.leader_endpoint}
        try:
            connection = self._connection(to)
            static = self.configuration.checkpoint(self.id)
            timeout_ms = self.configuration.timeouts.request_timeout_ms
            wait_ms = fetch_wait_ms(self.configuration.timeouts)
            async with asyncio.timeout(timeout_ms / 1000):
                received = await exchange(connection, request, static, at_hand, wait_ms)
        except UNANSWERED:
            await asyncio.sleep(_BACKOFF_S)
            if self.replica.state.awaiting.get(to) == request.correlation_id:
                self.step(RequestTimeout(to))
            return
        message = received.message
        if isinstance(message, FetchResponse) and not message.records and message.leader_id != to:
            # A replica that does not lead responds at once: pause, or the next Fetch would follow at once.
            self._next_fetch = asyncio.get_running_loop().time() + _BACKOFF_S
        if (
            isinstance(message, QuorumResponse)
            and message.leader_id is not None
            and message.leader_endpoint is not None
        ):
            self.knows(message.leader_id, message.leader_endpoint)
        self.step(Receive(message), received)

    def _connection(self, to: int) -> Connection:
        """Return the connection to a replica at its current endpoint.

        Raises:
            OSError: no endpoint is known.
        """
        endpoint = self._endpoint(to)
        if endpoint is None:
            raise OSError(f"no endpoint of replica {to} is known")
        if (to, endpoint) not in self._connections:
            self._connections[to, endpoint] = Connection.to(endpoint, f"{CLIENT}{self.id}")
        return self._connections[to, endpoint]

    # Inbound requests.

    async def answer(self, request: Request) -> Message:
        """Return the reference's response to another replica's request, once it has one."""
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._responses[request.source, request.correlation_id] = future
        done = self.step(Receive(request))
        if isinstance(request, FetchRequest) and done.state.role is Role.LEADER:
            now = wall_clock_ms()
            self.fetch_times = with_fetch(self.fetch_times, done.state, request.replica_key, request.fetch_offset, now)
        return await future

    async def ask(self, event: Callable[[int], Event]) -> Reply:
        """Return the reference's reply to an operator, once it has one; `event` maps a request number to its event."""
        number = next(self._requests)
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._replies[number] = future
        self.step(event(number))
        try:
            return await future
        finally:
            self._replies.pop(number, None)
