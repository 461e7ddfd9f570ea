"""A page for each module of the packages, from its docstrings."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tools.site.markup import prose

from kraft_dev.markdown import table

FOLDER = "api"
PACKAGES = (
    ("reference", "kraft_reference"),
    ("reference", "kraft_simulation"),
    ("reference", "kraft_partitions"),
    ("spec", "kraft_spec"),
    ("spec", "kraft_mutants"),
    ("traces", "kraft_traces"),
    ("conformance", "kraft_vectors"),
    ("conformance", "kraft_conformance"),
    ("conformance", "kraft_kafka.wire"),
)
"""Source root and package."""

LEFT_OUT: Mapping[str, str] = {
    "kraft_cli": "the [commands](../commands/index.md) have pages of their own",
    "kraft_kafka.findings": "what `kraft-spec findings` shows",
    "kraft_kafka": "[Apache Kafka itself](../kafka.md), behind `kraft-spec kafka`",
    "kraft_kafka.live": "[running implementations](../live.md), behind `kraft-spec live`",
    "kraft_kafka.node": "[a node](../node.md), behind `kraft-spec node`",
    "kraft_partitions.scenarios": "the scripts of [scenarios](../scenarios/index.md)",
    "kraft_simulation.scenarios": "the scripts of [scenarios](../scenarios/index.md)",
    "kraft_proofs": "what `kraft-spec prove` runs",
    "kraft_traces.inference": "the search behind [`kraft-spec live infer`](../live.md#recording-a-quorum-that-runs)",
    "kraft_vectors.scripts": "the scripts that make [vectors](../conformance.md#where-they-come-from)",
    "kraft_vectors.partitions.scripts": "the same for partitions",
    "kraft_pipeline": "what `kraft-spec pipeline` runs on Spark",
}
"""Packages that nobody imports for a purpose of their own, and what they are behind."""


def public_modules(repository: Path) -> tuple[tuple[str, Path], ...]:
    """(dotted name, file) of every module that has a page: public by its name, and in no package of `LEFT_OUT`."""
    found = []
    for root, package in PACKAGES:
        for file in sorted((repository / root / package.replace(".", "/")).rglob("*.py")):
            parts = file.relative_to(repository / root).with_suffix("").parts
            names = parts[:-1] if parts[-1] == "__init__" else parts
            name = ".".join(names)
            if not any(part.startswith("_") for part in names) and not _is_left_out(name, package):
                found.append((name, file))
    return tuple(sorted(found))


def _is_left_out(name: str, package: str) -> bool:
    others = [other for other in LEFT_OUT if not f"{package}.".startswith(f"{other}.")]
    return any(f"{name}.".startswith(f"{other}.") for other in others)


def api_pages(repository: Path) -> Iterable[tuple[str, str]]:
    """Yield (path below docs, text) for the index, in Markdown, and for every module."""
    modules = public_modules(repository)
    yield f"{FOLDER}/index.md", _index(modules)
    for name, file in modules:
        parts = [other for other, _ in modules if other.rpartition(".")[0] == name]
        yield f"{FOLDER}/{name}.rst", module_page(name, file.relative_to(repository).as_posix(), parts)


def module_page(name: str, path: str, parts: Sequence[str]) -> str:
    """The page of one module; what is in it is read from the docstrings when the page is.

    Args:
        name: dotted.
        path: the file, from the root of the repository.
        parts: the modules and packages right inside a package.
    """
    lines = [":orphan:", "", name, "=" * len(name), ""]
    lines += [f"``{path}``, one of :doc:`the public modules <index>`.", "", f".. automodule:: {name}", ""]
    if parts:
        lines += [".. rubric:: In this package", "", *(f"- :doc:`{part}`" for part in parts), ""]
    return "\n".join(lines)


def _index(modules: Sequence[tuple[str, Path]]) -> str:
    lines = [
        "# Every public module",
        "",
        "Generated from the docstrings; the packages build on each other in this order.",
        "What others are not meant to import has no page: it is listed at the end.",
        "",
    ]
    for _, package in PACKAGES:
        rows = [
            (f"[{name}]({name}.rst)", _with_code(prose(_first_sentence(file))))
            for name, file in modules
            if f"{name}.".startswith(f"{package}.")
        ]
        lines += [f"## {package}", "", *table(("module", "what it is"), rows), ""]
    lines += ["## Without a page", "", *(f"- `{package}`: {what}" for package, what in LEFT_OUT.items())]
    return "\n".join(lines) + "\n"


_CODE = re.compile(r"\\`(.+?)\\`")
_ESCAPED = re.compile(r"\\(.)")


def _with_code(escaped: str) -> str:
    """What stands between two escaped backticks as code, without escapes of its own."""
    return _CODE.sub(lambda code: "`" + _ESCAPED.sub(r"\1", code.group(1)) + "`", escaped)


def _first_sentence(file: Path) -> str:
    """The first paragraph of a module's docstring."""
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return said.split("\n\n")[0]
