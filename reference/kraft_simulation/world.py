"""A cluster as a set of primitive moves, each of which yields one `Occurrence`.

`World` has the states of the replicas (which are also their disks), the in-flight messages, the cut links, the virtual
time and the sequence number.  It decides nothing: the simulator (`simulation`) chooses moves at random, a scenario
(`kraft_simulation.scenarios`) by a script.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kraft_reference.configuration import Configuration, PreVoteSupport
from kraft_reference.effects import Send
from kraft_reference.events import DISK_EVENTS, Crash, Draw, Event, Receive, ReplaceDisk, ReplaceSoftware, Restart
from kraft_reference.messages import Error, Message, VoteRequest, VoteResponse
from kraft_reference.replica import Replica, handle
from kraft_reference.state import ReplicaState, new_replica
from kraft_simulation.occurrence import (
    AnswerUnsupportedVersion,
    CrashPoint,
    CutLink,
    DropMessage,
    DuplicateMessage,
    HealLink,
    NetworkEvent,
    Occurrence,
    message_id,
)

MakeReplica = Callable[[ReplicaState, Configuration], Replica]
"""Makes a started replica with this state, of the reference or of other software."""


class ImpossibleMoveError(ValueError):
    """A move is impossible: an unknown message, a cut link, a crash that keeps too little."""


class Flight(NamedTuple):
    """An in-flight message and the number of its copies."""

    message: Message
    copies: int = 1


def take_copy(network: dict[str, Flight], identifier: str) -> None:
    """Remove a copy of an in-flight message."""
    flight = network[identifier]
    if flight.copies == 1:
        del network[identifier]
    else:
        network[identifier] = flight._replace(copies=flight.copies - 1)


def add_copy(network: dict[str, Flight], identifier: str) -> None:
    """Add a copy of an in-flight message."""
    flight = network[identifier]
    network[identifier] = flight._replace(copies=flight.copies + 1)


class World:
    """The replicas of a cluster and the network between them.

    Every replica has been started on an empty disk when the world begins.
    """

    def __init__(self, configuration: Configuration, make_replica: MakeReplica = Replica) -> None:
        self.configuration = configuration
        self._make_replica = make_replica
        self.time_ms = 0
        self.sequence = 0
        self.committed_end = 0
        """Largest high watermark that any replica has had."""
        self.in_flight: dict[str, Flight] = {}
        self.cuts: set[tuple[int, int]] = set()
        self.replicas: dict[int, Replica] = {}
        self._directories = {replica.key.directory_id for replica in configuration.replicas.values()}
        for replica_id, replica in sorted(configuration.replicas.items()):
            formatted = new_replica(replica.key, configuration.checkpoint(replica_id))
            started = handle(formatted, configuration, Restart(), Draw(0, 0, 0))
            self.replicas[replica_id] = make_replica(started.state, configuration)

    @property
    def states(self) -> dict[int, ReplicaState]:
        """Current states of all replicas, by ascending id."""
        return {replica_id: replica.state for replica_id, replica in self.replicas.items()}

    def state(self, replica_id: int) -> ReplicaState:
        """Return the current state of a replica."""
        return self.replicas[replica_id].state

    def draw(self, election_timeout_ms: int = 0, election_backoff_ms: int = 0) -> Draw:
        """Return the draw for the next move; its correlation id is the move's sequence number."""
        return Draw(self.sequence + 1, election_timeout_ms, election_backoff_ms)

    # -----------------------------------------------------------------------------------------------------
    # Moves of a replica.
    # -----------------------------------------------------------------------------------------------------

    def happen(
        self, replica_id: int, event: Event, draw: Draw | None = None, crash: CrashPoint | None = None
    ) -> Occurrence:
        """Make an event happen at a replica, which crashes at the crash point if there is one.

        Its messages enter the network.  `deliver` is for received messages.

        Raises:
            ImpossibleMoveError: the crash cannot keep this much of the log, or the event is one of the disk.
        """
        if crash is not None and isinstance(event, DISK_EVENTS):
            raise ImpossibleMoveError(f"{type(event).__name__} has no effects to die between")
        return self._happen(replica_id, event, draw, crash, None)

    def deliver(self, identifier: str, draw: Draw | None = None, crash: CrashPoint | None = None) -> Occurrence:
        """Deliver a copy of a message.

        Raises:
            ImpossibleMoveError: the message is not in flight, its link is cut, or its receiver cannot decode it.
        """
        message = self._deliverable(identifier)
        take_copy(self.in_flight, identifier)
        return self._happen(message.destination, Receive(message), draw, crash, identifier)

    def crash(self, replica_id: int, log_end_offset: int | None = None) -> Occurrence:
        """Crash a replica; by default it loses all unsynced records."""
        kept = self.state(replica_id).log.flushed if log_end_offset is None else log_end_offset
        return self.happen(replica_id, Crash(kept))

    def restart(self, replica_id: int, draw: Draw | None = None) -> Occurrence:
        """Start a stopped replica from its disk."""
        return self.happen(replica_id, Restart(), draw)

    def replace_disk(self, replica_id: int, directory_id: str) -> Occurrence:
        """Give a stopped replica an empty disk.

        Rule: identity.directory-id-at-format.

        Raises:
            ImpossibleMoveError: the directory id was used before; formatting draws a new one.
        """
        if directory_id in self._directories:
            raise ImpossibleMoveError(f"directory id {directory_id} was given out before, expected a new one")
        self._directories.add(directory_id)
        return self.happen(replica_id, ReplaceDisk(directory_id))

    # -----------------------------------------------------------------------------------------------------
    # Moves of the network.
    # -----------------------------------------------------------------------------------------------------

    def network(self, event: NetworkEvent) -> Occurrence:
        """Make an event of the network happen.

        Raises:
            ImpossibleMoveError: as the move that it names.
        """
        match event:
            case DropMessage(identifier):
                return self.drop(identifier)
            case DuplicateMessage(identifier):
                return self.duplicate(identifier)
            case AnswerUnsupportedVersion(identifier):
                return self.answer_unsupported_version(identifier)
            case CutLink(source, destination):
                return self.cut(source, destination)
            case HealLink(source, destination):
                return self.heal(source, destination)

    def drop(self, identifier: str) -> Occurrence:
        """Drop a copy of a message."""
        self._known(identifier)
        take_copy(self.in_flight, identifier)
        return self._record_network(DropMessage(identifier))

    def duplicate(self, identifier: str) -> Occurrence:
        """Duplicate a message."""
        self._known(identifier)
        add_copy(self.in_flight, identifier)
        return self._record_network(DuplicateMessage(identifier))

    def answer_unsupported_version(self, identifier: str) -> Occurrence:
        """Respond to a Pre-Vote at its sender, because the receiver's software could not decode it.

        Raises:
            ImpossibleMoveError: the receiver can decode the message.

        Rule: prevote.unsupported-version.
        """
        message = self._known(identifier).message
        if not isinstance(message, VoteRequest) or not self.cannot_be_encoded(message):
            raise ImpossibleMoveError(f"message {identifier} can be encoded for replica {message.destination}")
        take_copy(self.in_flight, identifier)
        answer = VoteResponse(
            source=message.destination,
            destination=message.source,
            correlation_id=message.correlation_id,
            error=Error.UNSUPPORTED_VERSION,
            epoch=0,
            leader_id=None,
            leader_endpoint=None,
            granted=False,
            pre_vote=False,
        )
        occurrence = self._record_network(AnswerUnsupportedVersion(identifier), answer)
        self.in_flight[message_id(occurrence.sequence, answer)] = Flight(answer)
        return occurrence

    def cut(self, source: int, destination: int) -> Occurrence:
        """Cut one direction of a link."""
        if (source, destination) in self.cuts:
            raise ImpossibleMoveError(f"the link from {source} to {destination} is cut already")
        self.cuts.add((source, destination))
        return self._record_network(CutLink(source, destination))

    def heal(self, source: int, destination: int) -> Occurrence:
        """Heal one direction of a link."""
        if (source, destination) not in self.cuts:
            raise ImpossibleMoveError(f"the link from {source} to {destination} is not cut")
        self.cuts.remove((source, destination))
        return self._record_network(HealLink(source, destination))

    def cannot_be_encoded(self, message: Message) -> bool:
        """True if the message is a Pre-Vote for software below Vote version 2."""
        return (
            isinstance(message, VoteRequest)
            and message.pre_vote
            and self.configuration.replicas[message.destination].pre_vote == "unsupported"
        )

    def messages(self, source: int | None = None, destination: int | None = None) -> Iterable[tuple[str, Message]]:
        """Yield the in-flight messages with their ids, oldest first."""
        for identifier, flight in self.in_flight.items():
            message = flight.message
            if source in (None, message.source) and destination in (None, message.destination):
                yield identifier, message

    # -----------------------------------------------------------------------------------------------------
    # Inside.
    # -----------------------------------------------------------------------------------------------------

    def _known(self, identifier: str) -> Flight:
        flight = self.in_flight.get(identifier)
        if flight is None:
            raise ImpossibleMoveError(f"no message {identifier} is on its way")
        return flight

    def _deliverable(self, identifier: str) -> Message:
        message = self._known(identifier).message
        if (message.source, message.destination) in self.cuts:
            raise ImpossibleMoveError(f"the link from {message.source} to {message.destination} is cut")
        if self.cannot_be_encoded(message):
            raise ImpossibleMoveError(f"message {identifier} cannot be encoded for replica {message.destination}")
        return message

    def _happen(
        self, replica_id: int, event: Event, draw: Draw | None, crash: CrashPoint | None, identifier: str | None
    ) -> Occurrence:
        replica = self.replicas[replica_id]
        before, draw = replica.state, draw or self.draw()
        if crash is None:
            step = replica.step(event, draw)
        else:
            try:
                step = replica.crash_during(event, draw, crash.completed, crash.log_end_offset)
            except ValueError as error:
                replica.state = before
                raise ImpossibleMoveError(str(error)) from error
        state, effects = step.state, step.effects
        if isinstance(event, ReplaceSoftware) and step.refusal is None:
            self._replace_software(replica_id, event.pre_vote)
        self.sequence += 1
        for effect in effects:
            if isinstance(effect, Send):
                self.in_flight[message_id(self.sequence, effect.message)] = Flight(effect.message)
        self.committed_end = max(self.committed_end, state.high_watermark)
        return Occurrence(
            self.sequence, self.time_ms, event, replica_id, identifier, effects, step.refusal, crash, state
        )

    def _replace_software(self, replica_id: int, pre_vote: PreVoteSupport) -> None:
        self.configuration = self.configuration.with_software({replica_id: pre_vote})
        for replica in self.replicas.values():
            replica.configuration = self.configuration
        self.replicas[replica_id] = self._make_replica(self.state(replica_id), self.configuration)

    def _record_network(self, event: NetworkEvent, answer: Message | None = None) -> Occurrence:
        self.sequence += 1
        return Occurrence(self.sequence, self.time_ms, event, None, answer=answer)
