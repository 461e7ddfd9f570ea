"""Every edge of the graph as steps of the inductive proof.

What the proof remembers comes with one way to each state, the first that the search took, so an edge is explained once
for each state of the cluster that it starts from.
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
"""How many unexplained edges are kept."""


class Explaining:
    """Explains the edges of a search, state by state.

    Attributes:
        edges: How many were explained.
        steps: Of the proof, by action.
        states: How many states of the cluster were met.
        unexplained: The first few edges that are no steps of the proof, with the states of both sides.
        differing: How many there are of them, by the model's action.
        broken: Invariants that do not hold in a state of the proof that was reached, with how often.
    """

    def __init__(self) -> None:
        """Begin without an edge."""
        self._interpreter = Interpreter(theory())
        self.edges = 0
        self.steps: Counter[str] = Counter({action.name: 0 for action in self._interpreter.theory.actions})
        self.unexplained: list[str] = []
        self.differing: Counter[str] = Counter()
        self.states = 0
        self.broken: Counter[str] = Counter()

    def begin(self, configuration: ModelRecord, replicas: Sequence[ModelRecord]) -> Refinement:
        """The proof's state of an initial state.

        Raises:
            ValueError: there is none: see `Refinement`.
        """
        states = {number: mapping.state_from_model(one) for number, one in enumerate(replicas, start=1)}
        known = mapping.configuration_from_model(configuration)
        return Refinement(self._interpreter, known, states, lambda _, message: repr(message))

    def follow(self, followed: Refinement, edge: Edge) -> Refinement:
        """The proof's state after an edge; the same as before it if nothing explains it."""
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
        """Is every edge explained, and no invariant broken?"""
        return not (self.differing or self.broken)

    @property
    def verdict(self) -> str:
        """In words, with the first edges that are unexplained."""
        if self.agrees:
            return "ok: every edge is a sequence of the proof's steps"
        broken = ", ".join(f"{name} in {number} states" for name, number in self.broken.items())
        unexplained = f"{self.differing.total()} edges are no steps of the proof; the first:"
        return "\n".join(
            (
                *((f"FAIL: broken: {broken}",) if broken else ()),
                *((f"FAIL: {unexplained}", *self.unexplained) if self.differing else ()),
            )
        )

    def visit(self, followed: Refinement) -> None:
        """A state that is new to the search: every invariant is evaluated in it."""
        self.states += 1
        self.broken.update(self._interpreter.broken(followed.world))


def _occurrence(edge: Edge) -> Occurrence:
    configuration = mapping.configuration_from_model(edge.configuration)
    event = mapping.event_from_model(edge.event, configuration.cluster_id)
    before, after = mapping.state_from_model(edge.before), mapping.state_from_model(edge.after)
    # The replay shows that these are the model's effects.
    step = step_of(Replica(before, configuration), event, edge)
    crash = None if edge.completed == WHOLE else CrashPoint(edge.completed, edge.kept)
    name = repr(event.message) if isinstance(event, Receive) else None
    return Occurrence(
        DRAW.correlation_id, 0, event, edge.event["replica"], name, step.effects, crash=crash, state=after
    )
