"""Scripted runs: a list of moves, each an action with as many of its parameters as matter."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kraft_spec.proofs.induction.interpreter import Interpreter, Step
from kraft_spec.proofs.induction.simulator import Cluster, first_world
from kraft_spec.proofs.induction.worlds import Entry, Replicas, World


class Move(NamedTuple):
    """An action, and what must be so of its parameters."""

    action: str
    given: Mapping[str, Any]
    """By name without `the_`. Of what is left open the largest is taken: the longest log, the newest epoch."""
    voters: Replicas | None = None
    """For `append`: the voters set to write, None for another record."""

    def __str__(self) -> str:
        return str(Step(self.action, {f"the_{name}": value for name, value in self.given.items()}))


def move(action: str, **given: Any) -> Move:
    """An action with these parameters."""
    return Move(action, given)


def append(leader: int, *voters: int) -> Move:
    """The leader appends a VotersRecord with these voters, or another record."""
    return Move("append", {"leader": leader}, frozenset(voters) or None)


def elect(candidate: int, *voters: int) -> tuple[Move, ...]:
    """The candidate stands for an epoch that nobody has reached, and these others vote for it."""
    votes = (move("vote", voter=voter, candidate=candidate) for voter in voters)
    return (move("stand", candidate=candidate), *votes, move("become-leader", candidate=candidate))


def replicate(leader: int, *followers: int) -> tuple[Move, ...]:
    """The followers take over the leader's log and acknowledge it."""
    return tuple(
        part
        for follower in followers
        for part in (
            move("learn-leader", replica=follower, leader=leader),
            move("fetch-records", replica=follower),
            move("acknowledge", replica=follower),
        )
    )


def commit(leader: int) -> Move:
    """The leader counts as much as it can."""
    return move("commit", leader=leader)


class Breach(NamedTuple):
    """A step after which something no longer holds."""

    number: int
    """Of the step in the run, from 1."""
    step: Step
    names: tuple[str, ...]
    """Invariants that held before it and do not hold after it."""


class Replayed(NamedTuple):
    """How far a scripted run came."""

    steps: tuple[Step, ...]
    world: World
    """The last state."""
    breaches: tuple[Breach, ...]
    refused: Move | None
    """The move that the theory does not allow; the run ends before it."""


def replay(interpreter: Interpreter, cluster: Cluster, moves: tuple[Move, ...]) -> Replayed:
    """Make the moves, one after the other, until one is refused."""
    world = first_world(interpreter, cluster)
    steps: list[Step] = []
    breaches: list[Breach] = []
    broken: frozenset[str] = frozenset()
    for move in moves:
        unwritten = world.next_entries([move.voters]) if move.action == "append" else ()
        options = interpreter.steps(world, move.action, *unwritten, **move.given)
        step = max(options, key=_size, default=None)
        if step is None:
            return Replayed(tuple(steps), world, tuple(breaches), move)
        world = interpreter.after(world, step)
        steps.append(step)
        now = interpreter.broken(world)
        names = tuple(name for name in now if name not in broken)
        if names:
            breaches.append(Breach(len(steps), step, names))
        broken = frozenset(now)
    return Replayed(tuple(steps), world, tuple(breaches), None)


def _size(step: Step) -> list[Any]:
    return [_weight(value) for value in step.arguments.values()]


def _weight(value: Any) -> Any:
    if isinstance(value, Entry):
        return value.offset, value.key
    return sorted(value) if isinstance(value, frozenset) else value


SINGLE_SERVER_BUG = (
    Cluster(5, 4, 3, 0),
    (
        *elect(1, 2, 3),
        append(1),
        *replicate(1, 2, 3, 4),
        commit(1),
        append(1, 1, 2, 3, 4, 5),
        *replicate(1, 5),
        *elect(2, 3, 4),
        append(2, 2, 3, 4),
        *replicate(2, 3),
        commit(2),
        *elect(1, 4, 5),
        append(1),
        *replicate(1, 4, 5),
        commit(1),
    ),
)
"""Raft's single-server bug. Replica 1 commits in epoch 1, then adds replica 5, on 1 and 5 only. Replica 2, leader of
epoch 2, removes replica 1 at once and commits that with 2 and 3. Replica 1 is elected again by 1, 4 and 5, without the
committed removal, and commits another record in its place."""

KIP_642_RESUME = (
    Cluster(6, 4, 3, 0),
    (
        *elect(1, 2, 3),
        append(1),
        *replicate(1, 2, 3, 4),
        commit(1),
        append(1, 1, 2, 3, 4, 5),
        *replicate(1, 5),
        *elect(2, 3, 4),
        append(2, 1, 2, 3, 4, 6),
        *replicate(2, 3, 6),
        commit(2),
        *elect(1, 4, 5),
        append(1),
        *replicate(1, 4, 5),
        commit(1),
    ),
)
"""KIP-642 read literally. The record of epoch 1 is the target {1,2,5,6}; replica 1 adds 5. Replica 2 is elected and
resumes the plan at once with 6, without a commit in its own epoch, and commits that with 2, 3 and 6. Replica 1 is
elected again by 1, 4 and 5, and commits another record in its place."""

COURSE = (
    Cluster(5, 3, 5, 0),
    (
        *elect(1, 2),
        append(1),
        *replicate(1, 2),
        commit(1),
        append(1, 1, 2, 3, 4),
        *replicate(1, 2, 4),
        commit(1),
        append(1),
        *elect(2, 3, 4),
        append(2),
        *replicate(2, 4),
        move("learn-leader", replica=1, leader=2),
        *elect(2, 3, 4),
        append(2),
        *replicate(2, 3, 4),
        commit(2),
        move("learn-leader", replica=1, leader=2),
        move("stand", candidate=3),
    ),
)
"""A voter is added, two leaders follow, and replica 1 has an entry that nobody else has."""
