"""Fetch responses that an implementation sends later than the reference, or with fewer records.

The reference's state at that moment decides which responses are correct.
"""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.runner.requests_ahead import STARTS_ANEW
from kraft_reference.configuration import Configuration
from kraft_reference.messages import FetchRequest
from kraft_reference.state import ReplicaState
from kraft_traces.alternatives.fetch_answers import WAITS, chosen_answer, late_answer, may_wait
from kraft_traces.alternatives.ordering import happens_before
from kraft_traces.alternatives.values import Alternative
from kraft_traces.effects import TracedEffect, TracedSend
from kraft_traces.message_types import TracedFetchRequest, TracedFetchResponse
from kraft_traces.messages import message_of
from kraft_vectors.format import VectorEvent, VectorStep


class FetchAnswers:
    """Fetches without a response so far, and the correct responses."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._owed: dict[int, TracedFetchRequest] = {}
        """Open Fetches by sender."""
        self._unheard: list[TracedFetchRequest] = []
        """Fetches whose sender has sent another one since; each may get one response."""

    def begin(self, event: VectorEvent) -> None:
        """Record an event before it happens."""
        if event.event in STARTS_ANEW:
            self._owed.clear()
            self._unheard.clear()
        request = _request(event)
        earlier = None if request is None else self._owed.pop(request.source, None)
        if earlier is not None:
            self._unheard.append(earlier)

    def without_unheard(self, event: VectorEvent, effects: Sequence[TracedEffect]) -> tuple[TracedEffect, ...]:
        """Return the effects without responses to Fetches whose senders have sent another one since."""
        request = _request(event)
        kept: list[TracedEffect] = []
        for effect in effects:
            answer = _answer(effect)
            unheard = [request for request in self._unheard if answer is not None and _is_to(answer, request)]
            if not unheard or answer is None or (request is not None and _is_to(answer, request)):
                kept.append(effect)
            else:
                self._unheard.remove(unheard[0])
        return tuple(kept)

    def as_chosen(self, step: VectorStep, effects: Sequence[TracedEffect], state: ReplicaState) -> VectorStep:
        """Return the step with the correct responses that are most similar to the actual ones."""
        outputs, latitude, request = list(step.outputs), list(step.latitude), _request(step)
        for place, output in enumerate(step.outputs):
            right = _answer(output)
            if right is None or request is None:
                continue
            actual = next((answer for answer in _answers(effects) if _is_to(answer, request)), None)
            if actual is not None:
                outputs[place] = TracedSend(chosen_answer(right, actual, request.fetch_offset or 0, state, late=False))
            elif may_wait(right):
                latitude.append(Alternative(f"outputs[{place}]", WAITS, absent=True))
        late = [TracedSend(self._late(owed, actual, state)) for owed, actual in self._paid(effects)]
        before = happens_before((*outputs, *late)) if late else step.before
        return replace(step, outputs=(*outputs, *late), before=before, latitude=tuple(latitude))

    def follow(self, event: VectorEvent, expected: Sequence[TracedEffect], effects: Sequence[TracedEffect]) -> None:
        """Record the expected and the actual effects of an event."""
        for owed, _ in list(self._paid(effects)):
            del self._owed[owed.source]
        request = _request(event)
        if request is None or event.crash is not UNSET or any(_is_to(answer, request) for answer in _answers(effects)):
            return
        if any(may_wait(answer) for answer in _answers(expected) if _is_to(answer, request)):
            self._owed[request.source] = request

    def _paid(self, effects: Sequence[TracedEffect]) -> Iterator[tuple[TracedFetchRequest, TracedFetchResponse]]:
        for answer in _answers(effects):
            owed = self._owed.get(answer.destination)
            if owed is not None and _is_to(answer, owed):
                yield owed, answer

    def _late(
        self, request: TracedFetchRequest, actual: TracedFetchResponse, state: ReplicaState
    ) -> TracedFetchResponse:
        fetch = message_of(replace(request, id="1.1"))
        assert isinstance(fetch, FetchRequest), "only Fetches are recorded"
        right = replace(late_answer(state, self._configuration, fetch), id=UNSET)
        return chosen_answer(right, actual, fetch.fetch_offset, state, late=True)


def _request(event: VectorEvent) -> TracedFetchRequest | None:
    return event.message if isinstance(event.message, TracedFetchRequest) else None


def _answer(effect: TracedEffect) -> TracedFetchResponse | None:
    message = effect.message if isinstance(effect, TracedSend) else None
    return message if isinstance(message, TracedFetchResponse) else None


def _answers(effects: Sequence[TracedEffect]) -> list[TracedFetchResponse]:
    return [answer for answer in map(_answer, effects) if answer is not None]


def _is_to(answer: TracedFetchResponse, request: TracedFetchRequest) -> bool:
    return answer.destination == request.source and answer.correlation_id in (UNSET, request.correlation_id)
