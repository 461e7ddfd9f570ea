"""The alternative outcomes (`courses`) of a vector, followed side by side: a difference drops a course."""

from copy import deepcopy

from msgspec import UNSET

from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.runner.comparison import EffectComparison, compare_refusals, compare_states, sends_extra_request
from kraft_conformance.runner.fetch_answers import FetchAnswers
from kraft_conformance.runner.requests_ahead import RequestsAhead
from kraft_conformance.runner.shown import Observation
from kraft_reference.state import ReplicaState
from kraft_spec.difference import Difference
from kraft_traces.state_types import TracedState
from kraft_vectors.expecting import step_of
from kraft_vectors.format import Course, Vector, VectorEvent
from kraft_vectors.state_changes import apply_changes


class FollowedCourse:
    """A course: its next expected step, and what the adapter did not show of it."""

    def __init__(self, vector: Vector, course: Course | None, hello: HelloReply, ahead: RequestsAhead) -> None:
        """`course` is None for that of the vector itself; `ahead` has the additional requests of the history."""
        self.wire_left_out: list[str] = []
        self.state_left_out: list[str] = []
        self._hello = hello
        self._ahead = deepcopy(ahead)
        start = vector.before.state
        self._expected = start if course is None else apply_changes(start, course.before)
        self._steps = iter(vector.steps if course is None else map(step_of, vector.steps, course.steps))

    def begins(self, observed: TracedState) -> tuple[Difference, ...]:
        """Return the differences of the state before the first step; missing fields are noted after each step."""
        return compare_states("before", *map(self._ahead.without_these, (self._expected, observed))).differences

    def addressed(self, event: VectorEvent) -> VectorEvent:
        """Return the event with the implementation's correlation id."""
        return self._ahead.addressed(event)

    def step(self, observation: Observation, answers: FetchAnswers, reference: ReplicaState) -> tuple[Difference, ...]:
        """Return the differences of the next step.

        Args:
            observation: the observed step.
            answers: correct responses to Fetches.
            reference: the reference's state after the step, in the course of the vector.
        """
        step, before = next(self._steps), self._expected
        self._expected = expected = apply_changes(before, step.state)
        differences: tuple[Difference, ...] = ()
        if observation.effects is UNSET:
            self._ahead.follow(step, (), (), ())
        else:
            effects, hello = observation.effects, self._hello
            assert expected.log_end_offset is not UNSET, "a vector has every field"
            assert expected.high_watermark is not UNSET, "a vector has every field"
            # Of the parts of a Fetch response, courses differ only in the high watermark.
            there = reference._replace(high_watermark=expected.high_watermark)
            chosen = answers.as_chosen(step, effects, there)
            comparison = EffectComparison(chosen, effects, hello.observability, hello.unobserved, self._ahead)
            compared = comparison.compared(observation.disk, expected.log_end_offset)
            self._ahead.follow(step, before.awaiting or (), step.outputs, effects)
            self.wire_left_out.extend(compared.left_out)
            differences = compared.differences
            if observation.state is not UNSET:
                besides = sends_extra_request(step, effects) or len(chosen.outputs) > len(step.outputs)
                differences += compare_refusals(step.refusal, observation.refusal, besides=besides)
        if observation.state is UNSET:
            return differences
        state = compare_states("state", *map(self._ahead.without_these, (expected, observation.state)))
        self.state_left_out.extend(state.left_out)
        return (*differences, *state.differences)


def followed_courses(vector: Vector, hello: HelloReply, ahead: RequestsAhead) -> tuple[FollowedCourse, ...]:
    """Return the possible courses of an implementation before the first step, that of the vector first.

    With an injected state, the choices of the history are those of the vector.
    """
    injects = hello.injects(has_history=vector.history is not None)
    alternatives = [course for course in vector.courses or () if not injects or course.before == TracedState()]
    return tuple([FollowedCourse(vector, course, hello, ahead) for course in (None, *alternatives)])
