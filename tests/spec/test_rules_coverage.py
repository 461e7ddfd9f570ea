"""The reference and the model name every rule in scope, and nobody names a rule that does not exist."""

from pathlib import Path

import pytest

from kraft_conformance.vectors.catalogue import Catalogue
from kraft_dev.wire.generate import rules_of_pairs
from kraft_reference.scenarios import SCENARIOS
from kraft_spec.rules import load_registry
from kraft_spec.rules.citations import CitationReport, check_citations
from kraft_spec.rules.scope import load_scope
from kraft_spec.rules.sources import checkout_sources

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def report() -> CitationReport:
    """The report on the whole checkout; the ids of vectors are no misspelt rules."""
    return check_citations(load_registry(), checkout_sources(REPOSITORY), other_names=Catalogue().entries)


def test_the_reference_names_every_rule_in_scope(report: CitationReport) -> None:
    assert not report.missing_in_reference, "name it where it is implemented, or exempt it in scope.toml"


def test_the_model_names_every_rule_in_scope(report: CitationReport) -> None:
    assert not report.missing_in_model, "name it at the action that states it, or exempt it in scope.toml"


def test_a_vector_a_pair_a_scenario_or_a_test_states_every_rule_of_the_reference(report: CitationReport) -> None:
    registry = load_registry()
    stated = {rule_id for entry in Catalogue().manifest.vectors for rule_id in entry.rules}
    stated |= rules_of_pairs().keys()
    stated |= {rule_id for one in SCENARIOS for rule_id in one.rules}
    stated |= {citation.rule_id for citation in report.citations if citation.path.startswith("tests/reference/")}
    assert set(load_scope().required(registry, "reference")) - stated == set()


def test_the_command_line_names_every_rule_that_is_its_own(report: CitationReport) -> None:
    assert not report.missing_elsewhere, "name it where the command is"


def test_nothing_that_is_left_for_later_has_begun(report: CitationReport) -> None:
    assert not [str(place) for place in report.begun]


def test_every_id_that_is_named_exists(report: CitationReport) -> None:
    assert not [line for line in report.problems() if "no rule has this id" in line]


def test_no_exemption_is_out_of_date(report: CitationReport) -> None:
    assert not [str(stale) for stale in report.stale]


def test_every_file_passed_over_exists() -> None:
    assert all((REPOSITORY / path).is_file() for path in load_scope().unread)
