"""The difference that comparisons of every tool are made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """A field whose value is not the expected one: of a line, of an implementation, or of the reference itself."""

    field: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.field}: expected {self.expected}, actual {self.actual}"
