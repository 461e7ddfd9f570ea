"""What is known about every rule of this checkout, gathered once."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tools.site.facts import Material, RuleFacts, gather

from kraft_spec.rules import load_registry
from kraft_spec.rules.citations import check_citations
from kraft_spec.rules.scope import load_scope
from kraft_spec.rules.sources import checkout_sources

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def material() -> Material:
    registry = load_registry()
    report = check_citations(registry, checkout_sources(REPOSITORY))
    return Material.of(registry, load_scope(), report, REPOSITORY)


@pytest.fixture(scope="session")
def facts(material: Material) -> Mapping[str, RuleFacts]:
    return gather(material)
