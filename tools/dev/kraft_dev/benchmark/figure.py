"""A measured figure with its target, and the machine that it is measured on."""

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass

from kraft_conformance.console import show_table


class BenchmarkError(Exception):
    """What was to be measured fails."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number, and what it should be.

    Attributes:
        name: what was measured.
        value: how much it is, in `unit`; without one it is a ratio.
        target: what it should be; None: it is only shown.
        at_most: whether it should be so much at most, else at least.
    """

    name: str
    value: float
    target: float | None = None
    unit: str = ""
    at_most: bool = False

    @property
    def is_reached(self) -> bool:
        """Is it what it should be?"""
        if self.target is None:
            return True
        return self.value <= self.target if self.at_most else self.value >= self.target

    def cells(self) -> tuple[str, ...]:
        """For people: what, measured, wanted, and whether it was missed."""
        is_count = isinstance(self.value, int) or self.value >= 1000
        amount = f"{self.value:,.0f} {self.unit}" if is_count else f"{self.value:.2f} {self.unit}"
        if self.target is None:
            return self.name, amount.rstrip(), "-", ""
        wanted = f"{'at most' if self.at_most else 'at least'} {self.target:,g} {self.unit}"
        return self.name, amount.rstrip(), wanted.rstrip(), "" if self.is_reached else "missed"


def describe_machine() -> str:
    """What the figures depend on besides the program, on one line: the load is that of all processes, this one too."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = " ".join(f"{average:.2f}" for average in os.getloadavg())
    return f"{usable} processors ({platform.machine()}), load {load} (1, 5, 15 min), Python {platform.python_version()}"


def show_figures(figures: Iterable[Figure]) -> None:
    """A table of them."""
    show_table("Figures", ("what", "measured", "wanted", ""), (figure.cells() for figure in figures))
