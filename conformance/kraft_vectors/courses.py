"""The courses that the events of a vector may take at one replica, by its answers to the open decisions.

Each event is tried with every answer, in the history as well; what comes later is what the reference does from the
state that the replica then is in.
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
class Followed:
    """One of them, as far as it has been followed."""

    state: ReplicaState
    before: ReplicaState
    """Where the steps begin."""
    taken: frozenset[OpenAnswer] = frozenset()
    """The answers that are not those of the configuration."""
    steps: tuple[Occurrence, ...] = ()
    """What happens at the replica in the steps."""


def followed_courses(
    start: ReplicaState,
    configuration: Configuration,
    earlier: Iterable[Occurrence],
    later: Iterable[Occurrence],
    draw_of: Callable[[Occurrence], Draw],
) -> tuple[Followed, ...]:
    """The courses, that of the configuration first.

    Args:
        start: the state in which the history begins.
        configuration: the cluster, whose profile gives the answers of the first course.
        earlier: what happened at the replica in the history.
        later: and in the steps.
        draw_of: the draw of an event.
    """
    courses: tuple[Followed, ...] = (Followed(start, start),)
    for occurrence in earlier:
        outcomes = _outcomes(courses, configuration, occurrence, draw_of(occurrence))
        courses = _merged([Followed(done.state, done.state, taken) for _, taken, done in outcomes])
    for occurrence in later:
        outcomes = _outcomes(courses, configuration, occurrence, draw_of(occurrence))
        courses = _merged([_after(course, occurrence, done, taken) for course, taken, done in outcomes])
    return courses


def _outcomes(
    courses: Iterable[Followed], configuration: Configuration, occurrence: Occurrence, draw: Draw
) -> Iterator[tuple[Followed, frozenset[OpenAnswer], Step]]:
    """What an event comes to in each course under each answer, the configuration's first, and all answers so far."""
    event = occurrence.event
    assert isinstance(event, Event), "what happens at a replica is an event of it"
    name = event_name(event)
    others = tuple(other_configurations(configuration, name, getattr(event, "message", None)))
    for course in courses:
        for chosen in (configuration, *others):
            taken = course.taken | open_answers(configuration.profile, chosen.profile)
            yield course, taken, happen(Replica(course.state, chosen), occurrence, draw)


def _after(course: Followed, occurrence: Occurrence, done: Step, taken: frozenset[OpenAnswer]) -> Followed:
    happened = occurrence._replace(effects=done.effects, refusal=done.refusal, state=done.state)
    return Followed(done.state, course.before, taken, (*course.steps, happened))


def _merged(courses: Iterable[Followed]) -> tuple[Followed, ...]:
    """Of courses that came to the same the one with the fewest other answers; the first stays the first."""
    found: list[Followed] = []
    for course in courses:
        same = [place for place, one in enumerate(found) if replace(one, taken=course.taken) == course]
        if not same:
            found.append(course)
        elif len(course.taken) < len(found[same[0]].taken):
            found[same[0]] = course
    return tuple(found)


def happen(replica: Replica, occurrence: Occurrence, draw: Draw) -> Step:
    """Let happen at a replica what has happened at it in a run, a crash in the middle of it included."""
    event, crash = occurrence.event, occurrence.crash
    assert isinstance(event, Event), "what happens at a replica is an event of it"
    if crash is None:
        return replica.step(event, draw)
    return replica.crash_during(event, draw, crash.completed, crash.log_end_offset)
