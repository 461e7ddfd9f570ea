"""Facts about this checkout, gathered once, and the pages generated from them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tools.site.facts import Material, RuleFacts, gather
from tools.site.pages import pages
from tools.site.site_facts import site_facts

RELEASE = "7.8.9"


@pytest.fixture(scope="session")
def material() -> Material:
    return Material.of(Path(__file__).parents[2])


@pytest.fixture(scope="session")
def facts(material: Material) -> Mapping[str, RuleFacts]:
    return gather(material)


@pytest.fixture(scope="session")
def published(material: Material, facts: Mapping[str, RuleFacts]) -> dict[str, Any]:
    return site_facts(material, facts, RELEASE)


@pytest.fixture(scope="session")
def made(material: Material, published: dict[str, Any]) -> Mapping[str, str]:
    """Return the pages by path, with text in place of scenario diagrams."""
    return pages(published, material.registry, lambda scenario, variant: f"<svg>{scenario}/{variant}</svg>")
