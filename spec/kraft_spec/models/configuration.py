"""Contents of a TLC configuration (.cfg)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Configuration:
    """A TLC configuration.

    Attributes:
        module: TLA+ module, without ".tla".
        specification: Temporal formula; if empty, init and Next apply.
        init: Predicate of the initial states.
        replaces: Operators, and their replacements.
        constraint: Predicate that bounds the explored states; may be empty.
        view: Function that merges states with the same value; may be empty.
        invariants: Checked in each state, in this order.
        properties: Checked on steps or whole behaviours, in this order.
    """

    module: str
    specification: str = ""
    init: str = "Init"
    replaces: Mapping[str, str] = field(default_factory=dict)
    constraint: str = ""
    view: str = ""
    invariants: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()

    @property
    def checked(self) -> tuple[str, ...]:
        """Names of all invariants and properties."""
        return (*self.invariants, *self.properties)

    @property
    def text(self) -> str:
        """Text of the .cfg file."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        if self.specification:
            yield f"SPECIFICATION {self.specification}"
        else:
            yield f"INIT {self.init}"
            yield "NEXT Next"
        yield from _section("CONSTANTS", [f"{operator} <- {by}" for operator, by in self.replaces.items()])
        if self.constraint:
            yield f"CONSTRAINT {self.constraint}"
        if self.view:
            yield f"VIEW {self.view}"
        yield from _section("INVARIANTS", self.invariants)
        yield from _section("PROPERTIES", self.properties)


def _section(heading: str, items: tuple[str, ...] | list[str]) -> Iterator[str]:
    if items:
        yield heading
        yield from (f"  {item}" for item in items)
