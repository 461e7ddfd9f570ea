"""Where rules may be named: the packages as installed, or every folder of a checkout."""

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from kraft_spec.rules.prose import READERS

_FOLDERS_WITHOUT_SOURCES = frozenset({"__pycache__", "_build"})

_GENERATED_PAGES = frozenset({"api", "commands", "model", "results", "rules", "scenarios"})
"""Folders of docs/ that the build of the site fills, out of what is read here."""


@dataclass(frozen=True, slots=True)
class Source:
    """A folder, or one file, whose texts are read for rule ids.

    Attributes:
        layer: what it counts as: `reference`, `model`, `spec`, `traces`, `conformance`, `tests`, `docs`.
        name: how paths in it begin when they are shown, with forward slashes.
        root: the folder or file.
        without: names of folders directly in it that belong to another source.
    """

    layer: str
    name: str
    root: Path | Traversable
    without: frozenset[str] = frozenset()

    def files(self) -> Iterator[tuple[str, Path | Traversable]]:
        """Yield (path to show, file) for each file that can name rules, in order of the paths."""
        yield from _files(self.name, self.root, self.without)


def _files(name: str, place: Path | Traversable, without: frozenset[str]) -> Iterator[tuple[str, Path | Traversable]]:
    """Walk a place in a fixed order; what does not exist has no files."""
    if place.is_file():
        if ending_of(name) in READERS:
            yield name, place
        return
    if not place.is_dir():
        return
    for child in sorted(place.iterdir(), key=lambda each: each.name):
        if child.name.startswith(".") or child.name in _FOLDERS_WITHOUT_SOURCES or child.name in without:
            continue
        yield from _files(f"{name}/{child.name}", child, frozenset())


def ending_of(path: str) -> str:
    """The ending of a path with its dot, empty when it has none."""
    return f".{path.rpartition('.')[2]}" if "." in path.rpartition("/")[2] else ""


def package_sources() -> tuple[Source, ...]:
    """The packages as installed, wheel or editable; those above this one only where they are there."""
    found = [
        Source("reference", "kraft_reference", resources.files("kraft_reference")),
        Source("reference", "kraft_simulation", resources.files("kraft_simulation")),
        Source("reference", "kraft_partitions", resources.files("kraft_partitions")),
        Source("model", "kraft_spec/tla", resources.files("kraft_spec") / "tla"),
        Source("spec", "kraft_spec", resources.files("kraft_spec"), frozenset({"tla"})),
    ]
    above = {
        "kraft_mutants": "spec",
        "kraft_proofs": "spec",
        "kraft_traces": "traces",
        "kraft_pipeline": "traces",
        "kraft_vectors": "conformance",
        "kraft_conformance": "conformance",
        "kraft_kafka": "conformance",
        "kraft_cli": "conformance",
    }
    for package, layer in above.items():
        if importlib.util.find_spec(package) is not None:
            found.append(Source(layer, package, resources.files(package)))
    return tuple(found)


def reference_tests() -> Source | None:
    """The tests of the reference, where the packages are those of a checkout."""
    folder = Path(__file__).parents[3] / "tests" / "reference"
    return Source("tests", "tests/reference", folder) if folder.is_dir() else None


def checkout_sources(repository: Path) -> tuple[Source, ...]:
    """Everything in a checkout that names rules; paths are shown as they stand in the repository."""
    return (
        Source("reference", "reference", repository / "reference"),
        Source("model", "spec/kraft_spec/tla", repository / "spec/kraft_spec/tla"),
        Source("spec", "spec/kraft_spec", repository / "spec/kraft_spec", frozenset({"tla"})),
        Source("spec", "spec/kraft_mutants", repository / "spec/kraft_mutants"),
        Source("spec", "spec/kraft_proofs", repository / "spec/kraft_proofs"),
        Source("traces", "traces", repository / "traces"),
        Source("conformance", "conformance", repository / "conformance"),
        Source("tests", "tests", repository / "tests"),
        Source("docs", "docs", repository / "docs", _GENERATED_PAGES),
        Source("docs", "README.md", repository / "README.md"),
    )
