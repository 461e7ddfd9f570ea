"""A vector's replica, simulated by a process among mock peers.

External events are carried out: messages, responses, broken connections, kill -9, a client's request.  The process
polls on its own, and its requests are held until the vector polls.  Its timers cannot be fired: the adapter waits for
the election timer, and makes the fetch timer fire at once by an EndQuorumEpoch that prefers the replica.  All other
internal events are unsupported.

The reference runs in parallel: it determines which effects to wait for, and whether an election has begun.  Only
observed effects are reported.
"""

import asyncio
import math
import shutil
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.protocol.messages import Crash, Reset, Restart, Step, StepReply
from kraft_conformance.runner.comparison import effect_name
from kraft_kafka.live.bench import Bench, Setup
from kraft_kafka.live.client_records import ClientRecords
from kraft_kafka.live.exchanges import Exchanges, Unsupported
from kraft_kafka.live.holding import Held, Holding
from kraft_kafka.live.process import Commands, Timeouts
from kraft_kafka.live.translating import Translation
from kraft_kafka.live.vector_process import QuorumStateFile, VectorProcess
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.translation import from_kafka
from kraft_reference.elections import can_still_win
from kraft_reference.polling import due_election_requests
from kraft_reference.replication import fetch_targets
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_traces.effects import TracedAnswer, TracedEffect, TracedPersistQuorumState, TracedSend
from kraft_vectors.cluster import configuration_from

_ELECTION_S = 4.0
"""Long enough for a vector's steps before its next election timeout, and short enough to wait for."""
_TIMEOUTS = Timeouts(election=int(_ELECTION_S * 1000), backoff=100, fetch=120_000, request=60_000)
_TIMED = frozenset([Role.UNATTACHED, Role.PROSPECTIVE, Role.CANDIDATE, Role.RESIGNED])
"""Roles with an election timer."""
_WAIT_S = 4.0
"""Time limit for effects that the reference has at once."""
_TIMER_S = 20.0
"""Time limit for a timer or a response: well above a timeout of three seconds."""
_LEAST_S = 1.0
"""Minimum time for a step before an election timer may fire."""
_WRITTEN_S = _FETCH_S = 1.0
"""Time limits: for the file, which is written before messages are sent; for a Fetch that is due."""
_QUIET_S = 0.06
"""Time in which effects that the reference does not have may appear."""
_TOO_LATE = "an election timer may have fired before its time"
_REPORTS = ("Send UpdateVoterRequest", "Send AddVoterRequest")


