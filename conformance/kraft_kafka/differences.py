"""What is known to differ in a release of Apache Kafka beyond its profile, from `differences.toml`."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from kraft_conformance.random_runs.plan import KnownDifference
from kraft_conformance.runner.outcome import ExpectedFailure
from kraft_kafka.releases import number


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that Kafka does otherwise, and the vectors and schedules that show it."""

    says: str
    where: str
    """Classes and methods."""
    rules: tuple[str, ...]
    is_finding: bool
    """Whether it breaks what a rule asks for, and is no matter of how the suite drives a replica."""
    fields: tuple[str, ...] = ()
    """How the names of the fields begin that differ in the vectors."""
    vectors: tuple[str, ...] = ()
    before: str = ""
    """The first release that does not show it; empty if every one that the profile is of does."""
    schedules: Mapping[str, tuple[str, ...]] = {}
    """The events at which it shows in random schedules, with the names of what may differ there, N for any number."""
    ends_schedules: bool = False
    """Whether what comes after it in a schedule hangs on something that Kafka does not show."""
    breaks: tuple[str, ...] = ()
    """The properties that a replica breaks in schedules for it."""

    @property
    def reason(self) -> str:
        """It in a line."""
        return f"{'finding: ' if self.is_finding else ''}{self.says} ({self.where})"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    difference: tuple[Difference, ...]


@cache
def known_differences() -> tuple[Difference, ...]:
    """All of them, in the order of the file."""
    raw = (files("kraft_kafka") / "differences.toml").read_bytes()
    return msgspec.toml.decode(raw, type=_File).difference


def expected_failures(is_always_seen: bool, version: str | None = None) -> Mapping[str, ExpectedFailure]:
    """The vectors that show one of them, by id.

    Args:
        is_always_seen: whether Kafka shows so much that a vector which passes says that a difference is gone.
        version: the release; None for a build that is none.
    """
    return {
        vector: ExpectedFailure(one.reason, one.fields, is_always_seen)
        for one in known_differences()
        if not one.before or (version is not None and number(version) < number(one.before))
        for vector in one.vectors
    }


def known_in_schedules() -> tuple[KnownDifference, ...]:
    """Those that random schedules show."""
    return tuple(
        [
            KnownDifference(one.reason, one.schedules, one.ends_schedules, one.breaks)
            for one in known_differences()
            if one.schedules
        ]
    )
