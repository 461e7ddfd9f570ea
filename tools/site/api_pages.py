"""A page for each module of the packages, from its docstrings."""

import ast
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.site.markup import prose, table

FOLDER = "api"
PACKAGES = (
    ("reference", "kraft_reference"),
    ("spec", "kraft_spec"),
    ("traces", "kraft_traces"),
    ("conformance", "kraft_conformance"),
)
"""Source root and package."""


def public_modules(repository: Path) -> tuple[tuple[str, Path], ...]:
    """(dotted name, file) of every module whose name has no leading underscore, packages before what is in them."""
    found = []
    for root, package in PACKAGES:
        for file in sorted((repository / root / package).rglob("*.py")):
            parts = file.relative_to(repository / root).with_suffix("").parts
            names = parts[:-1] if parts[-1] == "__init__" else parts
            if not any(name.startswith("_") for name in names):
                found.append((".".join(names), file))
    return tuple(sorted(found))


def api_pages(repository: Path) -> Iterable[tuple[str, str]]:
    """Yield (path below docs, text) for the index, in Markdown, and for every module."""
    modules = public_modules(repository)
    yield f"{FOLDER}/index.md", _index(modules)
    for name, _ in modules:
        yield f"{FOLDER}/{name}.rst", module_page(name)


def module_page(name: str) -> str:
    """The page of one module; what is in it is read from the docstrings when the page is."""
    return f":orphan:\n\n{name}\n{'=' * len(name)}\n\n.. automodule:: {name}\n"


def _index(modules: Sequence[tuple[str, Path]]) -> str:
    lines = [
        "# Every module",
        "",
        "Generated from the docstrings; the packages build on each other in this order.",
        "",
    ]
    for _, package in PACKAGES:
        rows = [
            (f"[{name}]({name}.rst)", prose(_first_sentence(file)))
            for name, file in modules
            if name.partition(".")[0] == package
        ]
        lines += [f"## {package}", "", *table(("module", "what it is"), rows), ""]
    return "\n".join(lines) + "\n"


def _first_sentence(file: Path) -> str:
    """The first paragraph of a module's docstring."""
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return said.split("\n\n")[0]
