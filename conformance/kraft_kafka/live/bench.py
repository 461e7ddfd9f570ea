"""Test bench of the implementation: its mock peers, and the initial states of cases.

One process serves many cases.  Each begins in a new epoch, so an earlier case affects only the length of the log.
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
"""Seconds to wait for a message: no rule has this limit, and a machine may be busy."""
_PAUSE_S = 0.05
"""Delay of a Fetch response without records: some implementations fetch again at once."""
_SOFTWARE = {"clientSoftwareName": "kraft-spec-live", "clientSoftwareVersion": "1"}

CALM = Timeouts(election=60_000, backoff=100, fetch=120_000)
"""No protocol timer fires during a case; the request timeout is short, because requests may be lost."""
QUICK = Timeouts()
"""Timers fire within seconds."""


class Inconclusive(Exception):  # noqa: N818 - carried to the runner
    """The initial state of a case was not reached."""


class Unobserved(Exception):  # noqa: N818 - carried to the runner
    """A case needs something that cannot be done or observed here."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Configuration of the implementation; cases with the same setup share a process."""

    timeouts: Timeouts = CALM
    voters: tuple[int, ...] = (1, 2, 3)
    peers: tuple[int, ...] = (2, 3, 4)
    more: str = ""
    """Further lines of properties."""


