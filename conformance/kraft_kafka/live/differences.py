"""Cases and vectors that a whole controller of Apache Kafka is known to fail, from `differences.toml`."""

from collections.abc import Mapping
from importlib.resources import files

import msgspec

from kraft_conformance.runner.outcome import ExpectedFailure
from kraft_kafka.differences import expected_failures as of_the_client


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A case that Kafka fails, or vectors that do so on a process alone, and why."""

    rules: tuple[str, ...]
    is_finding: bool
    """Whether it breaks what a MUST asks for."""
    says: str
    where: str
    """Classes and methods."""
    case: str = ""
    vectors: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    """How the names of the fields begin that differ in the vectors."""

    @property
    def reason(self) -> str:
        """It in a line."""
        return f"{self.says} ({self.where})"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    difference: tuple[Difference, ...]


def known_differences() -> Mapping[str, Difference]:
    """Those of cases, by case."""
    return {one.case: one for one in _differences() if one.case}


def expected_case_failures() -> Mapping[str, ExpectedFailure]:
    """The same as reports have them."""
    return {name: ExpectedFailure(one.reason, is_always_seen=False) for name, one in known_differences().items()}


def expected_failures() -> Mapping[str, ExpectedFailure]:
    """The vectors that a process shows a difference in, by id; those of Kafka's client are among them."""
    own = {vector: ExpectedFailure(one.reason, one.fields, False) for one in _differences() for vector in one.vectors}
    return {**of_the_client(False), **own}


def _differences() -> tuple[Difference, ...]:
    raw = (files("kraft_kafka.live") / "differences.toml").read_bytes()
    return msgspec.toml.decode(raw, type=_File).difference
