"""Measured figures for people: what was measured, beside what it should be."""

from collections.abc import Iterable

from kraft_conformance.console import stdout, table
from kraft_dev.benchmark.figure import Figure, Machine


def print_figures(figures: Iterable[Figure]) -> None:
    """A table of them."""
    drawn = table("Figures", "what", "measured", "wanted", "")
    for figure in figures:
        drawn.add_row(figure.name, _amount(figure.value, figure.unit), _wanted(figure), _missed(figure))
    stdout.print(drawn)


def _amount(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.2f} {unit}".rstrip()


def _wanted(figure: Figure) -> str:
    if figure.target is None:
        return "-"
    return f"{'at most' if figure.at_most else 'at least'} {figure.target:,g} {figure.unit}".rstrip()


def _missed(figure: Figure) -> str:
    return "" if figure.is_reached else "missed"


def print_machines(before: Machine, after: Machine) -> None:
    """The machine, and its load before and after the measurement."""
    stdout.print(f"before: {before.describe()}", markup=False, soft_wrap=True)
    stdout.print(f"after:  {after.describe()}", markup=False, soft_wrap=True)
