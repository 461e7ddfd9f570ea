"""Violations of properties."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """A violated property, with its occurrence and values."""

    property_name: str
    """Name from the head of the rule catalogue, or `DurableBeforeSend`, `TypeOk` or `Assertion`."""
    sequence: int
    """Sequence number of the violating occurrence; of the last one for missing progress."""
    replica_id: int | None
    message: str

    def __str__(self) -> str:
        where = "" if self.replica_id is None else f" at replica {self.replica_id}"
        return f"{self.property_name} violated by event {self.sequence}{where}: {self.message}"


class BrokenProperty(Exception):  # noqa: N818 - it carries a finding, it is no error of the program
    """Raised by a check, and converted to a `Violation`."""

    def __init__(self, property_name: str, message: str) -> None:
        super().__init__(message)
        self.property_name = property_name
        self.message = message
