"""The model's edges as a tool: recorded once by the unbroken packages, replayed in each mutant's process."""

from pathlib import Path

from kraft_dev.child import run_child
from kraft_dev.edges import load_edges, replay
from kraft_dev.mutation.sighting import Sighting, Tally, Target

_DIFFERENCES_NAMED = 3


def record_edges(file: Path) -> None:
    """Enumerate the model's edges in a process of its own, because TLC keeps static state, and write them.

    Raises:
        ChildError: The process failed; the message is its last words.
    """
    run_child("kraft_dev.edges", "record", str(file))


def replay_edges(target: Target, tally: Tally) -> Sighting | None:
    """Replay every edge on the reference of this process, up to the first that differs."""
    assert target.edges is not None, "the campaign records the edges first"
    tally.where = "edges"
    edges = tuple(load_edges(target.edges))
    report = replay(edges, stop_at_first=True)
    tally.amount = report.replayed
    for differing in report.shown:
        words = [
            f"raises {difference.actual}" if difference.field == "raises" else f"differs in {difference.field}"
            for difference in differing.differences[:_DIFFERENCES_NAMED]
        ]
        return Sighting(", ".join(words), str(differing.edge))
    return None
