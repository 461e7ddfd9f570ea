"""Options of random runs, and the known differences of an implementation."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kraft_conformance.random_runs.seats import Seat
from kraft_spec.difference import Difference

SHRINK_RUNS_MAX = 400
"""Maximum number of runs for shrinking."""
_EXTRA, _LEFT_OUT = ": not expected", ": missing"


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """A known difference of an implementation, and the events at which it shows."""

    reason: str
    shows: Mapping[str, tuple[str, ...]]
    """Names of fields that may differ, by event; N stands for any number.

    The suffix `: not expected` or `: missing` restricts a name to an unexpected or a missing effect.
    Any other suffix `: WORDS` requires that the actual value begins with it; without such a difference no name counts.
    """
    ends_run: bool = False
    """True if the following events depend on something that is not shown."""
    breaks: tuple[str, ...] = ()
    """Properties that a replica with this difference may violate."""

    def names_at(self, event: str | None) -> tuple[str, ...]:
        """Return the names of fields that may differ at an event."""
        return () if event is None else self.shows.get(event, ())


def explain_differences(
    known: Sequence[KnownDifference], event: str | None, differences: Sequence[Difference]
) -> tuple[KnownDifference, ...]:
    """Return the known differences that explain all differences of a step; none if one is unexplained."""
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
    """True if the differences include a required actual value, if the known difference requires one."""
    needed = [name for name in known.names_at(event) if _has_words(name)]
    return not needed or any(_is_called(difference, name) for difference in differences for name in needed)


def _has_words(name: str) -> bool:
    return ": " in name and not name.endswith((_EXTRA, _LEFT_OUT))


def _is_called(difference: Difference, name: str) -> bool:
    """True if the name matches the difference, with or without a suffix."""
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
    """Options of a campaign of random runs."""

    seats: tuple[Seat, ...]
    """Programs that run the replicas, in turn."""
    seeds: Sequence[int] = range(20)
    workloads: tuple[str, ...] = ("chaos",)
    """Names in `WORKLOADS`."""
    steps: int = 1000
    """Events of each run before faults stop."""
    replicas: int = 3
    """Voters of each cluster; some workloads add observers."""
    profile: str | None = None
    """None for the profile in the first adapter's hello."""
    differential: bool = False
    """True if a run fails at the first step that differs from the reference, even if nothing follows from it."""
    checks_model: bool = True
    """True if TLC checks each recorded trace."""
    shrinks: bool = True
    shrink_runs_max: int = SHRINK_RUNS_MAX
    stops_at_first: bool = False
    reply_timeout_s: float = 10.0
    save: Path | None = None
    """Folder for traces of failing runs, and for vectors that fail in the same way."""
    known: tuple[KnownDifference, ...] = ()
    """A run with one of these continues, and is an expected failure."""
    old_software_everywhere: bool = False
    """True if adapters also act as software without Pre-Vote, in workloads that have it."""
