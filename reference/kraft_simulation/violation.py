"""A property that does not hold."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken property, where it was seen, and the values that break it."""

    property_name: str
    """As at the head of the rule catalogue, or one of `DurableBeforeSend`, `TypeOk`, `Assertion`."""
    sequence: int
    """Of the occurrence that broke it; for progress that did not come, of the last one."""
    replica_id: int | None
    message: str

    def __str__(self) -> str:
        where = "" if self.replica_id is None else f" at replica {self.replica_id}"
        return f"{self.property_name} violated by event {self.sequence}{where}: {self.message}"


class BrokenProperty(Exception):  # noqa: N818 - it carries a finding, it is no error of the program
    """Raised inside the checks and turned into a `Violation` by them."""

    def __init__(self, property_name: str, message: str) -> None:
        super().__init__(message)
        self.property_name = property_name
        self.message = message
