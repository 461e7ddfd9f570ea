"""Mutants that passed vectors rule out, because the mutants would fail them."""

from collections.abc import Collection, Sequence

from kraft_conformance.runner.running import RUNS
from kraft_mutants import load_catalogue
from kraft_mutants.attribution import AnyGiven, does_otherwise
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.features import Level
from kraft_vectors.manifest import ManifestEntry

_VECTORS_MAX = 100
"""Maximum number of vectors that are checked for a mutant."""


class Clearing:
    """Predicate over mutants, from the vectors that passed."""

    def __init__(self, catalogue: Catalogue, level: Level, passed: Collection[str]) -> None:
        self._catalogue = catalogue
        self._level = level
        self._passed = passed
        self._known: dict[str, bool] = {}
        self._steps: dict[str, Sequence[AnyGiven]] = {}

    def __call__(self, mutant: str) -> bool:
        """True if a vector passed that the mutant of this name fails."""
        if mutant not in self._known:
            self._known[mutant] = self._is_cleared(mutant)
        return self._known[mutant]

    def _is_cleared(self, mutant: str) -> bool:
        rules = set(load_catalogue()[mutant].rules)
        entries = [entry for entry in self._catalogue.manifest.vectors if entry.id in self._passed]
        # Vectors about its rules fail most likely; then the shortest come first.
        in_order = sorted(entries, key=lambda entry: (rules.isdisjoint(entry.rules), entry.steps))
        return any(self._differs(mutant, entry) for entry in in_order[:_VECTORS_MAX])

    def _differs(self, mutant: str, entry: ManifestEntry) -> bool:
        run = RUNS[entry.subject]
        if entry.id not in self._steps:
            self._steps[entry.id] = run.steps(self._catalogue.vector(entry.id))
        return does_otherwise(mutant, self._steps[entry.id], lambda step: run.shown(step, self._level))
