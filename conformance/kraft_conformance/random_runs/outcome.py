"""What a random run comes to, as values."""

from dataclasses import asdict, dataclass
from typing import Any

from kraft_conformance.runner.outcome import Outcome
from kraft_vectors.features import Feature


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A failing run made shorter."""

    moves_before: int
    """Up to the first difference."""
    moves: int
    runs: int
    """How many runs it took, the last one among them."""
    lines: tuple[str, ...]
    """What is left, a line for each event."""
    is_minimal: bool
    """No single move can be left out; False when the runs were used up before, or the moves alone do not repeat it."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What was written of a failing run."""

    trace: str
    """The file of the whole run."""
    shrunk_trace: str | None = None
    vector: str | None = None
    """The id of the vector."""
    replay: str | None = None
    """The command that fails with it."""
    without_vector: str | None = None
    """Why there is no vector, or why it is not enough."""


@dataclass(frozen=True, slots=True)
class RandomOutcome:
    """One run of one workload and seed."""

    workload: str
    seed: int
    outcome: Outcome
    """Its id is `workload.seed`, its step the sequence of the event that is wrong."""
    repeat: str
    """The one command that makes the run again."""
    events: int = 0
    replica: int | None = None
    """Where it went wrong."""
    adapter: str | None = None
    """Who plays that replica."""
    violation: str | None = None
    """Of an invariant of the simulator."""
    model: str | None = None
    """What TLC says of the recorded trace, where it objects."""
    remarks: tuple[str, ...] = ()
    restricted: tuple[Feature, ...] = ()
    """Features that the workload was run without."""
    trace_sha256: str | None = None
    """Of the recorded trace."""
    shrunk: Shrunk | None = None
    saved: Saved | None = None
    known: tuple[str, ...] = ()
    """What adapters did in it that they are known to do otherwise."""
    until_known: int = 0
    """Events before the first of these, all of them if there is none."""
    is_whole: bool = False
    """It ended where it was meant to."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON: what is empty is left out."""
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
