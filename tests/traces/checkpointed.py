"""Runs with the checkpoint after each of their events, of which a test puts into the trace those that it wants."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from random import Random
from typing import Any, NamedTuple

from msgspec import inspect
from tests.traces.places import END, EVENT, Document, FieldPlace, fields_there, other_values, value_at, with_value

from kraft_mutants.playing import play
from kraft_mutants.replicas import mutated_replicas
from kraft_reference.configuration import Configuration
from kraft_simulation.checkpoint import Checkpoint, Checkpoints
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.plan import RunPlan
from kraft_simulation.scenarios import SCENARIOS
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.checkpoints import checkpoint_line
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.lines import EndLine, EventLine, Generator
from kraft_traces.own import own_generator
from kraft_traces.values import CHANGE_SUFFIX

FOREIGN = Generator("somebody-else", "1.0")
"""A generator whose traces may leave fields out."""

CHECKPOINT = inspect.type_info(CheckpointLine)
"""The type of a checkpoint, for `fields_there`."""

KINDS = {"event": EVENT, "checkpoint": CHECKPOINT, "end": END}


class Checkpointed(NamedTuple):
    """A run, and what there is after each of its events."""

    configuration: Configuration
    events: tuple[EventLine, ...]
    states: tuple[Checkpoint, ...]
    """The first is that before the first event."""
    switched_off: frozenset[str] = frozenset()
    """The rules that it does without."""

    def header(self, generator: Generator | None = None) -> bytes:
        """The first line; of this project's own by default."""
        return encode_line(
            header_line(self.configuration, generator or own_generator(), switched_off=self.switched_off)
        )

    def checkpoint(self, sequence: int) -> bytes:
        """The checkpoint after so many events."""
        return encode_line(checkpoint_line(self.states[sequence]))

    def lines(
        self, after: Iterable[int], *, generator: Generator | None = None, events: Iterable[bytes] | None = None
    ) -> list[bytes]:
        """The whole trace.

        Args:
            after: after how many events there is a checkpoint; twice the same number makes two in a row.
            generator: who wrote it.
            events: other bytes of the event lines.
        """
        wanted = Counter(after)
        raw = [encode_line(event) for event in self.events] if events is None else list(events)
        lines = [self.header(generator), *[self.checkpoint(0)] * wanted[0]]
        for sequence, line in enumerate(raw, 1):
            lines += [line, *[self.checkpoint(sequence)] * wanted[sequence]]
        return [*lines, encode_line(EndLine(len(raw), complete=True))]


def followed(
    configuration: Configuration, occurrences: Iterable[Occurrence], switched_off: Collection[str] = ()
) -> Checkpointed:
    """A run without these rules that is followed event by event."""
    checkpoints = Checkpoints(configuration, mutated_replicas(switched_off))
    events: list[EventLine] = []
    states = [checkpoints.now()]
    for occurrence in occurrences:
        events.append(event_line(occurrence))
        checkpoints.follow(occurrence)
        states.append(checkpoints.now())
    return Checkpointed(configuration, tuple(events), tuple(states), frozenset(switched_off))


@cache
def simulated(workload: str, seed: int, steps: int, replicas: int = 3) -> Checkpointed:
    """A simulated run."""
    simulation = RunPlan(seed, replicas=replicas, steps=steps, workload=workload).simulation()
    return followed(simulation.configuration, simulation.run())


VIOLATING = {
    f"{scenario.name}/{variant.name}": (scenario, variant) for scenario in SCENARIOS for variant in scenario.variants
}
"""Scenarios by name: many are played without a rule and violate a property."""


@cache
def played(name: str) -> Checkpointed:
    """A scenario."""
    outcome = play(*VIOLATING[name])
    return followed(outcome.configuration, outcome.occurrences, outcome.variant.mutants)


def edited(raw: bytes, **fields: object) -> bytes:
    """A line with other values of some of its fields."""
    return as_line(json.loads(raw) | fields)


def alternatives(place: FieldPlace, value: Any) -> Iterator[Any]:
    """Other values of a field that its type allows."""
    if isinstance(value, str) and value.endswith(CHANGE_SUFFIX):
        yield value.removesuffix(CHANGE_SUFFIX)
    else:
        yield from other_values(place.kind, value, place.removable)


def with_another_value(raw: bytes, chance: Random) -> bytes:
    """A line in which one field, whichever, has another value that its type allows, or is left out."""
    document: Document = json.loads(raw)
    places = [place for place in fields_there(document, KINDS[document["kind"]]) if place.path != ("kind",)]
    while True:
        place = chance.choice(places)
        if values := list(alternatives(place, value_at(document, place.path))):
            return as_line(with_value(document, place.path, chance.choice(values)))


def as_line(document: Document) -> bytes:
    """The bytes of a line."""
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"
