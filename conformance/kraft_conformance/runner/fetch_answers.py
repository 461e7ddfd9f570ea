"""The answers to Fetches that one implementation gives in its own way: later than the reference, or with less in them.

Beside the implementation stands the reference's state, which says what is right at that moment.
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
    """Which Fetches an implementation has not answered yet, and what may be answered."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._owed: dict[int, TracedFetchRequest] = {}
        """By who asked."""
        self._unheard: list[TracedFetchRequest] = []
        """Owed to somebody who has sent another Fetch since; each may be answered once."""

    def begin(self, event: VectorEvent) -> None:
        """Take note of an event before it happens."""
        if event.event in STARTS_ANEW:
            self._owed.clear()
            self._unheard.clear()
        asked = _request(event)
        earlier = None if asked is None else self._owed.pop(asked.source, None)
        if earlier is not None:
            self._unheard.append(earlier)

    def without_unheard(self, event: VectorEvent, shown: Sequence[TracedEffect]) -> tuple[TracedEffect, ...]:
        """What is shown, without answers to Fetches whose senders have sent other ones since."""
        asked = _request(event)
        kept: list[TracedEffect] = []
        for effect in shown:
            answer = _answer(effect)
            unheard = [one for one in self._unheard if answer is not None and _is_to(answer, one)]
            if not unheard or answer is None or (asked is not None and _is_to(answer, asked)):
                kept.append(effect)
            else:
                self._unheard.remove(unheard[0])
        return tuple(kept)

    def as_chosen(self, step: VectorStep, shown: Sequence[TracedEffect], state: ReplicaState) -> VectorStep:
        """A step with the right answers that are most like those that are shown."""
        outputs, latitude, asked = list(step.outputs), list(step.latitude), _request(step)
        for place, output in enumerate(step.outputs):
            right = _answer(output)
            if right is None or asked is None:
                continue
            given = next((one for one in _answers(shown) if _is_to(one, asked)), None)
            if given is not None:
                outputs[place] = TracedSend(chosen_answer(right, given, asked.fetch_offset or 0, state, late=False))
            elif may_wait(right):
                latitude.append(Alternative(f"outputs[{place}]", WAITS, absent=True))
        late = [TracedSend(self._late(owed, given, state)) for owed, given in self._paid(shown)]
        before = happens_before((*outputs, *late)) if late else step.before
        return replace(step, outputs=(*outputs, *late), before=before, latitude=tuple(latitude))

    def follow(self, event: VectorEvent, expected: Sequence[TracedEffect], shown: Sequence[TracedEffect]) -> None:
        """Take note of what an event has brought: what was expected, and what was shown."""
        for owed, _ in list(self._paid(shown)):
            del self._owed[owed.source]
        asked = _request(event)
        if asked is None or event.crash is not UNSET or any(_is_to(one, asked) for one in _answers(shown)):
            return
        if any(may_wait(one) for one in _answers(expected) if _is_to(one, asked)):
            self._owed[asked.source] = asked

    def _paid(self, shown: Sequence[TracedEffect]) -> Iterator[tuple[TracedFetchRequest, TracedFetchResponse]]:
        for answer in _answers(shown):
            owed = self._owed.get(answer.destination)
            if owed is not None and _is_to(answer, owed):
                yield owed, answer

    def _late(
        self, request: TracedFetchRequest, given: TracedFetchResponse, state: ReplicaState
    ) -> TracedFetchResponse:
        asked = message_of(replace(request, id="1.1"))
        assert isinstance(asked, FetchRequest), "what is owed is the answer to a Fetch"
        right = replace(late_answer(state, self._configuration, asked), id=UNSET)
        return chosen_answer(right, given, asked.fetch_offset, state, late=True)


def _request(event: VectorEvent) -> TracedFetchRequest | None:
    return event.message if isinstance(event.message, TracedFetchRequest) else None


def _answer(effect: TracedEffect) -> TracedFetchResponse | None:
    message = effect.message if isinstance(effect, TracedSend) else None
    return message if isinstance(message, TracedFetchResponse) else None


def _answers(effects: Sequence[TracedEffect]) -> list[TracedFetchResponse]:
    return [answer for answer in map(_answer, effects) if answer is not None]


def _is_to(answer: TracedFetchResponse, request: TracedFetchRequest) -> bool:
    return answer.destination == request.source and answer.correlation_id in (UNSET, request.correlation_id)
