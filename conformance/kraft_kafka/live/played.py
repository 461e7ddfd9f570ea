"""The replica of a vector, played by a process among acted peers.

What happens to a replica from outside is done: messages, answers, connections that break, kill -9, a client's request.
Its polls it does by itself, and what it has sent is held until the vector polls.  Its timers cannot be fired: the one
of an election is waited for, and that of a Fetch fires at once when the leader ends and prefers the replica.  Whatever
else happens within a replica is unsupported.

The reference stands beside it, to know for what to wait, and how an election is told from none.  What is shown is what
was seen.
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
"""Long enough for what a vector does until its next election timeout, and short enough to be waited for."""
_TIMEOUTS = Timeouts(election=int(_ELECTION_S * 1000), backoff=100, fetch=120_000, request=60_000)
_TIMED = frozenset([Role.UNATTACHED, Role.PROSPECTIVE, Role.CANDIDATE, Role.RESIGNED])
"""Roles with an election timer."""
_WAIT_S = 4.0
"""For what the reference does at once."""
_TIMER_S = 20.0
"""For a timer or an answer: nothing that has a timeout of three seconds takes so long."""
_LEAST_S = 1.0
"""What a step needs at least of the time until an election timer may fire."""
_WRITTEN_S = _FETCH_S = 1.0
"""For the file, which is written before the rest is sent; for a Fetch, which is sent wherever one is due."""
_QUIET_S = 0.06
"""For what the reference does not do."""
_TOO_LATE = "an election timer may have fired before its time"
_REPORTS = ("Send UpdateVoterRequest", "Send AddVoterRequest")


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
            hold = self._holding.answer_of(peer)
            peer.answers |= {api: hold for api in peer.offered if api != "DescribeQuorum"}
        self._exchanges.file = QuorumStateFile(self._process, self._directories)
        self._timer_since = time.monotonic()

    async def close(self) -> None:
        """End it, and leave nothing behind."""
        self._exchanges.close()
        self._records.close()
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
        return self._exchanges.take()

    # --- Steps ---------------------------------------------------------------------------------------------------

    async def step(self, step: Step) -> tuple[TracedEffect, ...]:
        """Let an event happen; what comes of it.

        Raises:
            Unsupported: it cannot happen to a process.
            NoAnswerError, LaunchError: the process does not answer.
        """
        before = self._state
        is_timeout = step.event in ("ElectionTimeout", "FetchTimeout")
        if self._left(before) < _LEAST_S and step.event != "ElectionTimeout":
            raise Unsupported(_TOO_LATE)
        done = self._shadow.answer(step)
        assert isinstance(done, StepReply)
        after = self._state
        wanted = {effect_name(one) for one in done.effects if isinstance(one, TracedSend | TracedAnswer)}
        if is_timeout:
            kind = "BeginQuorumEpochRequest" if after.role is Role.LEADER else "VoteRequest"
            due = due_election_requests(after, self._shadow.replica().configuration)
            wanted = {f"Send {kind} to {voter.id}" for voter in due}
            if not wanted:
                raise Unsupported(f"nothing on the wire says that the timer of {step.event} has fired")
        is_new = (before.role, before.epoch, before.leader_id) != (after.role, after.epoch, after.leader_id)
        if is_new and fetch_targets(before, self._shadow.replica().configuration):
            # Or what it asks in its old role comes later, and is taken for what it asks in the new one.
            await self._bench.eventually(lambda: any(one.is_fetch for one in self._holding.all), _FETCH_S)
        earlier = self._holding.unshown
        if step.event == "ElectionTimeout" and not all(one.is_fetch or _is_of(one, after, wanted) for one in earlier):
            raise Unsupported("it has sent by itself what the vector does not poll for")
        await self._act(step)
        if before.role not in _TIMED or step.event == "ElectionTimeout":
            self._timer_since = time.monotonic()
        persisted = [one for one in done.effects if isinstance(one, TracedPersistQuorumState)]
        is_slow = is_timeout or step.event.endswith("Request")
        seconds = _TIMER_S if is_slow else min(_WAIT_S, self._left(after) - _LEAST_S / 2)
        is_complete = await self._settled(wanted, persisted, seconds)
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
        elif is_complete and self._left(after) < 0:
            raise Unsupported(_TOO_LATE)
        requests = [*self._requests(step)]
        self._check_own_requests(wanted, requests)
        return (*self._exchanges.take(), *requests)

    def _put_off_old(self, earlier: Collection[Held], state: ReplicaState, wanted: Collection[str]) -> None:
        """Requests of the role before; who follows a leader fetches from nobody else."""
        for held in self._holding.unshown:
            is_old_fetch = held.is_fetch and (state.role is not Role.FOLLOWER or held.peer != state.leader_id)
            if (held in earlier or is_old_fetch) and not _is_of(held, state, wanted):
                self._holding.put_off([held])

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
                yield self._exchanges.sent(message | {"correlation_id": held.correlation_id}, held.peer)

    def _left(self, state: ReplicaState) -> float:
        """Seconds until an election timer may fire by itself."""
        if state.role is Role.CANDIDATE and not can_still_win(state):
            # It backs off at random, for a moment only.  Rule: state.candidate.lost.
            return 0.0
        has_timer = state.role in _TIMED and self.id in {voter.id for voter in state.voters}
        return self._timer_since + _ELECTION_S - time.monotonic() if has_timer else math.inf

    def _check_own_requests(self, wanted: set[str], requests: list[TracedEffect]) -> None:
        """Raise `Unsupported` where it reports itself when it likes: when a long timer fires, or before it fetches."""
        late = wanted - {effect_name(one) for one in requests}
        if any(one.startswith(_REPORTS) for one in late):
            raise Unsupported("it reports itself when a timer of its own fires")
        voted = self._state.voted_key
        # Votes of an election that it has given up may have waited for their connection.
        sent = (*_REPORTS, "Send VoteRequest") if voted is not None and voted.id == self.id else _REPORTS
        ahead = [one.peer for one in self._holding.unshown if one.name.startswith(sent)]
        if not late.isdisjoint(f"Send FetchRequest to {peer}" for peer in ahead):
            raise Unsupported("before it fetches it sends what the vector does not poll for")

    async def _settled(
        self,
        wanted: Collection[str],
        persisted: Collection[TracedPersistQuorumState],
        seconds: float = _WAIT_S,
    ) -> bool:
        """Wait for what the reference does, then a moment for what it does not; whether all of it came."""
        end = time.monotonic() + seconds
        is_sent = False
        while time.monotonic() < end and self._bench.is_up and not self._exchanges.failures:
            there = {effect_name(one) for one in self._exchanges.seen} | {one.name for one in self._holding.unshown}
            if not is_sent and there.issuperset(wanted):
                is_sent, end = True, min(end, time.monotonic() + _WRITTEN_S) if wanted else end
            if is_sent and all(self._exchanges.file.has(one) for one in persisted):
                break
            self._holding.make_way(wanted)
            await asyncio.sleep(0.01)
        await asyncio.sleep(_QUIET_S)
        self._exchanges.look()
        return is_sent

    async def _act(self, step: Step) -> None:
        message: Document = {} if step.message is UNSET else msgspec.to_builtins(step.message)
        given: Document = {} if step.input is UNSET else msgspec.to_builtins(step.input)
        match step.event:
            case "Poll" | "PollFetch" | "ElectionTimeout":
                return
            case "FetchTimeout":
                await self._exchanges.leader_ends()
            case "RequestTimeout":
                self._exchanges.give_up(given["destination"])
            case "ClientAppend":
                self._records.check()
                if self._state.high_watermark <= self._state.epoch_start_offset:
                    epoch, offset = self._process.log_end()
                    await self._exchanges.commit(self._state.log.end_offset - 1, epoch, offset)
                    await self._records.look_for_hidden()
                await self._records.append(given["value"])
            case "AddVoter" | "RemoveVoter":
                request = {"type": f"{step.event}Request", "source": 0, "destination": self.id}
                number = given.pop("request")
                self._exchanges.in_background(self._exchanges.client(request | given | {"correlation_id": 0}, number))
            case event if event.endswith("Request"):
                if message["source"] not in self._bench.peers:
                    raise Unsupported(f"replica {message['source']} is none of the cluster's")
                self._exchanges.in_background(self._exchanges.ask(message))
            case event if event.endswith("Response"):
                self._exchanges.tell(message)
            case event:
                raise Unsupported(f"{event} happens within a replica")


def _is_of(held: Held, state: ReplicaState, wanted: Collection[str]) -> bool:
    """Whether it is a Vote of an election that the reference begins now: a timer may be ahead of its vector."""
    part = held.event.part
    is_pre_vote = state.role is Role.PROSPECTIVE
    return held.name in wanted and (part.get("replicaEpoch"), part.get("preVote")) == (state.epoch, is_pre_vote)
