"""What random runs are made: a value that a command line is read into."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kraft_conformance.random_runs.seats import Seat
from kraft_conformance.runner.plain import Difference

SHRINK_RUNS_MAX = 400
"""After so many runs the shortest schedule so far is short enough."""


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """What an implementation is known to do otherwise, and where that shows."""

    reason: str
    shows: Mapping[str, tuple[str, ...]]
    """The events at which it shows, with the names of what may differ there, N for any number.

    A name that ends in `: not expected` or `: missing` is of what is only done, or only expected.
    """
    ends_run: bool = False
    """Whether what comes after it hangs on something that is not shown."""
    breaks: tuple[str, ...] = ()
    """The properties that a replica which shows it may break."""


def explanation(
    known: Sequence[KnownDifference], event: str | None, found: Sequence[Difference]
) -> tuple[KnownDifference, ...]:
    """Those that all that differs in a step belongs to; none if something belongs to none."""
    explaining: list[KnownDifference] = []
    dies = any(difference.field == "died" for difference in found)
    for difference in found:
        names = _names(difference)
        one = next((one for one in known if not names.isdisjoint(_shown_at(one, event, dies))), None)
        if one is None:
            return ()
        if one not in explaining:
            explaining.append(one)
    return tuple(explaining)


def _names(difference: Difference) -> set[str]:
    """What a known difference may call it, in whichever direction and in its own."""
    name = re.sub(r"\d+", "N", difference.field)
    if difference.expected == "nothing":
        return {name, f"{name}: not expected"}
    return {name, f"{name}: missing"} if difference.actual == "nothing" else {name}


def _shown_at(known: KnownDifference, event: str | None, dies: bool) -> tuple[str, ...]:
    """What may differ at an event: of a death only what comes with it."""
    names = () if event is None else known.shows.get(event, ())
    return names if dies or "died" not in names else ()


@dataclass(frozen=True, slots=True)
class RandomPlan:
    """What is run."""

    seats: tuple[Seat, ...]
    """Who plays the replicas, dealt in turn."""
    seeds: Sequence[int] = range(20)
    workloads: tuple[str, ...] = ("chaos",)
    """Names in `WORKLOADS`."""
    steps: int = 1000
    """Events of each run before its faults stop."""
    replicas: int = 3
    """Voters of each cluster; some workloads have observers besides."""
    profile: str | None = None
    """None for the one that the first adapter names."""
    differential: bool = False
    """Whether a run fails at the first step that differs from the reference, whatever comes of it."""
    checks_model: bool = True
    """Whether TLC looks at each recorded trace."""
    shrinks: bool = True
    shrink_runs_max: int = SHRINK_RUNS_MAX
    stops_at_first: bool = False
    reply_timeout_s: float = 10.0
    save: Path | None = None
    """A folder for the traces of failing runs, and for vectors that fail in the same way."""
    known: tuple[KnownDifference, ...] = ()
    """A run that comes to one of them goes on, and is an expected failure."""
    old_software_everywhere: bool = False
    """Whether adapters play software without Pre-Vote too, where a workload has it."""
