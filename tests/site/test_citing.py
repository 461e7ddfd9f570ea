"""Citation data: one version everywhere, and a CITATION.cff that follows its schema."""

import re
import tomllib
from pathlib import Path

from kraft_spec.rules import load_registry
from kraft_vectors.catalogue import Catalogue

ROOT = Path(__file__).parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
CITING = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
REQUIRED = {"authors", "cff-version", "message", "title"}
"""Required by the schema of CFF 1.2.0."""
ALLOWED = REQUIRED | {
    "abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license", "license-url",
    "preferred-citation", "references", "repository", "repository-artifact", "repository-code", "type", "url",
    "version",
}  # fmt: skip


def fields() -> dict[str, str]:
    """Return the keys of the first level with the values on the same line."""
    return dict(re.findall(r"^([a-z-]+): ?(.*)$", CITATION, re.MULTILINE))


def test_the_version_is_that_of_the_package() -> None:
    assert fields()["version"] == VERSION
    assert f"(kraft-spec {VERSION}, rule `" in CITING


def test_the_file_has_the_form_of_its_schema() -> None:
    values = fields()
    assert values.keys() >= REQUIRED
    assert values.keys() <= ALLOWED
    assert (values["cff-version"], values["type"], values["license"]) == ("1.2.0", "software", "Apache-2.0")
    authors = re.findall(
        r"^  - (\w[\w-]*): \S", CITATION.partition("\nauthors:\n")[2].partition("\nkeywords:")[0], re.M
    )
    assert authors
    assert set(authors) <= {"name", "family-names", "given-names"}
    keywords = re.findall(r"^  - (.+)$", CITATION.partition("\nkeywords:\n")[2], re.M)
    assert len(keywords) == len(set(keywords)) > 0


def test_the_example_of_the_page_exists() -> None:
    assert set(re.findall(r"rule `([a-z.-]+)`", CITING)) <= set(load_registry().by_id)
    (vector,) = re.findall(r"\*\*A vector\*\*: by its id, such as `([a-z.-]+)`", CITING)
    assert vector in set(Catalogue())
    assert vector not in load_registry(), "an id of a vector that is a rule's too would become a link to the rule"
