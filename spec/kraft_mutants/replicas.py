"""Replicas and controllers with mutants, whose edited modules and their importers are compiled again.

All other modules, and so the types of states, messages and effects, are those of the reference.
A mutated replica can therefore take part in a simulation with others.
"""

import ast
from collections.abc import Collection, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import cast

from kraft_mutants.catalogue import find_mutants, reference_edits
from kraft_mutants.copies import ORIGINALS, Copy
from kraft_partitions.controller import REFERENCE, Controllers
from kraft_reference.replica import Replica
from kraft_simulation.world import MakeReplica
from kraft_spec.edits import Edit, edited_texts, package_folder

_NUMBERS = count(1)


def mutated_replicas(mutants: Collection[str]) -> MakeReplica:
    """Return the constructor of replicas with these mutants; the reference's if there are none.

    Args:
        mutants: names, or ids of omitted rules.

    Raises:
        MutantError: there is no such mutant.
        EditError: the mutants cannot be combined.
    """
    return edited_replicas(reference_edits(*find_mutants(sorted(mutants)))) if mutants else Replica


@cache
def edited_replicas(edits: tuple[Edit, ...]) -> MakeReplica:
    """Return the constructor of replicas of the reference with these edits.

    Raises:
        EditError: an edit does not apply.
    """
    return cast(MakeReplica, _edited_copy(edits).module("kraft_reference.replica").Replica)


def mutated_controllers(mutants: Collection[str]) -> Controllers:
    """Return the partition controllers with these mutants; the reference's if there are none.

    Args:
        mutants: names, or ids of omitted rules.

    Raises:
        MutantError: there is no such mutant.
        EditError: the mutants cannot be combined.
    """
    return _edited_controllers(reference_edits(*find_mutants(sorted(mutants)))) if mutants else REFERENCE


@cache
def _edited_controllers(edits: tuple[Edit, ...]) -> Controllers:
    return Controllers(*_edited_copy(edits).module("kraft_partitions.controller").REFERENCE)


def _edited_copy(edits: tuple[Edit, ...]) -> Copy:
    texts = edited_texts(edits)
    files = {name: path for package in ORIGINALS for name, path in _reference_modules(package)}
    imports = {name: _imported_names(path.read_text(encoding="utf-8")) for name, path in files.items()}
    concerned = {name for name, path in files.items() if path in texts}
    while more := {name for name, imported in imports.items() if name not in concerned and imported & concerned}:
        concerned |= more
    shared = [name for name in files if name not in concerned]
    return Copy(f"_mutant_{next(_NUMBERS)}_", texts=texts, shared=shared)


def _reference_modules(package: str) -> Iterator[tuple[str, Path]]:
    """Yield the names and files of a package's modules."""
    for path in sorted(package_folder(package).glob("*.py")):
        if path.stem != "__init__":
            yield f"{package}.{path.stem}", path


def _imported_names(text: str) -> frozenset[str]:
    """Return the names that a text imports from the reference packages, and the modules that contain them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(ORIGINALS):
            names.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    return frozenset(names)