class Bench:
    """The implementation, its mock peers, and a client."""

    def __init__(
        self, setup: Setup, ports: Mapping[int, int], process: Process | None, endpoint: tuple[str, int] | None = None
    ) -> None:
        """Set the ports by replica, including the implementation's; without a process it runs at `endpoint`."""
        self.setup, self.ports, self._process, self.log = setup, ports, process, WireLog()
        replica = REPLICA if process is None else process.id
        target = endpoint or ("127.0.0.1", ports[replica])
        self.peers = {id_: Peer(self.log, id_, port, target) for id_, port in ports.items() if id_ != replica}
        self.client = Peer(self.log, 0, 0, target)
        self.epoch = 0
        """The newest epoch that the implementation has led, followed or received."""
        self.versions: dict[int, tuple[int, int]] = {}

    def new_log(self) -> None:
        """Begin a new log for the next case."""
        self.log = WireLog()
        for peer in (*self.peers.values(), self.client):
            peer.log = self.log
        self.end_silence()
        self.quiet()

    def seen_text(self) -> str:
        """Return the log of messages and the end of the process's output, for a reader."""
        output = "" if self._process is None else self._process.said().strip()
        return self.log.text() + (f"\nIts output ends with:\n{output}" if output else "")

    # --- The process and its files -------------------------------------------------------------------------------

    @property
    def process(self) -> Process:
        """The process; raises `Unobserved` if the implementation was started elsewhere."""
        if self._process is None:
            raise Unobserved("needs an implementation that is started here")
        return self._process

    @property
    def is_up(self) -> bool:
        """True if the implementation is not known to have ended."""
        return self._process is None or self._process.is_alive

    async def open(self) -> None:
        """Format and start the implementation, with its mock peers.

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
        if self._process is not None:
            self._process.kill()
        for peer in (*self.peers.values(), self.client):
            await peer.cut()

    async def negotiate(self) -> None:
        """Learn the versions that the implementation supports."""
        try:
            answer = await self.client.ask("ApiVersions", 3, _SOFTWARE)
        except NoAnswerError as error:
            raise LaunchError(f"it does not answer ApiVersions version 3: {error}") from error
        self.versions = {api["apiKey"]: (api["minVersion"], api["maxVersion"]) for api in answer.body["apiKeys"]}

    def version(self, api: str, highest: int) -> int:
        """Return the highest supported version of an API up to `highest`; raise `Unobserved` if there is none."""
        low, high = self.versions.get(message_of(api, Kind.REQUEST).key, (1, 0))
        if low > high or low > highest:
            raise Unobserved(f"it does not offer {api}")
        return min(highest, high)

    def kill(self) -> None:
        self.process.kill()
        self.log.add(0, Way.NOTE, "kill -9")
        for peer in (*self.peers.values(), self.client):
            peer.hang_up()

    async def restart(self) -> None:
        try:
            await self.process.start()
        except LaunchError as error:
            raise Inconclusive(str(error)) from error
        self.log.add(0, Way.NOTE, "started again")

    def quorum_state(self) -> Document:
        return self.process.quorum_state()

    # --- Responses of mock peers ---------------------------------------------------------------------------------

    def on(self, api: str, answer: Answer, who: tuple[int, ...] = ()) -> None:
        """Make these peers, or all, respond to an API with `answer` from now on."""
        for id_ in who or self.peers:
            self.peers[id_].answers[api] = answer

    def quiet(self) -> None:
        """Make all peers followers that send no Vote responses and accept a leader's messages."""

        async def reject_fetch(event: Event) -> Document:
            await asyncio.sleep(2 * _PAUSE_S)
            return bodies.fetch_answer(max(0, event.part["currentLeaderEpoch"]), -1, bodies.NOT_LEADER)

        def accept(event: Event) -> Document:
            return bodies.quorum_answer(event.part["leaderEpoch"], event.part["leaderId"])

        for peer in self.peers.values():
            peer.answers = {"Fetch": reject_fetch, "BeginQuorumEpoch": accept, "EndQuorumEpoch": accept}
            # A node outside the voter set asks its bootstrap servers for their ids.
            peer.answers["DescribeQuorum"] = lambda _: bodies.described(self.ports)

    def end_silence(self) -> None:
        """Close the connections with requests that the peers have not answered.

        On a busy machine the implementation may have sent one before it became a follower, and would wait for its
        response.
        """
        for peer in self.peers.values():
            peer.end_silence()

    def grant(self, pre_votes: bool = True, votes: bool = True, who: tuple[int, ...] = ()) -> None:
        """Set the Vote responses of these peers, or of all."""
        self.on(
            "Vote",
            lambda event: bodies.vote_answer(pre_votes if event.part["preVote"] else votes, event.part["replicaEpoch"]),
            who,
        )

    def serve(self, leader: int, epoch: int, records: Callable[[int, int], str] | None = None, **more: Any) -> None:
        """Make a peer respond to Fetch as leader of `epoch`.

        Args:
            leader: the peer.
            epoch: its epoch.
            records: returns the batches, in base64, for a fetch offset and last fetched epoch; None for no records.
            more: further arguments of `bodies.fetch_answer`.
        """

        async def answer(event: Event) -> Document:
            part = event.part
            if part["currentLeaderEpoch"] != epoch:
                is_old = part["currentLeaderEpoch"] < epoch
                code = bodies.FENCED_LEADER_EPOCH if is_old else bodies.UNKNOWN_LEADER_EPOCH
                return bodies.fetch_answer(epoch, leader, code, port=self.ports[leader])
            batches = records(part["fetchOffset"], part["lastFetchedEpoch"]) if records else ""
            if not batches:
                await asyncio.sleep(_PAUSE_S)
            return bodies.fetch_answer(epoch, leader, records=batches, **more)

        self.on("Fetch", answer, (leader,))

    # --- Requests of mock peers and the client -------------------------------------------------------------------

    async def vote(
        self, source: int, epoch: int, is_pre_vote: bool, log: tuple[int, int] = (0, 0), **more: Any
    ) -> Event:
        """Send a peer's Vote and return the response."""
        body = bodies.vote(source, epoch, is_pre_vote, log, **more)
        return await self.peers[source].ask("Vote", self.version("Vote", 2), body)

    async def begin(self, leader: int, epoch: int, **more: Any) -> Event:
        """Send a peer's BeginQuorumEpoch and return the response."""
        body = bodies.begin_quorum_epoch(leader, epoch, self.ports[leader], **more)
        return await self.peers[leader].ask("BeginQuorumEpoch", self.version("BeginQuorumEpoch", 1), body)

    async def end(self, leader: int, epoch: int, preferred: list[int], **more: Any) -> Event:
        """Send a peer's EndQuorumEpoch and return the response."""
        body = bodies.end_quorum_epoch(leader, epoch, preferred, self.ports[leader], **more)
        return await self.peers[leader].ask("EndQuorumEpoch", self.version("EndQuorumEpoch", 1), body)

    async def fetch(self, source: int, epoch: int, offset: int, last_epoch: int, **more: Any) -> Event:
        """Send a peer's Fetch and return the response."""
        body = bodies.fetch(source, epoch, offset, last_epoch, **more)
        return await self.peers[source].ask("Fetch", self.version("Fetch", 17), body)

    async def ask(self, api: str, highest: int, body: Document) -> Event:
        """Send a request of the client, in the highest supported version up to `highest`, and return the response."""
        return await self.client.ask(api, self.version(api, highest), body)

    # --- Requests of the implementation --------------------------------------------------------------------------

    async def asked(
        self, api: str, seconds: float = WAIT_S, after: int = 0, who: int | None = None, **fields: Any
    ) -> Event | None:
        """Return its first request of an API with these fields, from event `after` on; None if it sends none."""
        return await self.log.first(lambda event: self.is_asked(event, api, who, **fields), seconds, after)

    def all_asked(self, api: str, after: int = 0, who: int | None = None, **fields: Any) -> list[Event]:
        """Return all such requests so far."""
        return self.log.all(lambda event: self.is_asked(event, api, who, **fields), after)

    @staticmethod
    def is_asked(event: Event, api: str, who: int | None = None, **fields: Any) -> bool:
        """True if an event is such a request of the implementation."""
        return (
            event.way is Way.ASKED
            and event.api == api
            and who in (None, event.peer)
            and all(event.part.get(name) == value for name, value in fields.items())
        )

    async def eventually(self, check: Callable[[], bool | Awaitable[bool]], seconds: float = WAIT_S) -> bool:
        """True if a check succeeds within `seconds`."""
        end = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < end:
            value = check()
            if value if isinstance(value, bool) else await value:
                return True
            await asyncio.sleep(0.02)
        return False
