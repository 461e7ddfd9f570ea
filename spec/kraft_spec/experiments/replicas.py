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

from kraft_reference.partitions.controller import REFERENCE, Controllers
from kraft_reference.replica import Replica
from kraft_simulation.world import MakeReplica
from kraft_spec.copies import ORIGINAL, Copy
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
    return cast(MakeReplica, _edited(edits).module("replica").Replica)


def controllers_without(rules: Collection[str]) -> Controllers:
    """The controllers of partitions that do without these rules; of none, those of the reference.

    Raises:
        ExperimentError: a rule cannot be left out.
        EditError: the rules cannot be left out together.
    """
    return _controllers_edited(tuple(reference_edits_without(frozenset(rules)))) if rules else REFERENCE


@cache
def _controllers_edited(edits: tuple[Edit, ...]) -> Controllers:
    return Controllers(*_edited(edits).module("partitions.controller").REFERENCE)


def _edited(edits: tuple[Edit, ...]) -> Copy:
    folder = package_folder(ORIGINAL)
    texts = edited_texts(folder, edits)
    imports = {_module(path): _imported(path.read_text(encoding="utf-8")) for path in _files(folder)}
    concerned = {_module(path) for path in texts}
    while more := {one for one, imported in imports.items() if one not in concerned and imported & concerned}:
        concerned |= more
    shared = [one for one in imports if one not in concerned]
    return Copy(f"_{ORIGINAL}_without_{next(_NUMBERS)}", texts=texts, shared=shared)


def _files(folder: Path) -> Iterator[Path]:
    """The modules of the two cores."""
    for pattern in ("*.py", "partitions/*.py"):
        yield from (path for path in sorted(folder.glob(pattern)) if path.stem != "__init__")


def _module(path: Path) -> str:
    """The name of a module of a core within the reference."""
    return ".".join(path.relative_to(package_folder(ORIGINAL)).with_suffix("").parts)


def _imported(text: str) -> frozenset[str]:
    """The names within the reference that a text imports, of modules or of what is in them, and of those modules."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            package, _, module = node.module.partition(".")
            if package == ORIGINAL:
                found.update([module, *(f"{module}.{one.name}".removeprefix(".") for one in node.names)])
    return frozenset(found)
