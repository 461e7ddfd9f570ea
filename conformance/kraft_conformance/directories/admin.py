"""The admin client of a simulated quorum: whom it asks, who answers, and what."""

from collections.abc import Callable
from dataclasses import dataclass

from kraft_conformance.directories.metadata_directory import MetadataDirectory
from kraft_conformance.directories.quorum import Quorum
from kraft_conformance.failure import usage_error
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.effects import Answer
from kraft_reference.events import AddVoter, AlterPartitionReassignments, RemoveVoter, UpdateFeatures
from kraft_reference.messages import Error, Reply

CLIENT_TIMEOUT_MS = 60_000
"""How long the client waits for an answer and for somebody to ask (default.api.timeout.ms)."""
_RETRY_MS = 100

AdminRequest = AddVoter | RemoveVoter | UpdateFeatures | AlterPartitionReassignments


@dataclass(frozen=True, slots=True)
class Route:
    """Where requests go.  Rule: cli.admin-routing."""

    controllers: tuple[int, ...] = ()
    """Controllers to ask, in order; empty if brokers are."""
    brokers: tuple[int, ...] = ()
    """Brokers, of which the least loaded forwards to the leader."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request."""

    reply: Reply | None
    """None if nobody has answered in time."""
    hops: tuple[str, ...]
    """Who was asked, and what they said."""
    was_sent: bool
    """Was there anybody to ask?"""
    asked_at_ms: int
    answered_at_ms: int
    was_taken_on: bool = False
    """Did a leader go to work on it? If none did, nothing has changed."""
    lost_epoch: bool = False
    """Did the leader that was at work on it lose its epoch?  Rule: add-voter.leader-change-leaves-outcome-open."""
    was_appended: bool = False
    """Did the leader give up on a record that stays in its log?  Rule: add-voter.timeout."""

    @property
    def is_open(self) -> bool:
        """Is it open whether the change takes effect?"""
        return self.lost_epoch or self.was_appended or (self.reply is None and self.was_taken_on)

    @property
    def succeeded(self) -> bool:
        """Was the request granted?"""
        return self.reply is not None and self.reply.error is Error.NONE


def route(nodes: dict[int, MetadataDirectory], quorum: Quorum, servers: str | None, controllers: str | None) -> Route:
    """The nodes at the endpoints of --bootstrap-server or --bootstrap-controller; without either the quorum's own.

    Raises:
        CommandError: both are given, or nobody of the right kind listens at an endpoint.
    """
    if servers and controllers:
        raise usage_error("--bootstrap-server and --bootstrap-controller: expected one of the two")
    replicas = quorum.configuration.replicas
    brokers = {node_id for node_id, node in nodes.items() if not node.node.is_controller}
    at = {quorum.state(node_id).moved_to or replica.endpoint: node_id for node_id, replica in replicas.items()}
    found = []
    for server in (servers or controllers or "").split(",") if servers or controllers else ():
        node_id = at.get(server.strip())
        if node_id is None or (node_id in brokers) is not bool(servers):
            option, kind = ("--bootstrap-server", "broker") if servers else ("--bootstrap-controller", "controller")
            there = sorted(address for address, one in at.items() if (one in brokers) is bool(servers))
            known = f"there are {', '.join(there)}" if there else f"no {kind} is formatted here"
            raise usage_error(f"{option} {server}: no {kind} listens there; {known}")
        found.append(node_id)
    if servers:
        return Route(brokers=tuple(found))
    return Route(controllers=tuple(found) or quorum.configuration.bootstrap_servers)


