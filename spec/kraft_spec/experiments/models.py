"""The model without some rules: a copy of its folder with the edits made."""

import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from kraft_spec.edits import apply_edits, package_folder
from kraft_spec.experiments.catalogue import model_edits_without


@contextmanager
def model_without(rules: Collection[str]) -> Iterator[Path]:
    """Yield the folder of the model without these rules; of none, the model's own.

    Raises:
        ExperimentError: a rule cannot be left out.
        EditError: the rules cannot be left out together.
    """
    model = package_folder("kraft_spec") / "tla"
    if not rules:
        yield model
        return
    edits = model_edits_without(rules)
    with tempfile.TemporaryDirectory(prefix="kraft-spec-without-") as temporary:
        copy = Path(temporary) / "kraft_spec" / "tla"
        shutil.copytree(model, copy)
        apply_edits(Path(temporary), edits)
        yield copy
