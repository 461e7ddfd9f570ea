"""Shrinking of a failing run: fewer moves that lead to the same difference at the same replica."""

from dataclasses import dataclass

from kraft_conformance.random_runs.notes import CountsOtherwiseError, FirstDifference
from kraft_conformance.random_runs.outcome import Shrunk
from kraft_conformance.random_runs.running import Recorded, RunSpec, rerun
from kraft_conformance.random_runs.table import Table
from kraft_conformance.runner.faults import AdapterFault
from kraft_simulation.failure import describe
from kraft_simulation.schedule import Schedule
from kraft_simulation.shrink import shrink

_FAULTS_MAX = 3
"""Maximum number of faults: an adapter that hangs in many candidates would take too long."""


@dataclass(frozen=True, slots=True)
class ShrunkRun:
    """The short run, and statistics about it."""

    recorded: Recorded
    outcome: Shrunk


class _Candidates:
    """Runs candidate schedules.

    Until the first difference all replicas act as the reference does, so only the replica that differs uses its
    adapter; after a known difference all replicas do.
    """

    def __init__(self, table: Table, spec: RunSpec, before: Recorded, wanted: FirstDifference) -> None:
        self._table = table
        self._spec = spec
        self._wanted = wanted
        self._only = None if before.notes.passed else wanted.replica_id
        self._faults = 0
        self.runs = 0

    def is_done(self, runs_max: int) -> bool:
        """True if all candidates were run."""
        return self.runs < runs_max and self._faults < _FAULTS_MAX

    def attempt(self, schedule: Schedule) -> Schedule | None:
        """Return the moves of a candidate that were possible; None if they do not lead to the difference."""
        recorded = self.run(schedule, only=self._only)
        return None if recorded is None else recorded.schedule

    def run(self, schedule: Schedule, only: int | None = None) -> Recorded | None:
        """Return the run of a schedule, if it leads to the difference."""
        if self._faults >= _FAULTS_MAX:
            return None
        self.runs += 1
        try:
            passes = not self._wanted.is_of_timers
            known_differences = self._spec.known
            recorded = rerun(
                self._table, self._spec.configuration, schedule, only, passes_timers=passes, known=known_differences
            )
        except CountsOtherwiseError:
            return None
        except AdapterFault:
            self._faults += 1
            self._table.end(politely=False)
            return None
        first = recorded.notes.first
        same = first is not None and (first.replica_id, first.key) == (self._wanted.replica_id, self._wanted.key)
        return recorded if same else None


def shrink_run(
    table: Table, spec: RunSpec, recorded: Recorded, first: FirstDifference, runs_max: int
) -> ShrunkRun | None:
    """Return the shortest run; None if the initial state differs already, or the moves do not repeat the difference."""
    if not first.sequence:
        return None
    moves = tuple([move for move in recorded.schedule if move.sequence <= first.sequence])
    candidates = _Candidates(table, spec, recorded, first)
    shortest = shrink(moves, candidates.attempt, runs_max)
    short = candidates.run(shortest) or candidates.run(shortest, only=first.replica_id)
    if short is None:
        return None
    lines = tuple(map(describe, short.occurrences))
    outcome = Shrunk(len(moves), len(short.schedule), candidates.runs, lines, is_minimal=candidates.is_done(runs_max))
    return ShrunkRun(short, outcome)
