"""The hash of the model, for the header of a trace."""

import hashlib
from functools import cache
from importlib.resources import files

TRACE_MODULES = (
    "Definitions",
    "Roles",
    "Elections",
    "Leadership",
    "Replication",
    "Durability",
    "KRaft",
    "RoleTable",
    "Properties",
    "Observed",
    "Trace",
)
"""The modules that decide about a trace."""


@cache
def spec_hash() -> str:
    """SHA-256, in hexadecimal, over the names and texts of the modules that decide about a trace."""
    digest = hashlib.sha256()
    for module in TRACE_MODULES:
        text = (files("kraft_spec") / "tla" / f"{module}.tla").read_bytes()
        digest.update(f"{module} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()
