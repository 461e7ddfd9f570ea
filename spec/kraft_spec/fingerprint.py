"""Hashes of the sources: of the model, for the header of a trace, and of packages, for what is kept in files."""

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
"""The modules of the protocol, in the order in which they build on each other."""
TRACE_MODULES = (*MODEL_MODULES, "RoleTable", "Properties", "Observed", "Forgetting", "Trace")
"""The modules that decide about a trace."""

PARTITION_MODEL_MODULES = ("Partitions", "PartitionReassignment")
"""The modules of the reassignment of partitions, a model of their own."""
PARTITION_TRACE_MODULES = (*PARTITION_MODEL_MODULES, "PartitionProperties", "PartitionTrace")
"""The modules that decide about a trace of partition reassignment."""


@cache
def spec_hash() -> str:
    """SHA-256, in hexadecimal, over the names and texts of the modules that decide about a trace."""
    return _hash_of(TRACE_MODULES)


@cache
def partition_spec_hash() -> str:
    """The same, over those that decide about a trace of partition reassignment."""
    return _hash_of(PARTITION_TRACE_MODULES)


def _hash_of(modules: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for module in modules:
        text = (files("kraft_spec") / "tla" / f"{module}.tla").read_bytes()
        digest.update(f"{module} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()


def fingerprint_of(packages: tuple[str, ...], endings: tuple[str, ...]) -> str:
    """SHA-256, in hexadecimal, over the names and texts of all files of some packages whose names end so."""
    digest = hashlib.sha256()
    for package in packages:
        for name, file in _walk(files(package), package):
            if name.endswith(endings):
                text = file.read_bytes()
                digest.update(f"{name} {len(text)}\n".encode())
                digest.update(text)
    return digest.hexdigest()


def _walk(folder: Traversable, name: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            yield from _walk(entry, path)
        else:
            yield path, entry
