"""Replay of the model's edges on the Python reference: state, effects in order, and refusals must be equal.

This module does not need Java.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from kraft_dev.edges.edge import WHOLE, Edge, ModelRecord
from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer
from kraft_reference.events import Draw, Event
from kraft_reference.replica import Replica, Step
from kraft_reference.state import ReplicaState
from kraft_spec import mapping
from kraft_spec.difference import Difference

DRAW = Draw(correlation_id=1, election_timeout_ms=1500, election_backoff_ms=400)
"""The correlation id is `Correlation` of KRaft.tla; the model has no clock."""

SHOWN_MAX = 10
"""Number of differing edges that a report keeps."""


@dataclass(frozen=True, slots=True)
class DifferingEdge:
    """An edge on which the reference differs from the model."""

    edge: Edge
    differences: tuple[Difference, ...]
    """Fields such as "state.voted", "effects[1].granted", "refusal", or "raises"."""

    def __str__(self) -> str:
        lines = "\n".join(
            f"  {difference.field}: the model gives {difference.expected}, the reference {difference.actual}"
            for difference in self.differences
        )
        return f"{self.edge}\n  before: {dict(self.edge.before)}\n{lines}"


@dataclass(frozen=True, slots=True)
class EdgeReport:
    """Result of a replay.

    Attributes:
        replayed: Number of replayed edges.
        differing: Number of differing edges, by action.
        differing_constructed: Edges of `differing` that start from a constructed state.
        shown: The first few differing edges.
        seconds: Wall-clock time.
    """

    replayed: int
    differing: Mapping[str, int]
    differing_constructed: Mapping[str, int]
    shown: tuple[DifferingEdge, ...]
    seconds: float

    @property
    def agrees(self) -> bool:
        """True if the reference agrees with the model on every edge."""
        return not self.differing


class _Crossing:
    """Conversion of model values to values of the reference, once each because many edges share them."""

    def __init__(self) -> None:
        self._configurations: dict[int, Configuration] = {}
        self._states: dict[int, ReplicaState] = {}

    def configuration(self, record: ModelRecord) -> Configuration:
        converted = self._configurations.get(id(record))
        if converted is None:
            converted = self._configurations[id(record)] = mapping.configuration_from_model(record)
        return converted

    def state(self, record: ModelRecord) -> ReplicaState:
        converted = self._states.get(id(record))
        if converted is None:
            converted = self._states[id(record)] = mapping.state_from_model(record)
            if mapping.state_to_model(converted) != record:
                raise ValueError("the state does not round-trip through the reference")
        return converted


def replay(edges: Iterable[Edge], *, stop_at_first: bool = False) -> EdgeReport:
    """Replay edges; an exception of the reference counts as a difference.

    Args:
        edges: A list or tuple, because the edges must stay referenced during the replay.
        stop_at_first: Stop at the first edge that differs.
    """
    began = time.perf_counter()
    crossing = _Crossing()
    differing: dict[str, int] = {}
    differing_constructed: dict[str, int] = {}
    first_differing: list[DifferingEdge] = []
    replayed = 0
    for edge in edges:
        replayed += 1
        differences = _replayed(edge, crossing)
        if differences:
            differing[edge.action] = differing.get(edge.action, 0) + 1
            if edge.constructed:
                differing_constructed[edge.action] = differing_constructed.get(edge.action, 0) + 1
            if len(first_differing) < SHOWN_MAX:
                first_differing.append(DifferingEdge(edge, differences))
            if stop_at_first:
                break
    return EdgeReport(replayed, differing, differing_constructed, tuple(first_differing), time.perf_counter() - began)


def _replayed(edge: Edge, crossing: _Crossing) -> tuple[Difference, ...]:
    try:
        configuration = crossing.configuration(edge.configuration)
        event = mapping.event_from_model(edge.event, configuration.cluster_id)
        before = crossing.state(edge.before)
        step = step_of(Replica(before, configuration), event, edge)
        # A replica that ignores the event returns its state, which has been compared.
        state = edge.before if step.state is before else mapping.state_to_model(step.state)
        effects = tuple(
            [mapping.effect_to_model(effect) for effect in step.effects if not isinstance(effect, StartTimer)]
        )
        refusal = "" if step.refusal is None else str(step.refusal)
        if state == edge.after and effects == edge.effects and refusal == edge.refusal:
            return ()
    # A mutant of the reference may raise any exception.
    except Exception as error:
        return (Difference("raises", "an outcome", f"{type(error).__name__}: {error}"),)
    return tuple(_differences(edge, state, effects, refusal))


def step_of(replica: Replica, event: Event, edge: Edge) -> Step:
    """Return the step of a replica at an edge's event, up to its crash."""
    if edge.completed == WHOLE:
        return replica.step(event, DRAW)
    return replica.crash_during(event, DRAW, edge.completed, edge.kept)


def _differences(
    edge: Edge, state: ModelRecord, effects: tuple[ModelRecord, ...], refusal: str
) -> Iterator[Difference]:
    if refusal != edge.refusal:
        yield Difference("refusal", edge.refusal or "none", refusal or "none")
    for name, expected in edge.after.items():
        if state[name] != expected:
            yield Difference(f"state.{name}", str(expected), str(state[name]))
    for place, (wanted, got) in enumerate(zip_longest(edge.effects, effects)):
        if wanted == got:
            continue
        if wanted is None or got is None or wanted["type"] != got["type"]:
            yield Difference(f"effects[{place}]", _effect_text(wanted), _effect_text(got))
            continue
        for name in dict.fromkeys((*wanted, *got)):
            if wanted.get(name) != got.get(name):
                yield Difference(f"effects[{place}].{name}", str(wanted.get(name)), str(got.get(name)))


def _effect_text(effect: ModelRecord | None) -> str:
    return "nothing" if effect is None else " ".join(map(str, effect.values()))
