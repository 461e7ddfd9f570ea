"""Cases that Apache Kafka is known to fail, from `differences.toml`."""

from collections.abc import Mapping
from importlib.resources import files

import msgspec


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A case that Kafka fails, and why."""

    case: str
    rules: tuple[str, ...]
    is_finding: bool
    """Whether it breaks what a MUST asks for."""
    says: str
    where: str
    """Classes and methods."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    difference: tuple[Difference, ...]


def known_differences() -> Mapping[str, Difference]:
    """All of them, by case."""
    raw = (files("kraft_conformance.live") / "differences.toml").read_bytes()
    return {one.case: one for one in msgspec.toml.decode(raw, type=_File).difference}
