"""Replicas and controllers with some mutants: the modules of the reference that the edits concern, made anew.

All other modules, and with them the types of states, messages and effects, are those of the reference, so that a
mutated replica can take part in a simulation like any other.
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
    """Return the constructor of replicas with these mutants; without any, that of the reference.

    Args:
        mutants: their names, or ids of rules that a mutant omits.

    Raises:
        MutantError: there is no such mutant.
        EditError: the mutants cannot be combined.
    """
    return edited_replicas(reference_edits(*find_mutants(sorted(mutants)))) if mutants else Replica


@cache
def edited_replicas(edits: tuple[Edit, ...]) -> MakeReplica:
    """Return the constructor of replicas of a reference with these edits.

    Raises:
        EditError: an edit does not apply.
    """
    return cast(MakeReplica, _edited(edits).module("kraft_reference.replica").Replica)


def mutated_controllers(mutants: Collection[str]) -> Controllers:
    """Return the controllers of partitions with these mutants; without any, those of the reference.

    Args:
        mutants: their names, or ids of rules that a mutant omits.

    Raises:
        MutantError: there is no such mutant.
        EditError: the mutants cannot be combined.
    """
    return _edited_controllers(reference_edits(*find_mutants(sorted(mutants)))) if mutants else REFERENCE


@cache
def _edited_controllers(edits: tuple[Edit, ...]) -> Controllers:
    return Controllers(*_edited(edits).module("kraft_partitions.controller").REFERENCE)


def _edited(edits: tuple[Edit, ...]) -> Copy:
    texts = edited_texts(edits)
    files = {name: path for package in ORIGINALS for name, path in _modules(package)}
    imports = {name: _imported(path.read_text(encoding="utf-8")) for name, path in files.items()}
    concerned = {name for name, path in files.items() if path in texts}
    while more := {one for one, imported in imports.items() if one not in concerned and imported & concerned}:
        concerned |= more
    shared = [one for one in files if one not in concerned]
    return Copy(f"_mutant_{next(_NUMBERS)}_", texts=texts, shared=shared)


def _modules(package: str) -> Iterator[tuple[str, Path]]:
    """The modules of a core and their files."""
    for path in sorted(package_folder(package).glob("*.py")):
        if path.stem != "__init__":
            yield f"{package}.{path.stem}", path


def _imported(text: str) -> frozenset[str]:
    """The names that a text imports from the cores, of modules or of what is in them, and of those modules."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(ORIGINALS):
            found.update([node.module, *(f"{node.module}.{one.name}" for one in node.names)])
    return frozenset(found)
