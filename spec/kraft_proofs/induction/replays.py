"""Scripted runs: a list of moves, each an action with as many of its parameters as matter."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kraft_proofs.induction.interpreter import Interpreter, Step
from kraft_proofs.induction.worlds import Entry, Replicas, World

BOOTSTRAP = "bootstrap"
"""The empty log, in a script."""


class Cluster(NamedTuple):
    """Where a run starts and ends."""

    replicas: int
    """How many replica keys there are, 1 and up."""
    voters: int
    """How many of them the cluster is formatted with."""
    last_epoch: int


class Move(NamedTuple):
    """An action, and what must be so of its parameters."""

    action: str
    given: Mapping[str, Any]
    """By name without `the_`. Of what is left open the largest is taken: the longest log, the newest epoch."""
    voters: Replicas | None = None
    """For `append`: the voters set to write, None for another record."""

    def __str__(self) -> str:
        return str(Step(self.action, {f"the_{name}": value for name, value in self.given.items()}))


def moves(script: str) -> tuple[Move, ...]:
    """The moves of a script, in lines or with semicolons between them.

    `elect C V...`: the candidate stands for an epoch that nobody has reached, and these others vote for it.
    `append L` or `append L {V,...}`: the leader appends a record, or a VotersRecord with these voters.
    `replicate L F...`: the followers take over the leader's log and acknowledge it.
    `commit L`: the leader counts as much as it can.
    `ACTION NAME=VALUE...`: any other action, with numbers for replicas and epochs, `bootstrap` for the empty log.

    Raises:
        ValueError: a word is none of these.
    """
    return tuple(move for line in re.split("[;\n]", script.strip()) for move in _moves(*line.split()))


def _moves(verb: str, *words: str) -> Iterator[Move]:
    if verb not in ("append", "elect", "replicate", "commit"):
        parts = (word.partition("=") for word in words)
        yield Move(verb, {name: value if value == BOOTSTRAP else int(value) for name, _, value in parts})
        return
    first, *others = (int(number) for number in re.findall("[0-9]+", " ".join(words)))
    if verb == "append":
        yield Move(verb, {"leader": first}, frozenset(others) or None)
    if verb == "commit":
        yield Move(verb, {"leader": first})
    if verb == "elect":
        yield Move("stand", {"candidate": first})
        yield from (Move("vote", {"voter": voter, "candidate": first}) for voter in others)
        yield Move("become-leader", {"candidate": first})
    for follower in others if verb == "replicate" else ():
        yield Move("learn-leader", {"replica": follower, "leader": first})
        yield Move("fetch-records", {"replica": follower})
        yield Move("acknowledge", {"replica": follower})


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


def first_world(interpreter: Interpreter, cluster: Cluster) -> World:
    """The state that runs of the cluster start in."""
    replicas = tuple(range(1, cluster.replicas + 1))
    return interpreter.first(replicas, frozenset(replicas[: cluster.voters]), cluster.last_epoch)


def replay(interpreter: Interpreter, cluster: Cluster, script: tuple[Move, ...]) -> Replayed:
    """Make the moves, one after the other, until one is refused."""
    world = first_world(interpreter, cluster)
    steps: list[Step] = []
    breaches: list[Breach] = []
    broken: frozenset[str] = frozenset()
    for move in script:
        unwritten = world.next_entries([move.voters]) if move.action == "append" else ()
        given = {name: world.bootstrap if value == BOOTSTRAP else value for name, value in move.given.items()}
        options = interpreter.steps(world, move.action, *unwritten, **given)
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
