"""Cases and vectors that a whole controller of Apache Kafka is known to fail, from `differences.toml`."""

from collections.abc import Mapping
from importlib.resources import files

import msgspec

from kraft_conformance.runner.outcome import ExpectedFailure
from kraft_kafka.differences import expected_failures as client_failures


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A case, or vectors on a whole process, that Kafka fails, and the reason."""

    rules: tuple[str, ...]
    is_finding: bool
    """True if Kafka breaks a MUST."""
    says: str
    where: str
    """Classes and methods."""
    case: str = ""
    vectors: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    """Prefixes of the fields that differ in the vectors."""

    @property
    def reason(self) -> str:
        return f"{self.says} ({self.where})"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    difference: tuple[Difference, ...]


def known_differences() -> Mapping[str, Difference]:
    """Return the differences by case."""
    return {difference.case: difference for difference in _load() if difference.case}


def expected_case_failures() -> Mapping[str, ExpectedFailure]:
    """Return the differences of cases, for reports."""
    return {name: ExpectedFailure(case.reason, is_always_seen=False) for name, case in known_differences().items()}


def expected_failures() -> Mapping[str, ExpectedFailure]:
    """Return the vectors with a known difference on a process, by id, including those of Kafka's client."""
    own = {name: ExpectedFailure(entry.reason, entry.fields, False) for entry in _load() for name in entry.vectors}
    return {**client_failures(False), **own}


def _load() -> tuple[Difference, ...]:
    raw = (files("kraft_kafka.live") / "differences.toml").read_bytes()
    return msgspec.toml.decode(raw, type=_File).difference
