"""The reference and the model name every rule in scope, and no file names an unknown rule."""

from pathlib import Path

import pytest

from kraft_dev.wire.generate import rules_of_pairs
from kraft_simulation.scenarios import SCENARIOS
from kraft_spec.rules import load_registry
from kraft_spec.rules.citations import CitationReport, check_citations
from kraft_spec.rules.scope import load_scope
from kraft_spec.rules.sources import checkout_sources
from kraft_vectors.catalogue import Catalogue

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def report() -> CitationReport:
    """Report on the whole checkout; vector ids do not count as misspelt rules."""
    return check_citations(load_registry(), checkout_sources(REPOSITORY), other_names=Catalogue().entries)


def test_rules_are_named_where_they_are_kept_and_nowhere_wrongly(report: CitationReport) -> None:
    """A missing rule must be named where it is implemented and stated, or exempted in scope.toml."""
    assert report.problems() == ()


def test_a_vector_a_pair_a_scenario_or_a_test_states_every_rule_of_the_reference(report: CitationReport) -> None:
    registry = load_registry()
    stated = {rule_id for entry in Catalogue().manifest.vectors for rule_id in entry.rules}
    stated |= rules_of_pairs().keys()
    stated |= {rule_id for scenario in SCENARIOS for rule_id in scenario.rules}
    stated |= {citation.rule_id for citation in report.citations if citation.path.startswith("tests/reference/")}
    assert set(load_scope().required(registry, "reference")) - stated == set()


def test_every_file_passed_over_exists() -> None:
    assert all((REPOSITORY / path).is_file() for path in load_scope().unread)
