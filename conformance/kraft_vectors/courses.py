"""Alternative outcomes (courses) of a vector's events, by the settings of the open decisions.

Each event of history and steps is tried with every setting; the reference continues from each resulting state.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from kraft_reference.configuration import Configuration
from kraft_reference.events import Draw, Event, event_name
from kraft_reference.replica import Replica, Step
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import Occurrence
from kraft_traces.alternatives.decisions import OpenAnswer, open_answers, other_configurations


@dataclass(frozen=True, slots=True)
class FollowedCourse:
    """A course, as far as it has been followed."""

    state: ReplicaState
    before: ReplicaState
    """State before the steps."""
    taken: frozenset[OpenAnswer] = frozenset()
    """Settings that differ from the configuration's."""
    steps: tuple[Occurrence, ...] = ()
    """Occurrences of the steps."""


def followed_courses(
    start: ReplicaState,
    configuration: Configuration,
    earlier: Iterable[Occurrence],
    later: Iterable[Occurrence],
    draw_of: Callable[[Occurrence], Draw],
) -> tuple[FollowedCourse, ...]:
    """Return the courses, that of the configuration first.

    Args:
        start: the state before the history.
        configuration: the cluster, whose profile decides the first course.
        earlier: occurrences of the history.
        later: occurrences of the steps.
        draw_of: returns the draw of an occurrence.
    """
    courses: tuple[FollowedCourse, ...] = (FollowedCourse(start, start),)
    for occurrence in earlier:
        outcomes = _outcomes(courses, configuration, occurrence, draw_of(occurrence))
        courses = _merged([FollowedCourse(done.state, done.state, taken) for _, taken, done in outcomes])
    for occurrence in later:
        outcomes = _outcomes(courses, configuration, occurrence, draw_of(occurrence))
        courses = _merged([_after(course, occurrence, done, taken) for course, taken, done in outcomes])
    return courses


def _outcomes(
    courses: Iterable[FollowedCourse], configuration: Configuration, occurrence: Occurrence, draw: Draw
) -> Iterator[tuple[FollowedCourse, frozenset[OpenAnswer], Step]]:
    """Yield each course with its settings so far and its step under each setting, the configuration's first."""
    event = occurrence.event
    assert isinstance(event, Event), "occurrences at a replica have an event"
    name = event_name(event)
    other_settings = tuple(other_configurations(configuration, name, getattr(event, "message", None)))
    for course in courses:
        for chosen in (configuration, *other_settings):
            taken = course.taken | open_answers(configuration.profile, chosen.profile)
            yield course, taken, repeat_occurrence(Replica(course.state, chosen), occurrence, draw)


def _after(course: FollowedCourse, occurrence: Occurrence, done: Step, taken: frozenset[OpenAnswer]) -> FollowedCourse:
    happened = occurrence._replace(effects=done.effects, refusal=done.refusal, state=done.state)
    return FollowedCourse(done.state, course.before, taken, (*course.steps, happened))


def _merged(courses: Iterable[FollowedCourse]) -> tuple[FollowedCourse, ...]:
    """Return the distinct courses; of equal ones, that with the fewest other settings.  The first stays first."""
    merged: list[FollowedCourse] = []
    for course in courses:
        same = [place for place, existing in enumerate(merged) if replace(existing, taken=course.taken) == course]
        if not same:
            merged.append(course)
        elif len(course.taken) < len(merged[same[0]].taken):
            merged[same[0]] = course
    return tuple(merged)


def repeat_occurrence(replica: Replica, occurrence: Occurrence, draw: Draw) -> Step:
    """Repeat an occurrence of a run at a replica, including a crash during it."""
    event, crash = occurrence.event, occurrence.crash
    assert isinstance(event, Event), "occurrences at a replica have an event"
    if crash is None:
        return replica.step(event, draw)
    return replica.crash_during(event, draw, crash.completed, crash.log_end_offset)
