"""Scripted runs: a list of moves, each an action with the relevant parameters."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kraft_proofs.induction.interpreter import Interpreter, Step
from kraft_proofs.induction.worlds import Entry, Replicas, World

BOOTSTRAP = "bootstrap"
"""Name of the empty log in a script."""


class Cluster(NamedTuple):
    """Size of a run's cluster."""

    replicas: int
    """Number of replica keys, which start from 1."""
    voters: int
    """Number of voters that the cluster is formatted with."""
    last_epoch: int


class Move(NamedTuple):
    """An action, and the values required of its parameters."""

    action: str
    given: Mapping[str, Any]
    """Values by name without `the_`. Other parameters take the largest value: the longest log, the newest epoch."""
    voters: Replicas | None = None
    """Voter set that `append` writes, None for another record."""

    def __str__(self) -> str:
        return str(Step(self.action, {f"the_{name}": value for name, value in self.given.items()}))


def moves(script: str) -> tuple[Move, ...]:
    """Parse the moves of a script, separated by lines or semicolons.

    `elect C V...`: the candidate stands for a new epoch, and the other replicas vote for it.
    `append L` or `append L {V,...}`: the leader appends a record, or a VotersRecord with these voters.
    `replicate L F...`: the followers copy the leader's log and acknowledge it.
    `commit L`: the leader commits as much as possible.
    `ACTION NAME=VALUE...`: any other action, with numbers for replicas and epochs, `bootstrap` for the empty log.

    Raises:
        ValueError: a word is none of these.
    """
    return tuple(move for line in re.split("[;\n]", script.strip()) for move in _parse_move(*line.split()))


def _parse_move(verb: str, *words: str) -> Iterator[Move]:
    if verb not in ("append", "elect", "replicate", "commit"):
        parts = (word.partition("=") for word in words)
        yield Move(verb, {name: value if value == BOOTSTRAP else int(value) for name, _, value in parts})
        return
    first, *other_ids = (int(number) for number in re.findall("[0-9]+", " ".join(words)))
    if verb == "append":
        yield Move(verb, {"leader": first}, frozenset(other_ids) or None)
    if verb == "commit":
        yield Move(verb, {"leader": first})
    if verb == "elect":
        yield Move("stand", {"candidate": first})
        yield from (Move("vote", {"voter": voter, "candidate": first}) for voter in other_ids)
        yield Move("become-leader", {"candidate": first})
    for follower in other_ids if verb == "replicate" else ():
        yield Move("learn-leader", {"replica": follower, "leader": first})
        yield Move("fetch-records", {"replica": follower})
        yield Move("acknowledge", {"replica": follower})


class Breach(NamedTuple):
    """A step that violates invariants."""

    number: int
    """Number of the step in the run, from 1."""
    step: Step
    names: tuple[str, ...]
    """Invariants that held before it and do not hold after it."""


class Replayed(NamedTuple):
    """Result of a scripted run."""

    steps: tuple[Step, ...]
    world: World
    """Last state."""
    breaches: tuple[Breach, ...]
    refused: Move | None
    """The move that the theory does not allow; the run ends before it."""


def first_world(interpreter: Interpreter, cluster: Cluster) -> World:
    """Return the first state of runs of the cluster."""
    replicas = tuple(range(1, cluster.replicas + 1))
    return interpreter.first(replicas, frozenset(replicas[: cluster.voters]), cluster.last_epoch)


def replay(interpreter: Interpreter, cluster: Cluster, script: tuple[Move, ...]) -> Replayed:
    """Play the moves in order until one is not allowed."""
    world = first_world(interpreter, cluster)
    steps: list[Step] = []
    breaches: list[Breach] = []
    broken: frozenset[str] = frozenset()
    for move in script:
        unwritten = world.next_entries([move.voters]) if move.action == "append" else ()
        fixed = {name: world.bootstrap if value == BOOTSTRAP else value for name, value in move.given.items()}
        options = interpreter.steps(world, move.action, *unwritten, **fixed)
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
