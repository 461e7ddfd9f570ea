"""What random runs are made: a value that a command line is read into."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kraft_conformance.random_runs.seats import Seat
from kraft_spec.difference import Difference

SHRINK_RUNS_MAX = 400
"""After so many runs the shortest schedule so far is short enough."""
_EXTRA, _LEFT_OUT = ": not expected", ": missing"


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """What an implementation is known to do otherwise, and where that shows."""

    reason: str
    shows: Mapping[str, tuple[str, ...]]
    """The events at which it shows, with the names of what may differ there, N for any number.

    A name that ends in `: not expected` or `: missing` is of what is only done, or only expected.
    One that goes on with any other `: WORDS` is of what is shown, which begins so; nothing counts without it.
    """
    ends_run: bool = False
    """Whether what comes after it hangs on something that is not shown."""
    breaks: tuple[str, ...] = ()
    """The properties that a replica which shows it may break."""

    def names_at(self, event: str | None) -> tuple[str, ...]:
        """What may differ at an event."""
        return () if event is None else self.shows.get(event, ())


def explanation(
    known: Sequence[KnownDifference], event: str | None, differences: Sequence[Difference]
) -> tuple[KnownDifference, ...]:
    """Those that all that differs in a step belongs to; none if something belongs to none."""
    explaining: list[KnownDifference] = []
    candidates = [candidate for candidate in known if _is_shown(candidate, event, differences)]
    for difference in differences:
        owner = next(
            (
                candidate
                for candidate in candidates
                if any(_is_called(difference, name) for name in candidate.names_at(event))
            ),
            None,
        )
        if owner is None:
            return ()
        if owner not in explaining:
            explaining.append(owner)
    return tuple(explaining)


def _is_shown(known: KnownDifference, event: str | None, differences: Sequence[Difference]) -> bool:
    """Is there what it hangs on?"""
    needed = [name for name in known.names_at(event) if _has_words(name)]
    return not needed or any(_is_called(difference, name) for difference in differences for name in needed)


def _has_words(name: str) -> bool:
    return ": " in name and not name.endswith((_EXTRA, _LEFT_OUT))


def _is_called(difference: Difference, name: str) -> bool:
    """Is it of this name, in whichever direction and in its own?"""
    field, actual = (re.sub(r"\d+", "N", text) for text in (difference.field, difference.actual))
    if _has_words(name):
        return f"{field}: {actual}".startswith(name)
    names = {field}
    if difference.expected == "nothing":
        names.add(f"{field}{_EXTRA}")
    elif difference.actual == "nothing":
        names.add(f"{field}{_LEFT_OUT}")
    return name in names


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
