"""Where a history differs that leads an adapter without state injection to the state in which a vector begins.

The history is not judged: what differs in it is said when a vector fails, since the failure then begins there.
"""

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.runner.attribution import StepComparison, given_of
from kraft_conformance.runner.comparison import EffectComparison, compared_state
from kraft_conformance.runner.requests_ahead import RequestsAhead
from kraft_conformance.runner.shown import Shown
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
    """Looks for the first event of a history in which an implementation does something else."""

    def __init__(self, vector: Vector, configuration: Configuration, hello: HelloReply) -> None:
        self._vector = vector
        self._configuration = configuration
        self._hello = hello
        self.words = ""
        """What differs first; empty if nothing does that is shown."""
        self.rules: tuple[str, ...] = ()
        """Those behind it, the likeliest first."""

    def look(
        self,
        number: int,
        step: VectorStep,
        before: ReplicaState,
        shown: Shown,
        after: ReplicaState,
        ahead: RequestsAhead,
    ) -> None:
        """Compare an event; the states are those of the reference, `ahead` what was sent too much before it."""
        if self.words:
            return
        found: tuple[Difference, ...] = ()
        if shown.effects is not UNSET:
            hello = self._hello
            comparison = EffectComparison(step, shown.effects, hello.observability, hello.unobserved, ahead)
            found = comparison.compared(shown.disk, after.log.end_offset).differences
        if shown.state is not UNSET:
            judged = ahead.without_these
            found += compared_state("state", judged(traced_state(after)), judged(shown.state)).differences
        if not found:
            return
        where = f"event {number} of {len(self._vector.history or ())} of the history, {step.event}"
        self.words = f"it differs before the first step: {where}: {found[0]}"
        with_reference = StepComparison(shown, self._hello)
        given = given_of(Replica(before, self._configuration), step)
        self.rules = attributed(given, with_reference.differences, self._vector.rules).rules


def as_step(
    event: VectorEvent, reference: Replica, outputs: tuple[TracedEffect, ...], after: ReplicaState
) -> VectorStep:
    """An event of the history as a step, with what the reference does in it and what the rules leave open there."""
    given = given_of(reference, event)
    sent = [message_of(replace(one.message, id="1.1")) for one in outputs if isinstance(one, TracedSend)]
    besides = () if given.crash else may_send(given.event, given.state, given.configuration, given.draw, sent)
    states = traced_state(reference.state), traced_state(after)
    return step_of(event, expected_of(event.event, event.message, outputs, *states, besides=besides))
