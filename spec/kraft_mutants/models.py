"""Copies of the model with mutants."""

import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from kraft_mutants.catalogue import find_mutants, model_edits
from kraft_spec.edits import apply_edits, package_folder


@contextmanager
def mutated_model(mutants: Collection[str]) -> Iterator[Path]:
    """Yield the folder of the mutated model; the model's own without mutants.

    Args:
        mutants: names, or ids of omitted rules.

    Raises:
        MutantError: there is no such mutant.
        EditError: the mutants cannot be combined.
    """
    model = package_folder("kraft_spec") / "tla"
    if not mutants:
        yield model
        return
    edits = model_edits(*find_mutants(sorted(mutants)))
    with tempfile.TemporaryDirectory(prefix="kraft-spec-mutant-") as temporary:
        copy = Path(temporary) / "kraft_spec" / "tla"
        shutil.copytree(model, copy)
        apply_edits(Path(temporary), edits)
        yield copy
