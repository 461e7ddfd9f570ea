"""What is known about every rule of this checkout, gathered once."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tools.site.facts import Material, RuleFacts, gather


@pytest.fixture(scope="session")
def material() -> Material:
    return Material.of(Path(__file__).parents[2])


@pytest.fixture(scope="session")
def facts(material: Material) -> Mapping[str, RuleFacts]:
    return gather(material)
