"""The reference's steps in the history of an adapter, for each setting of the open decisions."""

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


class ReplicaEvent(NamedTuple):
    """An event at a replica, with its draw and crash point."""

    replica_id: int
    event: Event
    draw: Draw
    crash: CrashPoint | None


class ReferenceStep(NamedTuple):
    """Step of the reference beside an adapter."""

    before: ReplicaState
    done: Step
    line: EventLine
    expected: tuple[TracedEffect, ...]
    """Its effects, without message ids."""
    taken: tuple[OpenAnswer, ...]
    """Settings of open decisions that differ from the profile's."""


def reference_steps(
    states: Sequence[ReplicaState], configuration: Configuration, happening: ReplicaEvent, make: MakeReplica = Replica
) -> tuple[ReferenceStep, ...]:
    """Return the steps from each of these states under each setting of the open decisions, those of the profile first.

    `make` makes the replica for the steps.

    Raises:
        ValueError: no state allows the log that the crash keeps.
    """
    by_profile = [_step(make(before, configuration), before, happening, ()) for before in states]
    alternatives = [
        _step(
            make(step.before, other),
            step.before,
            happening,
            tuple(sorted(open_answers(configuration.profile, other.profile))),
        )
        for step in by_profile
        for other in other_configurations(configuration, step.line.event, step.line.message, step.line.state)
    ]
    return (*by_profile, *alternatives)


def _step(
    replica: Replica, before: ReplicaState, happening: ReplicaEvent, taken: tuple[OpenAnswer, ...]
) -> ReferenceStep:
    _, event, draw, crash = happening
    if crash is not None:
        done = replica.crash_during(event, draw, crash.completed, crash.log_end_offset)
    else:
        done = replica.step(event, draw)
    return reference_step(before, done, happening, taken)


def reference_step(
    before: ReplicaState, done: Step, happening: ReplicaEvent, taken: tuple[OpenAnswer, ...]
) -> ReferenceStep:
    """Return a step with its trace line."""
    identifier = "1.1" if isinstance(happening.event, events.Receive) else None
    replica_id, event, _, crash = happening
    line = event_line(Occurrence(1, 0, event, replica_id, identifier, done.effects, done.refusal, crash, done.state))
    return ReferenceStep(before, done, line, tuple([without_id(effect) for effect in line.effects or ()]), taken)


def distinct(states: Iterable[ReplicaState]) -> Iterator[ReplicaState]:
    """Yield each state once."""
    distinct_states: list[ReplicaState] = []
    for state in states:
        if state not in distinct_states:
            distinct_states.append(state)
            yield state
