"""Random runs of small clusters through the theory's own actions, with every invariant evaluated in every state.

A run that breaks an invariant shows an error in the theory that a proof of it could not have. A run in which nothing
happens shows nothing; so what happened is counted.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import NamedTuple

from kraft_spec.proofs.induction.interpreter import Interpreter, Step
from kraft_spec.proofs.induction.worlds import Replicas, World, all_sets

AXIOMS_EVERY = 50
"""Axioms speak of all entries at once, and change with the entries only: one in so many states is enough."""

MOST_BARREN_RUNS = 500
"""So many runs in a row without a new state, and there are too few to reach."""


class Cluster(NamedTuple):
    """Where a run starts and ends."""

    replicas: int
    """How many replica keys there are, 1 and up."""
    voters: int
    """How many of them the cluster is formatted with."""
    last_epoch: int
    tries: int = 0
    """How many actions one run tries; about half of them are possible and change something."""


CLUSTERS = (Cluster(3, 3, 5, 300), Cluster(4, 2, 5, 300), Cluster(4, 3, 5, 300), Cluster(5, 4, 4, 300))
"""Odd and even sets, with replicas to spare for voter changes."""

WEIGHTS: Mapping[str, float] = {
    "stand": 0.4,
    "stand-again": 4,
    "vote": 10,
    "become-leader": 12,
    "append": 6,
    "commit": 10,
    "learn-epoch": 0.1,
    "learn-leader": 4,
    "fetch-records": 8,
    "learn-high-watermark": 2,
    "truncate": 6,
    "load-snapshot": 0.5,
    "sync": 0.5,
    "acknowledge": 8,
    "crash": 0.5,
    "replace-disk": 0.5,
}
"""How often an action is tried. With equal weights most runs would use up their epochs before anything is committed."""


class Broken(NamedTuple):
    """A state that a run reached in which something does not hold."""

    names: tuple[str, ...]
    """Invariants, or axioms."""
    cluster: Cluster
    steps: tuple[Step, ...]
    """The run, from the first state."""
    world: World
    """Where it ended."""


class Simulated(NamedTuple):
    """What runs reached."""

    states: int
    """Different ones."""
    runs: int
    steps: Mapping[str, int]
    """By action, also those that changed nothing."""
    elections: int
    commits: int
    """Different entries that were committed in a run, over all runs."""
    voter_changes: int
    """VotersRecords among those entries and what they stand on."""
    epochs: int
    """The largest epoch with a leader."""
    broken: Broken | None
    """The first thing that did not hold; the runs end with it."""

    @property
    def idle(self) -> tuple[str, ...]:
        """What should have happened and did not."""
        happened = {**self.steps, "election": self.elections, "commit of a voter change": self.voter_changes}
        return tuple(name for name, number in happened.items() if number == 0)


def simulate(
    interpreter: Interpreter,
    states: int,
    seed: int,
    clusters: tuple[Cluster, ...] = CLUSTERS,
    advance: Callable[[int], None] = lambda number: None,
) -> Simulated:
    """Run clusters in turn until so many different states were reached, or no new ones are.

    Args:
        interpreter: The theory and its meaning.
        states: How many states.
        seed: The same seed gives the same runs.
        clusters: Each run is of the next of them.
        advance: Called with the number of states of each run.
    """
    random = Random(seed)
    seen: set[object] = set()
    steps = Counter({action.name: 0 for action in interpreter.theory.actions})
    runs = elections = commits = voter_changes = epochs = barren = 0
    broken: Broken | None = None
    while len(seen) < states and broken is None and barren < MOST_BARREN_RUNS:
        cluster = clusters[runs % len(clusters)]
        runs += 1
        before = len(seen)
        taken: list[Step] = []
        world = first_world(interpreter, cluster)
        for step, world in random_run(interpreter, cluster, random):
            steps[step.action] += 1
            taken.append(step)
            fingerprint = world.fingerprint()
            if fingerprint in seen:
                continue
            seen.add(fingerprint)
            names = interpreter.broken(world)
            if not names and len(seen) % AXIOMS_EVERY == 0:
                names = interpreter.broken_axioms(world)
            if names:
                broken = Broken(names, cluster, tuple(taken), world)
            if names or len(seen) == states:
                break
        elections += len(world.values["elected"])
        committed = {entry for entry, _ in world.values["committed"]}
        commits += len(committed)
        known = {before for entry in committed for before in entry.prefixes}
        voter_changes += sum(entry.newest is entry for entry in known - {world.bootstrap})
        epochs = max((epochs, *(epoch for epoch, _, _ in world.values["elected"])))
        barren = 0 if len(seen) > before else barren + 1
        advance(len(seen) - before)
    return Simulated(len(seen), runs, dict(steps), elections, commits, voter_changes, epochs, broken)


def first_world(interpreter: Interpreter, cluster: Cluster) -> World:
    """The state that runs of the cluster start in."""
    replicas = tuple(range(1, cluster.replicas + 1))
    return interpreter.first(replicas, frozenset(replicas[: cluster.voters]), cluster.last_epoch)


def random_run(interpreter: Interpreter, cluster: Cluster, random: Random) -> Iterator[tuple[Step, World]]:
    """Steps and the states after them."""
    world = first_world(interpreter, cluster)
    names = [action.name for action in interpreter.theory.actions]
    weights = [WEIGHTS.get(name, 1) for name in names]
    sets = all_sets(world.replicas)
    for _ in range(cluster.tries):
        action = random.choices(names, weights)[0]
        unwritten = world.next_entries([_voters(random, sets)]) if action == "append" else ()
        options = sorted(interpreter.steps(world, action, *unwritten), key=str)
        if not options:
            continue
        step = random.choice(options)
        world = interpreter.after(world, step)
        yield step, world


def _voters(random: Random, sets: tuple[Replicas, ...]) -> Replicas | None:
    """A voters set to write, or None: half of the records are no VotersRecords."""
    return random.choice((None, random.choice(sets)))
