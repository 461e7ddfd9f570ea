"""What is known to differ in a release of Apache Kafka beyond its profile, from `differences.toml`."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from kraft_conformance.random_runs.plan import KnownDifference
from kraft_conformance.runner.outcome import ExpectedFailure


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that Kafka does otherwise, and the vectors and events that show it."""

    says: str
    where: str
    """Classes and methods."""
    rules: tuple[str, ...]
    is_finding: bool
    """Whether it breaks what a rule asks for, and is no matter of how the suite drives a replica."""
    fields: tuple[str, ...]
    """How the names of the fields begin that differ."""
    vectors: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    """The events at which it shows in random schedules."""

    @property
    def reason(self) -> str:
        """It in a line."""
        return f"{'finding: ' if self.is_finding else ''}{self.says} ({self.where})"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    difference: tuple[Difference, ...]


@cache
def known_differences() -> tuple[Difference, ...]:
    """All of them, in the order of the file."""
    raw = (files("kraft_conformance.kafka") / "differences.toml").read_bytes()
    return msgspec.toml.decode(raw, type=_File).difference


def expected_failures(is_always_seen: bool) -> Mapping[str, ExpectedFailure]:
    """The vectors that show one of them, by id.

    Args:
        is_always_seen: whether Kafka shows so much that a vector which passes says that a difference is gone.
    """
    return {
        vector: ExpectedFailure(one.reason, one.fields, is_always_seen)
        for one in known_differences()
        for vector in one.vectors
    }


def known_in_schedules() -> tuple[KnownDifference, ...]:
    """Those that random schedules show."""
    return tuple([KnownDifference(one.reason, one.events, one.fields) for one in known_differences() if one.events])
