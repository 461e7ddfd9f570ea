"""Public modules of the packages, each of which has a page."""

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
"""Packages without API pages, and the documentation to read instead."""


def public_modules(repository: Path) -> tuple[tuple[str, Path], ...]:
    """Return the dotted name and file of every public module outside the packages of `LEFT_OUT`."""
    modules = []
    for root, package in PACKAGES:
        for file in sorted((repository / root / package.replace(".", "/")).rglob("*.py")):
            parts = file.relative_to(repository / root).with_suffix("").parts
            names = parts[:-1] if parts[-1] == "__init__" else parts
            name = ".".join(names)
            if not any(part.startswith("_") for part in names) and not _is_left_out(name, package):
                modules.append((name, file))
    return tuple(sorted(modules))


def _is_left_out(name: str, package: str) -> bool:
    inner = [other for other in LEFT_OUT if not f"{package}.".startswith(f"{other}.")]
    return any(f"{name}.".startswith(f"{other}.") for other in inner)


def api_facts(repository: Path) -> dict[str, Any]:
    """Return the packages, their public modules by name, and the packages without pages."""
    modules = public_modules(repository)
    return {
        "packages": [package for _, package in PACKAGES],
        "modules": {
            name: {
                "name": name,
                "package": next(package for _, package in PACKAGES if f"{name}.".startswith(f"{package}.")),
                "path": file.relative_to(repository).as_posix(),
                "summary": (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").split("\n\n")[0],
                "parts": [other for other, _ in modules if other.rpartition(".")[0] == name],
            }
            for name, file in modules
        },
        "left_out": LEFT_OUT,
    }
