"""Explanation of every edge of the graph as steps of the inductive proof.

The proof's history variables follow the search's first path to each state, so an edge is explained once
for each cluster state that it starts from.
"""

from collections import Counter
from collections.abc import Sequence

from kraft_dev.edges.edge import WHOLE, Edge, ModelRecord
from kraft_dev.edges.replay import DRAW, step_of
from kraft_proofs.induction.interpreter import Interpreter
from kraft_proofs.induction.refinement import Refinement, UnexplainedStepError
from kraft_proofs.induction.theory import theory
from kraft_reference.events import Receive
from kraft_reference.replica import Replica
from kraft_simulation.occurrence import CrashPoint, Occurrence
from kraft_spec import mapping

SHOWN_MAX = 10
"""Number of unexplained edges to keep."""


class Explaining:
    """Explains the edges of a search, state by state.

    Attributes:
        edges: Number of explained edges.
        steps: Number of proof steps, by action.
        states: Number of cluster states.
        unexplained: The first few edges that are not steps of the proof, with the states of both sides.
        differing: Number of unexplained edges, by the model's action.
        broken: Invariants that fail in a reached state of the proof, with their counts.
    """

    def __init__(self) -> None:
        """Start without edges."""
        self._interpreter = Interpreter(theory())
        self.edges = 0
        self.steps: Counter[str] = Counter({action.name: 0 for action in self._interpreter.theory.actions})
        self.unexplained: list[str] = []
        self.differing: Counter[str] = Counter()
        self.states = 0
        self.broken: Counter[str] = Counter()

    def begin(self, configuration: ModelRecord, replicas: Sequence[ModelRecord]) -> Refinement:
        """Return the proof's state for an initial state.

        Raises:
            ValueError: There is no such state: see `Refinement`.
        """
        states = {number: mapping.state_from_model(replica) for number, replica in enumerate(replicas, start=1)}
        converted = mapping.configuration_from_model(configuration)
        return Refinement(self._interpreter, converted, states, lambda _, message: repr(message))

    def follow(self, followed: Refinement, edge: Edge) -> Refinement:
        """Return the proof's state after an edge; unchanged if nothing explains the edge."""
        after = followed.copy()
        try:
            steps = after.explain(_occurrence(edge))
        except UnexplainedStepError as error:
            self.differing[edge.action] += 1
            if len(self.unexplained) < SHOWN_MAX:
                self.unexplained.append(str(error))
            return followed
        self.edges += 1
        self.steps.update(step.action for step in steps)
        return after

    @property
    def agrees(self) -> bool:
        """True if every edge is explained and every invariant holds."""
        return not (self.differing or self.broken)

    @property
    def verdict(self) -> str:
        """Summary in words, with the first unexplained edges."""
        if self.agrees:
            return "ok: every edge is a sequence of the proof's steps"
        broken = ", ".join(f"{name} in {number} states" for name, number in self.broken.items())
        unexplained = f"{self.differing.total()} edges are not steps of the proof; the first:"
        return "\n".join(
            (
                *((f"FAIL: broken: {broken}",) if broken else ()),
                *((f"FAIL: {unexplained}", *self.unexplained) if self.differing else ()),
            )
        )

    def visit(self, followed: Refinement) -> None:
        """Evaluate every invariant in a state that is new to the search."""
        self.states += 1
        self.broken.update(self._interpreter.broken(followed.world))


def _occurrence(edge: Edge) -> Occurrence:
    configuration = mapping.configuration_from_model(edge.configuration)
    event = mapping.event_from_model(edge.event, configuration.cluster_id)
    before, after = mapping.state_from_model(edge.before), mapping.state_from_model(edge.after)
    # The replay checks that these are the model's effects.
    step = step_of(Replica(before, configuration), event, edge)
    crash = None if edge.completed == WHOLE else CrashPoint(edge.completed, edge.kept)
    name = repr(event.message) if isinstance(event, Receive) else None
    return Occurrence(
        DRAW.correlation_id, 0, event, edge.event["replica"], name, step.effects, crash=crash, state=after
    )
