"""The reference in the history of one adapter: every step that it might have made, by the open decisions."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kraft_reference import events
from kraft_reference.configuration import Configuration
from kraft_reference.events import Draw, Event
from kraft_reference.replica import Replica, Step
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import CrashPoint, Occurrence
from kraft_simulation.world import MakeReplica
from kraft_traces.alternatives.decisions import OpenAnswer, open_answers, other_configurations
from kraft_traces.effects import TracedEffect
from kraft_traces.encode import event_line
from kraft_traces.lines import EventLine
from kraft_vectors.expecting import without_id


class Happening(NamedTuple):
    """What happens at a replica."""

    replica_id: int
    event: Event
    draw: Draw
    crash: CrashPoint | None


class ReferenceStep(NamedTuple):
    """A step of the reference beside an adapter."""

    before: ReplicaState
    done: Step
    line: EventLine
    expected: tuple[TracedEffect, ...]
    """Its effects, without names of messages."""
    taken: tuple[OpenAnswer, ...]
    """The answers that are not the profile's."""


def reference_steps(
    states: Sequence[ReplicaState], configuration: Configuration, happening: Happening, make: MakeReplica = Replica
) -> tuple[ReferenceStep, ...]:
    """The steps from each of these states under each answer, those of the profile first.

    `make` makes the replica that takes them.

    Raises:
        ValueError: a crash keeps what none of the states can keep.
    """
    by_profile = [_step(make(before, configuration), before, happening, ()) for before in states]
    others = [
        _step(
            make(one.before, other),
            one.before,
            happening,
            tuple(sorted(open_answers(configuration.profile, other.profile))),
        )
        for one in by_profile
        for other in other_configurations(configuration, one.line.event, one.line.message, one.line.state)
    ]
    return (*by_profile, *others)


def _step(replica: Replica, before: ReplicaState, happening: Happening, taken: tuple[OpenAnswer, ...]) -> ReferenceStep:
    _, event, draw, crash = happening
    if crash is not None:
        done = replica.crash_during(event, draw, crash.completed, crash.log_end_offset)
    else:
        done = replica.step(event, draw)
    return reference_step(before, done, happening, taken)


def reference_step(
    before: ReplicaState, done: Step, happening: Happening, taken: tuple[OpenAnswer, ...]
) -> ReferenceStep:
    """A step with the line that shows it."""
    identifier = "1.1" if isinstance(happening.event, events.Receive) else None
    replica_id, event, _, crash = happening
    line = event_line(Occurrence(1, 0, event, replica_id, identifier, done.effects, done.refusal, crash, done.state))
    return ReferenceStep(before, done, line, tuple([without_id(effect) for effect in line.effects or ()]), taken)


def different(states: Iterable[ReplicaState]) -> Iterator[ReplicaState]:
    """Each state once."""
    known: list[ReplicaState] = []
    for state in states:
        if state not in known:
            known.append(state)
            yield state
