"""Which mutants of the catalogue cannot be what is wrong, since vectors passed that they fail."""

from collections.abc import Collection, Sequence

from kraft_conformance.runner.attribution import steps_of
from kraft_conformance.runner.partition_attribution import steps_of_controllers
from kraft_mutants import load_catalogue
from kraft_mutants.attribution import Given, GivenToControllers, does_otherwise
from kraft_partitions.occurrence import PartitionOccurrence
from kraft_reference.effects import StartTimer
from kraft_reference.replica import Step
from kraft_traces.effects import TracedAnswer, TracedSend, traced_effect
from kraft_traces.latitude.high_watermarks import as_unknown, is_first_of_all, published_as_unknown
from kraft_traces.partitions.encode import line_of
from kraft_traces.partitions.encode import traced_state as traced_controllers
from kraft_traces.states import traced_state
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.features import Level
from kraft_vectors.format import Vector

_VECTORS_MAX = 100
"""So many vectors are looked at for a mutant."""


class Clearing:
    """What the vectors that passed say of each mutant."""

    def __init__(self, catalogue: Catalogue, level: Level, passed: Collection[str]) -> None:
        self._catalogue = catalogue
        self._level = level
        self._passed = passed
        self._known: dict[str, bool] = {}
        self._steps: dict[str, Sequence[Given | GivenToControllers]] = {}

    def __call__(self, mutant: str) -> bool:
        """Whether a vector passed that the mutant of this name fails."""
        if mutant not in self._known:
            self._known[mutant] = self._is_cleared(mutant)
        return self._known[mutant]

    def _is_cleared(self, mutant: str) -> bool:
        rules = set(load_catalogue()[mutant].rules)
        entries = [entry for entry in self._catalogue.manifest.vectors if entry.id in self._passed]
        # Those about its rules fail most likely; then short ones.
        in_order = sorted(entries, key=lambda one: (rules.isdisjoint(one.rules), one.steps))
        return any(does_otherwise(mutant, self._steps_of(one.id), self._shown) for one in in_order[:_VECTORS_MAX])

    def _steps_of(self, name: str) -> Sequence[Given | GivenToControllers]:
        if name not in self._steps:
            vector = self._catalogue.vector(name)
            if isinstance(vector, Vector):
                self._steps[name] = () if vector.courses else tuple(steps_of(vector, vector.cluster))
            else:
                self._steps[name] = steps_of_controllers(vector, vector.cluster)
        return self._steps[name]

    def _shown(self, step: Step | PartitionOccurrence) -> object:
        """What the adapter shows of a step."""
        if isinstance(step, PartitionOccurrence):
            state: object = traced_controllers(step.state)
            effects: list[object] = list(line_of(step).effects)
        else:
            state = as_unknown(traced_state(step.state))
            # Timers and what has several courses are left open: a mutant may differ there and pass.
            traced = [traced_effect(1, one) for one in step.effects if not isinstance(one, StartTimer)]
            effects = list(published_as_unknown(traced, lambda: is_first_of_all(step.state)))
            if self._level == "wire":
                effects = [one for one in effects if isinstance(one, TracedSend | TracedAnswer)]
        return (effects, step.refusal, state) if self._level == "state" else effects
