"""What the schedules by hand have in common: what one states of itself, and the moves that they share."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.world import InFlight, MakeReplica, World
from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer
from kraft_reference.events import CheckQuorumTimeout, Draw, ElectionTimeout, Poll, PollFetch
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import Message, VoteRequest
from kraft_reference.outcome import Refusal
from kraft_reference.replica import Replica
from kraft_reference.roles import Role
from kraft_reference.scenarios.notation import notation
from kraft_reference.state import ReplicaState


@dataclass(frozen=True, slots=True)
class ByHand:
    """A schedule.

    Attributes:
        name: Of the schedule.
        why: Why nothing else gets there.
        occurrences: Runs it.
        refusals: What it is told, of the refusals that it is about, in order.
        ends: Roles at its end, `N1 L(1,voted=1)`, and where the leader listens if it has moved, ` at elsewhere:9093`.
        starts: Timers that its last event starts.
    """

    name: str
    why: str
    occurrences: Callable[[], Iterator[Occurrence]]
    refusals: tuple[Refusal, ...]
    ends: str
    starts: tuple[StartTimer, ...] = ()


class Told(NamedTuple):
    """What a schedule comes to; the fields are those of `ByHand`."""

    refusals: tuple[Refusal, ...]
    ends: str
    starts: tuple[StartTimer, ...]


def told(occurrences: Iterable[Occurrence]) -> Told:
    """What a schedule comes to: its refusals in order, late answers left out, the roles and the timers at its end."""
    refusals: list[Refusal] = []
    last: dict[int, ReplicaState] = {}
    starts: tuple[StartTimer, ...] = ()
    for occurrence in occurrences:
        starts = tuple([effect for effect in occurrence.effects if isinstance(effect, StartTimer)])
        if occurrence.refusal is not None and occurrence.refusal is not Refusal.UNCORRELATED_RESPONSE:
            refusals.append(occurrence.refusal)
        if occurrence.state is not None:
            last[occurrence.state.key.id] = occurrence.state
    ends = " ".join(f"N{number} {notation(state)}{_moved(state)}" for number, state in sorted(last.items()))
    return Told(tuple(refusals), ends, starts)


def _moved(state: ReplicaState) -> str:
    """Where the leader listens as far as the replica knows, if it has moved."""
    usual = (None, f"replica-{state.leader_id}:9093")
    return "" if state.leader_endpoint in usual else f" at {state.leader_endpoint}"


class Hand:
    """A world, and the moves that the schedules share."""

    def __init__(self, configuration: Configuration, make_replica: MakeReplica = Replica) -> None:
        self.world = World(configuration, make_replica)

    def forge(self, message: Message, draw: Draw | None = None) -> Occurrence:
        """Deliver a message that nobody sent."""
        self.world.in_flight["forged"] = InFlight(message)
        return self.world.deliver("forged", draw)

    def deliver_all(self) -> Iterator[Occurrence]:
        """Deliver what is on its way, and what follows from it."""
        while waiting := next(iter(self.world.in_flight), None):
            yield self.world.deliver(waiting)

    def elect(self, replica_id: int) -> Iterator[Occurrence]:
        """Make a replica the leader of the next epoch, and let the others know."""
        world = self.world
        yield world.happen(replica_id, ElectionTimeout())
        while world.state(replica_id).role is not Role.LEADER:
            yield world.happen(replica_id, Poll())
            yield from self.deliver_all()
        yield world.happen(replica_id, Poll())
        yield from self.deliver_all()

    def fetch_from_first(self, replica_id: int) -> Iterator[Occurrence]:
        """Let a follower fetch from replica 1; what else is on its way stays there."""
        return self.fetch(replica_id, 1)

    def fetch(self, replica_id: int, leader: int) -> Iterator[Occurrence]:
        """Let a follower fetch from its leader; what else is on its way stays there."""
        yield self.world.happen(replica_id, PollFetch(leader))
        for source, destination in ((replica_id, leader), (leader, replica_id)):
            (identifier,) = (identifier for identifier, _ in self.world.messages(source, destination))
            yield self.world.deliver(identifier)


def in_role(hand: Hand, role: Role) -> Iterator[Occurrence]:
    """Bring replica 1 into a role, without a leader of its epoch where there is such a state."""
    world = hand.world
    match role:
        case Role.FOLLOWER:
            yield from hand.elect(2)
            return
        case Role.LEADER | Role.RESIGNED:
            yield from hand.elect(1)
            if role is Role.RESIGNED:
                yield world.happen(1, CheckQuorumTimeout())
            return
        case _:
            pass
    # Epoch 1, of which nobody has heard a leader.
    yield hand.forge(VoteRequest(3, 1, 0, 1, ReplicaKey(3, "U3"), None, last_epoch=0, end_offset=0, pre_vote=True))
    if role is not Role.UNATTACHED:
        yield world.happen(1, ElectionTimeout())
    if role is Role.CANDIDATE:
        yield world.happen(1, Poll())
        for identifier, _ in tuple(world.messages(source=1, destination=2)):
            yield world.deliver(identifier)
        for identifier, _ in tuple(world.messages(destination=1)):
            yield world.deliver(identifier)
