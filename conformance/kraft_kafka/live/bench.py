"""The implementation among its acted peers, and the states that cases begin with.

One process serves many cases: each begins in an epoch of its own, so that what an earlier one left behind, a longer log
apart, is of the past.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kraft_kafka.live import bodies
from kraft_kafka.live.peers import Answer, NoAnswerError, Peer
from kraft_kafka.live.process import REPLICA, LaunchError, Process, Timeouts
from kraft_kafka.live.wire_log import Event, Way, WireLog
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.schema import Kind, message_of

WAIT_S = 20.0
"""Seconds until something is not going to come: no rule has this limit, and a machine may be busy."""
_PAUSE_S = 0.05
"""Before a peer answers a Fetch without records: some ask again at once, thousands of times a second."""
_SOFTWARE = {"clientSoftwareName": "kraft-spec-live", "clientSoftwareVersion": "1"}

CALM = Timeouts(election=60_000, backoff=100, fetch=120_000)
"""No timer of the protocol fires while a case runs; requests may be lost, so that their timeout is short."""
QUICK = Timeouts()
"""Timers fire within seconds."""


class Inconclusive(Exception):  # noqa: N818 - carried to the runner
    """The state that a case begins with was not reached."""


class Unobserved(Exception):  # noqa: N818 - carried to the runner
    """What a case asks for cannot be done or seen here."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What an implementation is started as; cases with the same setup share a process."""

    timeouts: Timeouts = CALM
    voters: tuple[int, ...] = (1, 2, 3)
    peers: tuple[int, ...] = (2, 3, 4)
    more: str = ""
    """Lines of properties."""


