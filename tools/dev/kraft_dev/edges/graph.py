"""Result of the enumeration of the model's state graph."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kraft_dev.edges.edge import WHOLE, Edge

NETWORK_ACTIONS = ("AnswerUnsupportedVersion", "DropMessage", "CutLink", "HealLink")
"""Actions of the model that are not events of a replica."""

NOT_ALLOWED = (
    "NOT_RUNNING",
    "RUNNING",
    "NOT_IN_ROLE",
    "NOTHING_DUE",
    "CHANGE_NOT_ALLOWED",
    "SNAPSHOT_OUT_OF_RANGE",
)
"""Reasons why the model does not allow an event: `RefusalReason` in Observed.tla."""


@dataclass(slots=True)
class ActionEdges:
    """Edge counts of one action, in the graph or from constructed states.

    Attributes:
        changing: Edges that change the replica.
        unchanging: Edges that leave the replica unchanged: it responds, or ignores the event.
        crashes: Edges of `changing` and `unchanging` that a crash interrupts.
        network: In the graph: edges that are not events of a replica.
        leaving: In the graph: edges to a state beyond the bounds, which is not explored.
        distinct: In the graph: distinct `Edge`s, which are replayed; from constructed states all are distinct.
        refused: From constructed states: events that the action does not allow in the state.
    """

    changing: int = 0
    unchanging: int = 0
    crashes: int = 0
    network: int = 0
    leaving: int = 0
    distinct: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class EdgeGraph:
    """The complete state graph restricted to replicas, and the edges from constructed states.

    Attributes:
        edges: Different edges, and the events that the model refuses in the replica states of the graph; after them
            those from constructed states.
        actions: Edges of the graph by action.
        states: States within the bounds.
        depth: Steps from a start to the farthest state.
        replica_states: Number of distinct replica states.
        seconds: Wall-clock time of the enumeration.
        constructed: Edges from constructed states by action.
        constructed_states: Number of constructed states.
        seconds_constructed: Part of `seconds` spent on the constructed states.
    """

    edges: tuple[Edge, ...]
    actions: Mapping[str, ActionEdges] = field(default_factory=dict)
    states: int = 0
    depth: int = 0
    replica_states: int = 0
    seconds: float = 0.0
    constructed: Mapping[str, ActionEdges] = field(default_factory=dict)
    constructed_states: int = 0
    seconds_constructed: float = 0.0

    @property
    def changing(self) -> int:
        """Number of edges of the graph that change a replica."""
        return sum(counted.changing for counted in self.actions.values())

    @property
    def refused(self) -> int:
        """Number of refused events: one for each replica state of the graph and event."""
        return sum(not edge.in_graph and not edge.constructed for edge in self.edges)


def count_constructed(edges: Iterable[Edge]) -> dict[str, ActionEdges]:
    """Count edges from constructed states by action, in alphabetical order."""
    counted: dict[str, ActionEdges] = {}
    for edge in edges:
        counts = counted.setdefault(edge.action, ActionEdges())
        if edge.refusal in NOT_ALLOWED:
            counts.refused += 1
            continue
        changing = edge.before != edge.after
        counts.changing += changing
        counts.unchanging += not changing
        counts.crashes += edge.completed != WHOLE
    return dict(sorted(counted.items()))
