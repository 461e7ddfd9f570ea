"""Outcome of a random run, as values."""

from dataclasses import asdict, dataclass
from typing import Any

from kraft_conformance.runner.outcome import Outcome
from kraft_vectors.features import Feature


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A failing run after shrinking."""

    moves_before: int
    """Number of moves up to the first difference."""
    moves: int
    runs: int
    """Number of runs for shrinking, including the last one."""
    lines: tuple[str, ...]
    """Events of the short run, one line each."""
    is_minimal: bool
    """True if every move is needed; False if the runs were used up, or the moves alone do not repeat the failure."""


@dataclass(frozen=True, slots=True)
class Saved:
    """Saved files of a failing run."""

    trace: str
    """Trace file of the whole run."""
    shrunk_trace: str | None = None
    vector: str | None = None
    """Id of the vector."""
    replay: str | None = None
    """Command that runs it."""
    without_vector: str | None = None
    """Reason why there is no vector, or why it does not fail alone."""


@dataclass(frozen=True, slots=True)
class RandomOutcome:
    """Outcome of the run of a workload and seed."""

    workload: str
    seed: int
    outcome: Outcome
    """Its id is `workload.seed`, its step the sequence number of the first event that differs."""
    repeat: str
    """Command that makes the run again."""
    events: int = 0
    replica: int | None = None
    """Replica that differs first."""
    adapter: str | None = None
    """Adapter of that replica."""
    violation: str | None = None
    """Violated invariant of the simulator."""
    model: str | None = None
    """TLC's rejection of the recorded trace."""
    remarks: tuple[str, ...] = ()
    restricted: tuple[Feature, ...] = ()
    """Features that the workload had to omit."""
    trace_sha256: str | None = None
    """SHA-256 of the recorded trace."""
    shrunk: Shrunk | None = None
    saved: Saved | None = None
    known: tuple[str, ...] = ()
    """Reasons of the known differences in it."""
    until_known: int = 0
    """Number of events before the first known difference; all events if there is none."""
    is_whole: bool = False
    """True if the run reached its end."""

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON document, without empty fields."""
        document = self.outcome.as_dict() | {"workload": self.workload, "seed": self.seed, "events": self.events}
        if self.known:
            document["until_known"] = self.until_known
        for name in ("replica", "adapter", "violation", "model", "trace_sha256", "remarks", "restricted", "known"):
            if getattr(self, name) not in (None, ()):
                document[name] = getattr(self, name)
        if self.shrunk is not None:
            document["shrunk"] = {
                "moves_before": self.shrunk.moves_before,
                "moves": self.shrunk.moves,
                "runs": self.shrunk.runs,
                "minimal": self.shrunk.is_minimal,
            }
        if self.saved is not None:
            document["saved"] = {name: value for name, value in asdict(self.saved).items() if value is not None}
        return document