class Bench:
    """The implementation, its peers, and a client."""

    def __init__(
        self, setup: Setup, ports: Mapping[int, int], process: Process | None, endpoint: tuple[str, int] | None = None
    ) -> None:
        """`ports` are by replica, its own included; without a process it runs at `endpoint`."""
        self.setup, self.ports, self._process, self.log = setup, ports, process, WireLog()
        replica = REPLICA if process is None else process.id
        target = endpoint or ("127.0.0.1", ports[replica])
        self.peers = {one: Peer(self.log, one, port, target) for one, port in ports.items() if one != replica}
        self.client = Peer(self.log, 0, 0, target)
        self.epoch = 0
        """The newest epoch: of what the implementation leads or follows, or has been told of."""
        self.versions: dict[int, tuple[int, int]] = {}

    def new_log(self) -> None:
        """A log of its own for the next case."""
        self.log = WireLog()
        for peer in (*self.peers.values(), self.client):
            peer.log = self.log
        self.end_silence()
        self.quiet()

    def seen_text(self) -> str:
        """The log of the wire, and the end of what the process wrote to its output, for a reader."""
        said = "" if self._process is None else self._process.said().strip()
        return self.log.text() + (f"\nIts output ends with:\n{said}" if said else "")

    # --- The process and its files -------------------------------------------------------------------------------

    @property
    def process(self) -> Process:
        """The process; what needs it is unobserved where the implementation was started by others."""
        if self._process is None:
            raise Unobserved("needs an implementation that is started here")
        return self._process

    @property
    def is_up(self) -> bool:
        """Whether the implementation can be asked, as far as that is known."""
        return self._process is None or self._process.is_alive

    async def open(self) -> None:
        """Format it and start it, with its peers.

        Raises:
            LaunchError: it does not start.
            OSError: a port is taken.
        """
        for peer in self.peers.values():
            await peer.listen()
        self.quiet()
        if self._process is not None:
            await asyncio.to_thread(self._process.format, self.setup.timeouts)
            await self._process.start()
        await self.negotiate()

    async def close(self) -> None:
        """End it and all connections."""
        if self._process is not None:
            self._process.kill()
        for peer in (*self.peers.values(), self.client):
            await peer.cut()

    async def negotiate(self) -> None:
        """Learn which versions it offers."""
        try:
            answer = await self.client.ask("ApiVersions", 3, _SOFTWARE)
        except NoAnswerError as error:
            raise LaunchError(f"it does not answer ApiVersions version 3: {error}") from error
        self.versions = {one["apiKey"]: (one["minVersion"], one["maxVersion"]) for one in answer.body["apiKeys"]}

    def version(self, api: str, highest: int) -> int:
        """The highest version of an API up to `highest` that it offers; unobserved if there is none."""
        low, high = self.versions.get(message_of(api, Kind.REQUEST).key, (1, 0))
        if low > high or low > highest:
            raise Unobserved(f"it does not offer {api}")
        return min(highest, high)

    def kill(self) -> None:
        """Kill -9."""
        self.process.kill()
        self.log.add(0, Way.NOTE, "kill -9")
        for peer in (*self.peers.values(), self.client):
            peer.hang_up()

    async def restart(self) -> None:
        """Start it again on its disk."""
        try:
            await self.process.start()
        except LaunchError as error:
            raise Inconclusive(str(error)) from error
        self.log.add(0, Way.NOTE, "started again")

    def quorum_state(self) -> Document:
        """The file quorum-state as it is now."""
        return self.process.quorum_state()

    # --- What the peers answer -----------------------------------------------------------------------------------

    def on(self, api: str, answer: Answer, who: tuple[int, ...] = ()) -> None:
        """These peers, or all, answer an API so from now on."""
        for one in who or self.peers:
            self.peers[one].answers[api] = answer

    def quiet(self) -> None:
        """No peer leads, votes are not answered, a leader's messages are taken."""

        async def nobody(event: Event) -> Document:
            await asyncio.sleep(2 * _PAUSE_S)
            return bodies.fetch_answer(max(0, event.part["currentLeaderEpoch"]), -1, bodies.NOT_LEADER)

        def taken(event: Event) -> Document:
            return bodies.quorum_answer(event.part["leaderEpoch"], event.part["leaderId"])

        for peer in self.peers.values():
            peer.answers = {"Fetch": nobody, "BeginQuorumEpoch": taken, "EndQuorumEpoch": taken}
            # A node that is no voter asks its bootstrap servers for their ids.
            peer.answers["DescribeQuorum"] = lambda _: bodies.described(self.ports)

    def end_silence(self) -> None:
        """Close the connections with requests that the peers have left without an answer.

        On a busy machine it may have asked while it was to follow, and would wait for that answer first.
        """
        for peer in self.peers.values():
            peer.end_silence()

    def grant(self, pre_votes: bool = True, votes: bool = True, who: tuple[int, ...] = ()) -> None:
        """How these peers, or all, answer requests for votes."""
        self.on(
            "Vote",
            lambda event: bodies.vote_answer(pre_votes if event.part["preVote"] else votes, event.part["replicaEpoch"]),
            who,
        )

    def serve(self, leader: int, epoch: int, records: Callable[[int, int], str] | None = None, **more: Any) -> None:
        """A peer answers Fetch as leader of `epoch`.

        Args:
            leader: the peer.
            epoch: its epoch.
            records: the batches to give for a fetch offset and an epoch before it, in base64; none without it.
            more: what else the answer has, as `bodies.fetch_answer` takes it.
        """

        async def answer(event: Event) -> Document:
            part = event.part
            if part["currentLeaderEpoch"] != epoch:
                is_old = part["currentLeaderEpoch"] < epoch
                code = bodies.FENCED_LEADER_EPOCH if is_old else bodies.UNKNOWN_LEADER_EPOCH
                return bodies.fetch_answer(epoch, leader, code, port=self.ports[leader])
            given = records(part["fetchOffset"], part["lastFetchedEpoch"]) if records else ""
            if not given:
                await asyncio.sleep(_PAUSE_S)
            return bodies.fetch_answer(epoch, leader, records=given, **more)

        self.on("Fetch", answer, (leader,))

    # --- What they ask -------------------------------------------------------------------------------------------

    async def vote(
        self, source: int, epoch: int, is_pre_vote: bool, log: tuple[int, int] = (0, 0), **more: Any
    ) -> Event:
        """The answer to a Vote of a peer."""
        body = bodies.vote(source, epoch, is_pre_vote, log, **more)
        return await self.peers[source].ask("Vote", self.version("Vote", 2), body)

    async def begin(self, leader: int, epoch: int, **more: Any) -> Event:
        """The answer to a BeginQuorumEpoch of a peer."""
        body = bodies.begin_quorum_epoch(leader, epoch, self.ports[leader], **more)
        return await self.peers[leader].ask("BeginQuorumEpoch", self.version("BeginQuorumEpoch", 1), body)

    async def end(self, leader: int, epoch: int, preferred: list[int], **more: Any) -> Event:
        """The answer to an EndQuorumEpoch of a peer."""
        body = bodies.end_quorum_epoch(leader, epoch, preferred, self.ports[leader], **more)
        return await self.peers[leader].ask("EndQuorumEpoch", self.version("EndQuorumEpoch", 1), body)

    async def fetch(self, source: int, epoch: int, offset: int, last_epoch: int, **more: Any) -> Event:
        """The answer to a Fetch of a peer."""
        body = bodies.fetch(source, epoch, offset, last_epoch, **more)
        return await self.peers[source].ask("Fetch", self.version("Fetch", 17), body)

    async def ask(self, api: str, highest: int, body: Document) -> Event:
        """The answer to a request of the client, in the highest version up to `highest` that is offered."""
        return await self.client.ask(api, self.version(api, highest), body)

    # --- What the implementation asks ----------------------------------------------------------------------------

    async def asked(
        self, api: str, seconds: float = WAIT_S, after: int = 0, who: int | None = None, **fields: Any
    ) -> Event | None:
        """Its first request of an API, from event number `after` on, with these fields; None if there is none."""
        return await self.log.first(lambda event: self.is_asked(event, api, who, **fields), seconds, after)

    def all_asked(self, api: str, after: int = 0, who: int | None = None, **fields: Any) -> list[Event]:
        """All such requests so far."""
        return self.log.all(lambda event: self.is_asked(event, api, who, **fields), after)

    @staticmethod
    def is_asked(event: Event, api: str, who: int | None = None, **fields: Any) -> bool:
        """Whether an event is such a request of the implementation."""
        return (
            event.way is Way.ASKED
            and event.api == api
            and who in (None, event.peer)
            and all(event.part.get(name) == value for name, value in fields.items())
        )

    async def eventually(self, check: Callable[[], bool | Awaitable[bool]], seconds: float = WAIT_S) -> bool:
        """Whether something becomes true within `seconds`."""
        end = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < end:
            value = check()
            if value if isinstance(value, bool) else await value:
                return True
            await asyncio.sleep(0.02)
        return False
