"""Every citation is effective: a mutant of the rule changes a function or an operator that cites it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from tools.site.pieces import Piece, pieces, tla_blocks

from kraft_mutants import load_catalogue, model_edits, reference_edits
from kraft_spec.edits import Edit
from kraft_spec.rules import load_registry
from kraft_spec.rules.citations import find_citations
from kraft_spec.rules.scope import load_scope
from kraft_spec.rules.sources import Source

REPOSITORY = Path(__file__).parents[2]
ROOTS = {"reference": "reference", "model": "spec"}
FOLDERS = {"reference": ("reference/kraft_reference", "reference/kraft_partitions"), "model": ("spec/kraft_spec/tla",)}

ADDS_WRONG_CODE = {
    "fetch.fetched-flag": "Every change of role clears the flag; the mutant adds the exception of a former leader.",
    "state.epoch-monotonic": "No code lowers an epoch; the mutant adds some.",
    "state.same-epoch-preserves": "A change of role keeps vote and leader; the mutants forget them in single changes.",
    "state.roles": "The table refuses other changes of role; the mutant makes one without asking it.",
}
"""Rules without a function that implements them, so that a mutant can only add what they forbid."""

WITHOUT_MUTANT = {
    "bootstrap.static-quorum": "An operator's list; static-list-of-a-node-is-shorter breaks it in the model.",
    "voters.static-set-at-version-0": "An operator's list; static-lists-differ breaks it in the model.",
    "metric.current-state": "A gauge, which no other replica sees.",
    "metric.voted-renamed": "A gauge, which no other replica sees.",
    "partition-reassign.admin-api": "An event has the request as the client library sends it.",
    "reassign.describe-quorum": "A description, which no other replica sees.",
    "wire.describe-quorum-2": "A description, which no other replica sees.",
    "wire.add-voter": "The fields of a message.",
    "wire.remove-voter": "The fields of a message.",
    "wire.update-voter": "The fields of a message.",
    "wire.voters-record": "The fields of a record.",
    "wire.reassignment-rpcs": "The fields of a message.",
    "reassign.quorum-state-holds-committed-assignment": "Turned down: the place says what holds instead.",
    "reassign.removed-voter-told-by-fetch": "Turned down: the place says what holds instead.",
    "reassign.zombie-leader": "Turned down: the place says what holds instead.",
}
"""MUST rules that no mutant of the reference breaks."""


@cache
def text_of(path: str) -> str:
    """Return the text of a file of the repository."""
    return (REPOSITORY / path).read_text(encoding="utf-8")


def place(piece: Piece) -> tuple[str, int]:
    """Return the path and first line of a piece, which identify it."""
    return piece.path, piece.first


def places_of(path: str, lines: Iterable[int]) -> Iterator[tuple[str, int]]:
    """Yield the functions or operators that lines of a file belong to."""
    return (place(piece) for piece in pieces(path, text_of(path), lines))


@cache
def under_box(path: str) -> Mapping[tuple[str, int], tuple[tuple[str, int], ...]]:
    """Return the operators under each box of a module: the comment between two rules of asterisks."""
    operators: dict[tuple[str, int], list[tuple[str, int]]] = {}
    box: tuple[str, int] | None = None
    for block in tla_blocks(path, text_of(path)):
        if text_of(path).splitlines()[block.first - 1].startswith("(***"):
            box = place(block)
        if box is not None:
            operators.setdefault(box, []).append(place(block))
    return {box: tuple(below) for box, below in operators.items()}


@cache
def cited(layer: str) -> Mapping[str, frozenset[tuple[str, int]]]:
    """Return the functions or operators that cite each rule; a box of the model cites for every operator under it."""
    places: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    sources = [Source(layer, folder, REPOSITORY / folder) for folder in FOLDERS[layer]]
    for citation in chain.from_iterable(find_citations(source, load_registry().ids) for source in sources):
        is_in_box = text_of(citation.path).splitlines()[citation.line - 1].startswith("(*")
        for there in places_of(citation.path, [citation.line]):
            below = under_box(citation.path).get(there, ()) if is_in_box else ()
            places[citation.rule_id] |= {there, *below}
    return {rule: frozenset(there) for rule, there in places.items()}


def changed_lines(before: str, after: str) -> set[int]:
    """Return the lines of `before` that `after` lacks, and the line above each insertion."""
    lines: set[int] = set()
    old, new = before.splitlines(), after.splitlines()
    for kind, first, last, _, _ in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            lines |= set(range(first + 1, last + 1)) or {first}
    return lines


def changed_places(layer: str, edits: Iterable[Edit]) -> set[tuple[str, int]]:
    """Return the functions or operators that edits change."""
    edited: dict[str, str] = {}
    for edit in edits:
        path = f"{ROOTS[layer]}/{edit.file}"
        edited[path] = edit.applied_to(edited.get(path, text_of(path)))
    return {there for path, text in edited.items() for there in places_of(path, changed_lines(text_of(path), text))}


@cache
def broken(layer: str) -> Mapping[str, frozenset[tuple[str, int]]]:
    """Return the functions or operators that the mutants of each rule change."""
    places: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for mutant in load_catalogue().mutants:
        changed = changed_places(layer, model_edits(mutant) if layer == "model" else reference_edits(mutant))
        for rule in mutant.rules:
            places[rule] |= changed
    return {rule: frozenset(there) for rule, there in places.items() if there}


def hollow(layer: str) -> set[str]:
    """Return the rules whose mutants change nothing that cites them."""
    required = set(load_scope().required(load_registry(), layer))  # type: ignore[arg-type]
    return {rule for rule, there in broken(layer).items() if rule in required and not there & cited(layer)[rule]}


@pytest.mark.parametrize("layer", FOLDERS)
def test_a_mutant_of_a_rule_changes_what_cites_the_rule(layer: str) -> None:
    assert hollow(layer) - ADDS_WRONG_CODE.keys() == set()


def test_every_exception_is_one() -> None:
    assert hollow("reference") | hollow("model") == ADDS_WRONG_CODE.keys()


def test_every_must_rule_of_the_reference_has_a_mutant() -> None:
    registry = load_registry()
    musts = {rule for rule in load_scope().required(registry, "reference") if registry[rule].level == "MUST"}
    assert musts - broken("reference").keys() == WITHOUT_MUTANT.keys()