class Client:
    """Asks one thing at a time and lets time pass until it is answered."""

    def __init__(self, quorum: Quorum, to: Route) -> None:
        self._quorum = quorum
        self._route = to
        self._hops: list[str] = []
        self._was_sent = False
        self._was_taken_on = False

    def ask(self, request: Callable[[int], AdminRequest]) -> Outcome:
        """The outcome of a request, which `request` makes of its number: the sequence of the line that it becomes."""
        started_ms = self._quorum.now_ms
        deadline_ms = started_ms + CLIENT_TIMEOUT_MS
        hint: int | None = None
        tried = 0
        while self._quorum.now_ms < deadline_ms:
            target = self._forwarder() if self._route.brokers else self._controller(hint, tried)
            tried += 1
            hint = None
            if target is not None:
                reply, at_once = self._answer(target, request, deadline_ms)
                if reply is None or reply.error is not Error.NOT_LEADER_OR_FOLLOWER:
                    late = not at_once and reply is not None and reply.error is Error.REQUEST_TIMED_OUT
                    return self._outcome(reply, started_ms, was_appended=late and self._has_uncommitted_set(target))
                if not at_once:
                    return self._outcome(reply, started_ms, lost_epoch=True)
                hint = reply.leader_id if reply.leader_id != target else None
                if hint is not None and self._quorum.is_running(hint):
                    continue
            self._quorum.run(_RETRY_MS)
        return self._outcome(None, started_ms)

    def _controller(self, hint: int | None, tried: int) -> int | None:
        """The leader that somebody has named, else the next running one of the list."""
        if hint is not None and self._quorum.is_running(hint):
            return hint
        running = [node_id for node_id in self._route.controllers if self._quorum.is_running(node_id)]
        if not running:
            self._hop("no controller of the list is running")
            return None
        return running[tried % len(running)]

    def _forwarder(self) -> int | None:
        """The leader that the least loaded broker knows, if it runs."""
        quorum = self._quorum
        running = [node_id for node_id in self._route.brokers if quorum.is_running(node_id)]
        if not running:
            self._hop("no broker of the list is running")
            return None
        broker = min(running, key=lambda node_id: (len(quorum.state(node_id).awaiting), node_id))
        leader = quorum.state(broker).leader_id
        if leader is None or not quorum.is_running(leader):
            self._hop(f"broker {broker} knows no leader that runs")
            return None
        self._hop(f"broker {broker} forwards to controller {leader}")
        return leader

    def _answer(
        self, target: int, request: Callable[[int], AdminRequest], deadline_ms: int
    ) -> tuple[Reply | None, bool]:
        """What a controller answers, and whether in the very step in which it was asked."""
        quorum = self._quorum
        number = quorum.world.sequence + 1
        self._was_sent = True
        occurrence = quorum.happen(target, request(number))
        reply = _reply_in(occurrence, number)
        at_once = reply is not None
        if reply is None:
            self._was_taken_on = True
            self._hop(f"controller {target} is at work on it (request {number})")
            for occurrence in quorum.advance(deadline_ms - quorum.now_ms):
                reply = _reply_in(occurrence, number)
                if reply is not None:
                    break
        if reply is not None:
            self._hop(f"controller {target} answers {_answer_text(target, reply)}")
        return reply, at_once

    def _hop(self, said: str) -> None:
        if said not in self._hops:
            self._hops.append(said)

    def _has_uncommitted_set(self, leader: int) -> bool:
        """Is there a voters set in the leader's log that is not committed? One change at a time: it is this one's."""
        state = self._quorum.state(leader)
        return state.log.voters[-1].offset >= state.high_watermark

    def _outcome(
        self, reply: Reply | None, started_ms: int, *, lost_epoch: bool = False, was_appended: bool = False
    ) -> Outcome:
        return Outcome(
            reply,
            tuple(self._hops),
            self._was_sent,
            started_ms,
            self._quorum.now_ms,
            self._was_taken_on,
            lost_epoch,
            was_appended,
        )


def _answer_text(replica_id: int, reply: Reply) -> str:
    if reply.error is not Error.NOT_LEADER_OR_FOLLOWER:
        return str(reply.error)
    if reply.leader_id == replica_id:
        return f"{reply.error}, it has led until now"
    return f"{reply.error}, " + (
        "it knows no leader" if reply.leader_id is None else f"the leader is {reply.leader_id}"
    )


def _reply_in(occurrence: Occurrence, number: int) -> Reply | None:
    for effect in occurrence.effects:
        if isinstance(effect, Answer) and effect.reply.request == number:
            return effect.reply
    return None
