"""Hashes of sources: of the model, for trace headers, and of packages, for stored results."""

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

MODEL_MODULES = (
    "Definitions",
    "Roles",
    "Elections",
    "Leadership",
    "PendingChanges",
    "Replication",
    "VoterChanges",
    "QuorumReassignment",
    "Snapshots",
    "Durability",
    "KRaft",
)
"""Modules of the protocol, each after those that it builds on."""
TRACE_MODULES = (*MODEL_MODULES, "RoleTable", "Properties", "Observed", "Forgetting", "Trace")
"""Modules that trace checking depends on."""

PARTITION_MODEL_MODULES = ("Partitions", "PartitionReassignment")
"""Modules of the separate partition reassignment model."""
PARTITION_TRACE_MODULES = (*PARTITION_MODEL_MODULES, "PartitionProperties", "PartitionTrace")
"""Modules that checking a partition trace depends on."""


@cache
def spec_hash() -> str:
    """Return the SHA-256, in hexadecimal, of the names and texts of the modules that trace checking depends on."""
    return _hash_of(TRACE_MODULES)


@cache
def partition_spec_hash() -> str:
    """Return the same hash for partition traces."""
    return _hash_of(PARTITION_TRACE_MODULES)


def _hash_of(modules: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for module in modules:
        text = (files("kraft_spec") / "tla" / f"{module}.tla").read_bytes()
        digest.update(f"{module} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()


def fingerprint_of(packages: tuple[str, ...], endings: tuple[str, ...]) -> str:
    """Return the SHA-256, in hexadecimal, of the names and texts of all files of some packages with these endings."""
    digest = hashlib.sha256()
    for package in packages:
        for name, file in _walk(files(package), package):
            if name.endswith(endings):
                text = file.read_bytes()
                digest.update(f"{name} {len(text)}\n".encode())
                digest.update(text)
    return digest.hexdigest()


def _walk(folder: Traversable, name: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            yield from _walk(entry, path)
        else:
            yield path, entry
