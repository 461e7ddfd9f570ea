"""The hash of the model, for the header of a trace."""

import hashlib
from functools import cache
from importlib.resources import files

TRACE_MODULES = (
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
    "RoleTable",
    "Properties",
    "Observed",
    "Trace",
)
"""The modules that decide about a trace."""


PARTITION_TRACE_MODULES = ("Partitions", "PartitionReassignment", "PartitionProperties", "PartitionTrace")
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
