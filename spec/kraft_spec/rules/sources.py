"""Sources of citations: the installed packages, or every folder of a checkout."""

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from kraft_spec.rules.prose import READERS

_FOLDERS_WITHOUT_SOURCES = frozenset({"__pycache__", "_build"})

_GENERATED_PAGES = frozenset({"api", "commands", "model", "results", "rules", "scenarios"})
"""Folders of docs/ that the site build generates from the sources read here."""


@dataclass(frozen=True, slots=True)
class Source:
    """A folder or file that is searched for rule ids.

    Attributes:
        layer: one of `reference`, `model`, `spec`, `traces`, `conformance`, `tests`, `docs`.
        name: displayed prefix of its paths, with forward slashes.
        root: the folder or file.
        without: names of direct subfolders that belong to another source.
    """

    layer: str
    name: str
    root: Path | Traversable
    without: frozenset[str] = frozenset()

    def files(self) -> Iterator[tuple[str, Path | Traversable]]:
        """Yield (displayed path, file) for each file that can cite rules, in order of the paths."""
        yield from _walk(self.name, self.root, self.without)


def _walk(name: str, place: Path | Traversable, without: frozenset[str]) -> Iterator[tuple[str, Path | Traversable]]:
    """Yield the files below a place in a fixed order; nothing if it does not exist."""
    if place.is_file():
        if ending_of(name) in READERS:
            yield name, place
        return
    if not place.is_dir():
        return
    for child in sorted(place.iterdir(), key=lambda each: each.name):
        if child.name.startswith(".") or child.name in _FOLDERS_WITHOUT_SOURCES or child.name in without:
            continue
        yield from _walk(f"{name}/{child.name}", child, frozenset())


def ending_of(path: str) -> str:
    """Return the ending of a path with its dot; empty if there is none."""
    return f".{path.rpartition('.')[2]}" if "." in path.rpartition("/")[2] else ""


def package_sources() -> tuple[Source, ...]:
    """Return the installed packages, from a wheel or editable; optional ones only if installed."""
    sources = [
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
            sources.append(Source(layer, package, resources.files(package)))
    return tuple(sources)


def reference_tests() -> Source | None:
    """Return the tests of the reference if the packages are from a checkout."""
    folder = Path(__file__).parents[3] / "tests" / "reference"
    return Source("tests", "tests/reference", folder) if folder.is_dir() else None


def checkout_sources(repository: Path) -> tuple[Source, ...]:
    """Return all sources of a checkout; paths are relative to the repository."""
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
