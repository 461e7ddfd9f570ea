"""Pages for implementers and the page of decisions agree with commands, vectors and rules."""

import re

from tests.conformance.commands import DOCS, Captured, altered, block, output

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.protocol.parsing import encode, parse_request
from kraft_spec.rules import load_registry
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.manifest import ManifestEntry

ENTRIES = [*Catalogue().entries.values()]
OF_PARTITIONS = [entry for entry in ENTRIES if entry.subject == "partitions"]


def test_a_failure_is_shown_as_it_is_told(capsys: Captured) -> None:
    _, text = output(capsys, "conformance", "run", "-k", "vote.granted", "--adapter", altered("sends-first"))
    displayed = block("conformance", "FAIL vote.granted").splitlines()
    assert [line for line in text.splitlines() if "repeat:" not in line] == [
        line for line in displayed if "repeat:" not in line
    ]


def counted(entries: list[ManifestEntry]) -> tuple[str, list[int]]:
    """Return the numbers of vectors by origin and level, as the pages write them."""
    scenarios = sum(entry.id.startswith("scenario.") for entry in entries)
    levels = [sum(entry.level == level for entry in entries) for level in ("wire", "effects", "state")]
    return f"{scenarios} from scenarios and {len(entries) - scenarios} from scripts", levels


def test_the_vectors_are_counted() -> None:
    page = (DOCS / "conformance.md").read_text()
    sources, levels = counted(ENTRIES)
    of_levels = f"{levels[0]} of the level `wire`, {levels[1]} `effects`, {levels[2]} `state`"
    assert f"There are {len(ENTRIES)} vectors: {sources}; {of_levels}." in page
    assert f"\n{sum(entry.history is None for entry in ENTRIES)} begin in a constructed state." in page


def test_the_vectors_of_partitions_are_counted() -> None:
    page = (DOCS / "conformance-partitions.md").read_text()
    sources, levels = counted(OF_PARTITIONS)
    of_levels = f"{levels[0]} of the level `wire`, {levels[1]} `effects`"
    assert f"There are {len(OF_PARTITIONS)} of them: {sources}; {of_levels}." in page
    assert levels[2] == 0


def test_a_dialogue_about_partitions_is_what_the_reference_says() -> None:
    text, reference = block("conformance-partitions", '> {"type":"partition_reset"').splitlines(), ReferenceAdapter()
    for request, reply in zip(text[::2], text[1::2], strict=True):
        answer = reference.answer(parse_request(request.removeprefix("> ").encode(), 1))
        assert f"< {encode(answer).decode().rstrip()}" == reply


def test_the_page_of_decisions_says_what_is_made_of_every_should_and_may() -> None:
    page = (DOCS / "decisions.md").read_text(encoding="utf-8")
    table = page.partition("Every rule with SHOULD or MAY")[2].partition("\n\n### ")[0]
    optional = [rule.id for rule in load_registry() if rule.level != "MUST"]
    named = re.findall(r"[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+", table)
    assert [item for item in optional if item not in named and not item.startswith(("metric.", "cli."))] == []
