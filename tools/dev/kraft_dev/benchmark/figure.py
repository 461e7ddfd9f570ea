"""A measured figure with its target, and a description of the machine."""

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass

from kraft_conformance.console import show_table


class BenchmarkError(Exception):
    """The operation to be measured failed."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number and its target.

    Attributes:
        name: description of the measurement.
        value: the measured number, in `unit`; a ratio if there is no unit.
        target: the expected number; None if the figure is only reported.
        at_most: True if the target is a maximum, False if it is a minimum.
    """

    name: str
    value: float
    target: float | None = None
    unit: str = ""
    at_most: bool = False

    @property
    def is_reached(self) -> bool:
        """True if the figure meets its target."""
        if self.target is None:
            return True
        return self.value <= self.target if self.at_most else self.value >= self.target

    def cells(self) -> tuple[str, ...]:
        """Return the table cells: name, measured value, target, and whether the target was missed."""
        is_count = isinstance(self.value, int) or self.value >= 1000
        amount = f"{self.value:,.0f} {self.unit}" if is_count else f"{self.value:.2f} {self.unit}"
        if self.target is None:
            return self.name, amount.rstrip(), "-", ""
        wanted = f"{'at most' if self.at_most else 'at least'} {self.target:,g} {self.unit}"
        return self.name, amount.rstrip(), wanted.rstrip(), "" if self.is_reached else "missed"


def describe_machine() -> str:
    """Describe the machine on one line; the load counts all processes, this one included."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = " ".join(f"{average:.2f}" for average in os.getloadavg())
    return f"{usable} processors ({platform.machine()}), load {load} (1, 5, 15 min), Python {platform.python_version()}"


def show_figures(figures: Iterable[Figure]) -> None:
    """Print the figures as a table."""
    show_table("Figures", ("what", "measured", "wanted", ""), (figure.cells() for figure in figures))