class PlayedReplica:
    """A simulated replica: one process with its mock peers, for one vector."""

    def __init__(self, request: Reset, commands: Commands, home: Path) -> None:
        """Prepare the replica; `home` becomes a folder."""
        self._shadow = ReferenceAdapter()
        self._shadow.answer(request)
        self._places = Translation({replica.id: replica.endpoint for replica in request.cluster.replicas})
        self._directories = {replica.id: replica.directory_id for replica in request.cluster.replicas}
        cluster = configuration_from(self._places.cluster(request.cluster))
        self.id = request.replica
        if (cluster.replicas[self.id].min_version, cluster.replicas[self.id].max_version) != (0, 1):
            raise Unsupported("software with other levels of kraft.version")
        if cluster.replicas[self.id].key.directory_id is None:
            raise Unsupported("a disk without a directory id")
        if cluster.kraft_version == 0 and all(voter.id != self.id for voter in cluster.voters):
            raise Unsupported("a controller that is none of its static voters")
        if cluster.replicas[self.id].auto_join:
            raise Unsupported("a replica that joins by itself does so when a timer of its own fires")
        process = VectorProcess(commands, home, self._places.ports, cluster, self.id)
        self._process, self._bench = process, Bench(Setup(_TIMEOUTS), self._places.ports, process)
        for peer in self._bench.peers.values():
            peer.kraft_versions = (cluster.replicas[peer.id].min_version, cluster.replicas[peer.id].max_version)
        self._holding, self._records = Holding(), ClientRecords(self._bench, process, self._places)
        self._exchanges = Exchanges(self._shadow, self._bench, self._places, self._holding, self.id)
        self._is_stopped, self._has_led = False, False
        self._timer_since = 0.0
        """Earliest start time of the current election timer."""

    @property
    def _state(self) -> ReplicaState:
        return self._shadow.replica().state

    async def start(self) -> None:
        """Format the disk and start the process.

        Raises:
            LaunchError: it does not start.
            OSError: a port is taken.
        """
        await self._bench.open()
        for peer in self._bench.peers.values():
            hold = self._holding.answer_of(peer)
            peer.answers |= {api: hold for api in peer.offered if api != "DescribeQuorum"}
        self._exchanges.file = QuorumStateFile(self._process, self._directories)
        self._timer_since = time.monotonic()

    async def close(self) -> None:
        """Kill the process and remove its files."""
        self._exchanges.close()
        self._records.close()
        await self._bench.close()
        shutil.rmtree(self._process.home, ignore_errors=True)

    def died(self) -> str | UnsetType:
        """Return the reason that the process ended on its own, if it did."""
        if self._process.is_alive or self._is_stopped:
            return UNSET
        output = self._process.said().strip()
        return next((line.strip() for line in output.splitlines() if "Exception" in line), output[-200:]) or "it ended"

    def crash(self, request: Crash) -> None:
        """Kill -9.

        Raises:
            Unsupported: the crash would lose records that are already written.
        """
        _, end = self._process.log_end()
        self._bench.kill()
        self._is_stopped = True
        self._holding.hang_up([*self._holding.all])
        self._shadow.answer(request)
        if request.log_end_offset < end:
            raise Unsupported(f"kill -9 loses nothing of the {end} records that were written")

    async def restart(self, request: Restart) -> tuple[TracedEffect, ...]:
        """Restart the process on its disk.

        Raises:
            LaunchError: it does not start.
        """
        if request.endpoint is not None:
            raise Unsupported("a process that listens elsewhere")
        self._shadow.answer(request)
        await self._process.start()
        self._is_stopped, self._timer_since = False, time.monotonic()
        await self._settle((), ())
        return self._exchanges.take()

    # --- Steps ---------------------------------------------------------------------------------------------------

    async def step(self, step: Step) -> tuple[TracedEffect, ...]:
        """Carry out an event and return its effects.

        Raises:
            Unsupported: a process cannot have the event.
            NoAnswerError, LaunchError: the process does not respond.
        """
        before = self._state
        is_timeout = step.event in ("ElectionTimeout", "FetchTimeout")
        if self._time_left(before) < _LEAST_S and step.event != "ElectionTimeout":
            raise Unsupported(_TOO_LATE)
        done = self._shadow.answer(step)
        assert isinstance(done, StepReply)
        after = self._state
        wanted = {effect_name(effect) for effect in done.effects if isinstance(effect, TracedSend | TracedAnswer)}
        if is_timeout:
            kind = "BeginQuorumEpochRequest" if after.role is Role.LEADER else "VoteRequest"
            due = due_election_requests(after, self._shadow.replica().configuration)
            wanted = {f"Send {kind} to {voter.id}" for voter in due}
            if not wanted:
                raise Unsupported(f"nothing on the wire says that the timer of {step.event} has fired")
        is_new = (before.role, before.epoch, before.leader_id) != (after.role, after.epoch, after.leader_id)
        if is_new and fetch_targets(before, self._shadow.replica().configuration):
            # A late Fetch of the old role would otherwise be taken for one of the new role.
            await self._bench.eventually(lambda: any(held.is_fetch for held in self._holding.all), _FETCH_S)
        earlier = self._holding.unshown
        if step.event == "ElectionTimeout" and not all(it.is_fetch or _is_due(it, after, wanted) for it in earlier):
            raise Unsupported("it has sent by itself what the vector does not poll for")
        await self._act(step)
        if before.role not in _TIMED or step.event == "ElectionTimeout":
            self._timer_since = time.monotonic()
        persisted = [effect for effect in done.effects if isinstance(effect, TracedPersistQuorumState)]
        is_slow = is_timeout or step.event.endswith("Request")
        seconds = _TIMER_S if is_slow else min(_WAIT_S, self._time_left(after) - _LEAST_S / 2)
        is_complete = await self._settle(wanted, persisted, seconds)
        if is_new:
            self._put_off_old(earlier, after, wanted)
        if self._exchanges.failures and self._process.is_alive:
            raise self._exchanges.failures.pop()
        has_committed = after.role is Role.LEADER and after.high_watermark > after.epoch_start_offset
        if has_committed and not self._has_led:
            await self._records.look_for_hidden()
        elif self._places.hidden is not None:
            self._places.hide(self._process.log())
        self._has_led = has_committed
        if step.event == "ElectionTimeout":
            self._timer_since = time.monotonic()
        elif is_complete and self._time_left(after) < 0:
            raise Unsupported(_TOO_LATE)
        requests = [*self._take_requests(step)]
        self._check_own_requests(wanted, requests)
        return (*self._exchanges.take(), *requests)

    def _put_off_old(self, earlier: Collection[Held], state: ReplicaState, wanted: Collection[str]) -> None:
        """Answer requests of the previous role without effect; a follower fetches from its leader only."""
        for held in self._holding.unshown:
            is_old_fetch = held.is_fetch and (state.role is not Role.FOLLOWER or held.peer != state.leader_id)
            if (held in earlier or is_old_fetch) and not _is_due(held, state, wanted):
                self._holding.put_off([held])

    def _take_requests(self, step: Step) -> Iterator[TracedEffect]:
        """Yield the requests that a step polls for: the Fetch to one destination, or all others."""
        target = step.input.destination if step.event == "PollFetch" and step.input is not UNSET else None
        polled = [it for it in self._holding.unshown if (it.peer == target if it.is_fetch else step.event == "Poll")]
        for held in polled:
            if held.is_fetch and held is not polled[-1]:
                # Kafka's client has two connections to a bootstrap server that is a voter, and may fetch on both.
                self._holding.put_off([held])
            else:
                held.correlation_id = step.draw.correlation_id
                message = from_kafka(held.kind, held.event.version, {"header": {}, "body": held.event.body})
                yield self._exchanges.sent(message | {"correlation_id": held.correlation_id}, held.peer)

    def _time_left(self, state: ReplicaState) -> float:
        """Return the seconds until an election timer may fire on its own."""
        if state.role is Role.CANDIDATE and not can_still_win(state):
            # It backs off for a short random time.  Rule: state.candidate.lost.
            return 0.0
        has_timer = state.role in _TIMED and self.id in {voter.id for voter in state.voters}
        return self._timer_since + _ELECTION_S - time.monotonic() if has_timer else math.inf

    def _check_own_requests(self, wanted: set[str], requests: list[TracedEffect]) -> None:
        """Raise `Unsupported` if it sends an UpdateVoter or AddVoter at a time that no vector controls."""
        late = wanted - {effect_name(request) for request in requests}
        if any(name.startswith(_REPORTS) for name in late):
            raise Unsupported("it reports itself when a timer of its own fires")
        voted = self._state.voted_key
        # Vote requests of an abandoned election may have waited for their connection.
        sent = (*_REPORTS, "Send VoteRequest") if voted is not None and voted.id == self.id else _REPORTS
        ahead = [held.peer for held in self._holding.unshown if held.name.startswith(sent)]
        if not late.isdisjoint(f"Send FetchRequest to {peer}" for peer in ahead):
            raise Unsupported("before it fetches it sends what the vector does not poll for")

    async def _settle(
        self,
        wanted: Collection[str],
        persisted: Collection[TracedPersistQuorumState],
        seconds: float = _WAIT_S,
    ) -> bool:
        """Wait for the reference's effects, then briefly for others; return True if all wanted messages came."""
        end = time.monotonic() + seconds
        is_sent = False
        while time.monotonic() < end and self._bench.is_up and not self._exchanges.failures:
            there = {effect_name(effect) for effect in self._exchanges.seen} | {it.name for it in self._holding.unshown}
            if not is_sent and there.issuperset(wanted):
                is_sent, end = True, min(end, time.monotonic() + _WRITTEN_S) if wanted else end
            if is_sent and all(self._exchanges.file.has(effect) for effect in persisted):
                break
            self._holding.make_way(wanted)
            await asyncio.sleep(0.01)
        await asyncio.sleep(_QUIET_S)
        self._exchanges.look()
        return is_sent

    async def _act(self, step: Step) -> None:
        message: Document = {} if step.message is UNSET else msgspec.to_builtins(step.message)
        fields: Document = {} if step.input is UNSET else msgspec.to_builtins(step.input)
        match step.event:
            case "Poll" | "PollFetch" | "ElectionTimeout":
                return
            case "FetchTimeout":
                await self._exchanges.leader_ends()
            case "RequestTimeout":
                self._exchanges.give_up(fields["destination"])
            case "ClientAppend":
                self._records.check()
                if self._state.high_watermark <= self._state.epoch_start_offset:
                    epoch, offset = self._process.log_end()
                    await self._exchanges.commit(self._state.log.end_offset - 1, epoch, offset)
                    await self._records.look_for_hidden()
                await self._records.append(fields["value"])
            case "AddVoter" | "RemoveVoter":
                request = {"type": f"{step.event}Request", "source": 0, "destination": self.id}
                number = fields.pop("request")
                self._exchanges.in_background(self._exchanges.client(request | fields | {"correlation_id": 0}, number))
            case event if event.endswith("Request"):
                if message["source"] not in self._bench.peers:
                    raise Unsupported(f"replica {message['source']} is none of the cluster's")
                self._exchanges.in_background(self._exchanges.ask(message))
            case event if event.endswith("Response"):
                self._exchanges.tell(message)
            case event:
                raise Unsupported(f"{event} happens within a replica")


def _is_due(held: Held, state: ReplicaState, wanted: Collection[str]) -> bool:
    """True for a Vote of the election that the reference begins now: a timer may be ahead of its vector."""
    part = held.event.part
    is_pre_vote = state.role is Role.PROSPECTIVE
    return held.name in wanted and (part.get("replicaEpoch"), part.get("preVote")) == (state.epoch, is_pre_vote)
