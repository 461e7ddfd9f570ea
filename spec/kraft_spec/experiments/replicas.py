"""Replicas and controllers that do without some rules: the modules of the reference that the edits concern, anew.

All other modules, and with them the types of states, messages and effects, are those of the reference, so that a
replica of an experiment stands in a world like any other.
"""

import ast
from collections.abc import Collection, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import cast

from kraft_partitions.controller import REFERENCE, Controllers
from kraft_reference.replica import Replica
from kraft_simulation.world import MakeReplica
from kraft_spec.copies import ORIGINALS, Copy
from kraft_spec.edits import Edit, edited_texts, package_folder
from kraft_spec.experiments.catalogue import reference_edits_without

_NUMBERS = count(1)


def replicas_without(rules: Collection[str]) -> MakeReplica:
    """What makes replicas that do without these rules; of none, those of the reference.

    Raises:
        ExperimentError: a rule cannot be left out.
        EditError: the rules cannot be left out together.
    """
    return replicas_edited(tuple(reference_edits_without(frozenset(rules)))) if rules else Replica


@cache
def replicas_edited(edits: tuple[Edit, ...]) -> MakeReplica:
    """What makes replicas of a reference with these edits.

    Raises:
        EditError: an edit does not apply.
    """
    return cast(MakeReplica, _edited(edits).module("kraft_reference.replica").Replica)


def controllers_without(rules: Collection[str]) -> Controllers:
    """The controllers of partitions that do without these rules; of none, those of the reference.

    Raises:
        ExperimentError: a rule cannot be left out.
        EditError: the rules cannot be left out together.
    """
    return _controllers_edited(tuple(reference_edits_without(frozenset(rules)))) if rules else REFERENCE


@cache
def _controllers_edited(edits: tuple[Edit, ...]) -> Controllers:
    return Controllers(*_edited(edits).module("kraft_partitions.controller").REFERENCE)


def _edited(edits: tuple[Edit, ...]) -> Copy:
    texts = edited_texts(edits)
    files = {name: path for package in ORIGINALS for name, path in _modules(package)}
    imports = {name: _imported(path.read_text(encoding="utf-8")) for name, path in files.items()}
    concerned = {name for name, path in files.items() if path in texts}
    while more := {one for one, imported in imports.items() if one not in concerned and imported & concerned}:
        concerned |= more
    shared = [one for one in files if one not in concerned]
    return Copy(f"_without_{next(_NUMBERS)}_", texts=texts, shared=shared)


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
