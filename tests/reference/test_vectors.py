"""Every vector holds for the reference: state, effects in order, and refusals."""

import pytest

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.random_runs.seats import LocalSession
from kraft_conformance.runner.outcome import Status
from kraft_conformance.runner.running import run_vector
from kraft_vectors.catalogue import AnyVector, Catalogue

CATALOGUE = Catalogue()


@pytest.mark.parametrize("vector", [*map(CATALOGUE.vector, CATALOGUE)], ids=lambda vector: vector.id)
def test_the_reference_does_as_the_vector_says(vector: AnyVector) -> None:
    for profile in vector.requires.profiles:
        outcome = run_vector(LocalSession(ReferenceAdapter()), vector, profile)
        assert outcome.status is Status.PASS, (profile, outcome.reason)
