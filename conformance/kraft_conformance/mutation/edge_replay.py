"""The model's edges as a tool: recorded once by the unbroken packages, replayed in each mutant's process."""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from kraft_conformance.mutation.sighting import Sighting, Tally, Target
from kraft_spec.edges import Edge, load_edges, replay
from kraft_spec.edges.edge import ModelRecord

_DIFFERENCES_NAMED = 3
_LAST_WORDS = 1500


class EdgesMissingError(Exception):
    """The model's edges could not be recorded."""


def record_edges(file: Path) -> None:
    """Enumerate the model's edges in a process of its own, because TLC keeps static state, and write them.

    Raises:
        EdgesMissingError: The process failed; the message is its last words.
    """
    command = [sys.executable, "-m", "kraft_spec.edges", "record", str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise EdgesMissingError(f"the model's edges cannot be enumerated: {ended.stderr.strip()[-_LAST_WORDS:]}")


def replay_edges(target: Target, tally: Tally) -> Sighting | None:
    """Replay every edge on the reference of this process, up to the first that differs."""
    assert target.edges is not None, "the campaign records the edges first"
    tally.where = "edges"
    edges = tuple(_with_rules_off(load_edges(target.edges), target.switched_off))
    report = replay(edges, stop_at_first=True)
    tally.amount = report.replayed
    for differing in report.shown:
        words = [
            f"raises {difference.actual}" if difference.field == "raises" else f"differs in {difference.field}"
            for difference in differing.differences[:_DIFFERENCES_NAMED]
        ]
        return Sighting(", ".join(words), str(differing.edge))
    return None


def _with_rules_off(edges: Iterable[Edge], switched_off: frozenset[str]) -> Iterator[Edge]:
    """The same edges in a cluster whose replicas leave rules out, of which the model does not know."""
    broken: dict[int, ModelRecord] = {}
    for edge in edges:
        if switched_off:
            given = edge.configuration
            known = broken.get(id(given))
            if known is None:
                known = broken[id(given)] = {**given, "off": given["off"] | switched_off}
            edge = replace(edge, configuration=known)
        yield edge
