"""First difference in the history that leads an adapter without state injection to a vector's first state.

The history is not judged, but if the vector fails, its first difference is where the failure begins.
"""

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.runner.attribution import StepComparison, given_of
from kraft_conformance.runner.comparison import EffectComparison, compare_states
from kraft_conformance.runner.requests_ahead import RequestsAhead
from kraft_conformance.runner.shown import Observation
from kraft_mutants.attribution import attributed
from kraft_reference.configuration import Configuration
from kraft_reference.replica import Replica
from kraft_reference.state import ReplicaState
from kraft_spec.difference import Difference
from kraft_traces.alternatives.requests import may_send
from kraft_traces.effects import TracedEffect, TracedSend
from kraft_traces.messages import message_of
from kraft_traces.states import traced_state
from kraft_vectors.expecting import expected_of, step_of
from kraft_vectors.format import Vector, VectorEvent, VectorStep


class HistoryWatch:
    """Finds the first event of a history that differs."""

    def __init__(self, vector: Vector, configuration: Configuration, hello: HelloReply) -> None:
        self._vector = vector
        self._configuration = configuration
        self._hello = hello
        self.words = ""
        """Description of the first difference; empty if there is none."""
        self.rules: tuple[str, ...] = ()
        """Rules behind it, most likely first."""

    def look(
        self,
        number: int,
        step: VectorStep,
        before: ReplicaState,
        observation: Observation,
        after: ReplicaState,
        ahead: RequestsAhead,
    ) -> None:
        """Compare an event; the states are the reference's, `ahead` has the additional requests sent before it."""
        if self.words:
            return
        differences: tuple[Difference, ...] = ()
        if observation.effects is not UNSET:
            hello = self._hello
            comparison = EffectComparison(step, observation.effects, hello.observability, hello.unobserved, ahead)
            differences = comparison.compared(observation.disk, after.log.end_offset).differences
        if observation.state is not UNSET:
            judged = ahead.without_these
            differences += compare_states("state", judged(traced_state(after)), judged(observation.state)).differences
        if not differences:
            return
        where = f"event {number} of {len(self._vector.history or ())} of the history, {step.event}"
        self.words = f"differs before the first step: {where}: {differences[0]}"
        with_reference = StepComparison(observation, self._hello)
        inputs = given_of(Replica(before, self._configuration), step)
        self.rules = attributed(inputs, with_reference.differences, self._vector.rules).rules


def as_step(
    event: VectorEvent, reference: Replica, outputs: tuple[TracedEffect, ...], after: ReplicaState
) -> VectorStep:
    """Return an event of the history as a step: the reference's effects, and the allowed alternatives."""
    inputs = given_of(reference, event)
    sent = [message_of(replace(output.message, id="1.1")) for output in outputs if isinstance(output, TracedSend)]
    besides = () if inputs.crash else may_send(inputs.event, inputs.state, inputs.configuration, inputs.draw, sent)
    states = traced_state(reference.state), traced_state(after)
    return step_of(event, expected_of(event.event, event.message, outputs, *states, besides=besides))
