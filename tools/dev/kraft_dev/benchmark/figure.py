"""A measured figure with its target, and the machine it was measured on."""

import os
import platform
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One number that has a target; it is the larger the better."""

    name: str
    value: float
    unit: str
    target: float

    @property
    def ratio(self) -> float:
        """The value in targets: 1 and above is reached."""
        return self.value / self.target

    @property
    def is_reached(self) -> bool:
        """Is the target reached?"""
        return self.value >= self.target

    def as_dict(self) -> dict[str, object]:
        """For --json."""
        return {
            "name": self.name,
            "value": round(self.value, 1),
            "unit": self.unit,
            "target": self.target,
            "ratio": round(self.ratio, 2),
            "is_reached": self.is_reached,
        }


@dataclass(frozen=True, slots=True)
class Machine:
    """What the figures depend on besides the program."""

    processors: int
    """Processors that this process may use."""
    load: tuple[float, float, float]
    """Runnable processes over the last 1, 5 and 15 minutes, this one's included."""
    architecture: str
    python: str

    def describe(self) -> str:
        """One line."""
        load = " ".join(f"{average:.2f}" for average in self.load)
        return f"{self.processors} processors ({self.architecture}), load {load} (1, 5, 15 min), Python {self.python}"


def this_machine() -> Machine:
    """The machine now."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Machine(usable, os.getloadavg(), platform.machine(), platform.python_version())
