"""Known differences of Apache Kafka's releases beyond their profiles, from `differences.toml`."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from kraft_conformance.random_runs.plan import KnownDifference
from kraft_conformance.runner.outcome import ExpectedFailure
from kraft_kafka.releases import number


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A known difference of Kafka, and the vectors and schedules that show it."""

    says: str
    where: str
    """Classes and methods."""
    rules: tuple[str, ...]
    is_finding: bool
    """True if Kafka breaks a rule; False if the difference comes from how the suite drives a replica."""
    fields: tuple[str, ...] = ()
    """Prefixes of the fields that differ in the vectors."""
    vectors: tuple[str, ...] = ()
    before: str = ""
    """The first release without it; empty if every release of the profile has it."""
    schedules: Mapping[str, tuple[str, ...]] = {}
    """Fields that may differ in random schedules, by event; N in a name is any number."""
    ends_schedules: bool = False
    """True if the rest of a schedule depends on state that Kafka does not show."""
    breaks: tuple[str, ...] = ()
    """Properties that a replica violates in schedules because of it."""

    @property
    def reason(self) -> str:
        return f"{'finding: ' if self.is_finding else ''}{self.says} ({self.where})"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    difference: tuple[Difference, ...]


@cache
def known_differences() -> tuple[Difference, ...]:
    """Return all differences, in the order of the file."""
    raw = (files("kraft_kafka") / "differences.toml").read_bytes()
    return msgspec.toml.decode(raw, type=_File).difference


def expected_failures(is_always_seen: bool, version: str | None = None) -> Mapping[str, ExpectedFailure]:
    """Return the vectors that show a known difference, by id.

    Args:
        is_always_seen: True if a passing vector proves that the difference is gone.
        version: the release; None for a build of no release.
    """
    return {
        vector: ExpectedFailure(difference.reason, difference.fields, is_always_seen)
        for difference in known_differences()
        if not difference.before or (version is not None and number(version) < number(difference.before))
        for vector in difference.vectors
    }


def known_in_schedules() -> tuple[KnownDifference, ...]:
    """Return the differences that random schedules show."""
    return tuple(
        [
            KnownDifference(difference.reason, difference.schedules, difference.ends_schedules, difference.breaks)
            for difference in known_differences()
            if difference.schedules
        ]
    )
