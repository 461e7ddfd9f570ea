"""What the enumeration of the model's state graph found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kraft_dev.edges.edge import WHOLE, Edge

NETWORK_ACTIONS = ("AnswerUnsupportedVersion", "DropMessage", "CutLink", "HealLink")
"""Actions of the model that are no event of a replica."""

NOT_ALLOWED = (
    "NOT_RUNNING",
    "RUNNING",
    "NOT_IN_ROLE",
    "NOTHING_DUE",
    "CHANGE_NOT_ALLOWED",
    "SNAPSHOT_OUT_OF_RANGE",
)
"""Why the model does not allow an event: `RefusalReason` in Observed.tla."""


@dataclass(slots=True)
class ActionEdges:
    """How many edges one action has, in the graph or from constructed states.

    Attributes:
        changing: Edges that change the replica.
        unchanging: Edges at a replica that stays as it is: it answers, or takes no notice for a reason of its own.
        crashes: Those of `changing` and `unchanging` that a crash cuts off in the middle.
        network: In the graph: edges that are no event of a replica.
        leaving: In the graph: those of all edges that lead to a state beyond the bounds, which is not explored.
        distinct: In the graph: different `Edge`s, which is what is replayed; from constructed states all are.
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
    """The complete state graph of the slice, as far as it is about replicas, and the edges from constructed states.

    Attributes:
        edges: Different edges, and the events that the model refuses in the replica states of the graph; after them
            those from constructed states.
        actions: Edges of the graph by action.
        states: States within the bounds.
        depth: Steps to the state that is farthest from a start.
        replica_states: Different states of a replica.
        seconds: Wall-clock time of the enumeration.
        constructed: Edges from constructed states by action.
        constructed_states: How many states were constructed.
        seconds_constructed: That part of `seconds` which the constructed states took.
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
        """Edges of the graph that change a replica."""
        return sum(counted.changing for counted in self.actions.values())

    @property
    def refused(self) -> int:
        """Events that the model refuses, one for each replica state of the graph and event."""
        return sum(not edge.in_graph and not edge.constructed for edge in self.edges)


def count_constructed(edges: Iterable[Edge]) -> dict[str, ActionEdges]:
    """Count edges from constructed states by action, in alphabetical order."""
    counted: dict[str, ActionEdges] = {}
    for edge in edges:
        one = counted.setdefault(edge.action, ActionEdges())
        if edge.refusal in NOT_ALLOWED:
            one.refused += 1
            continue
        changing = edge.before != edge.after
        one.changing += changing
        one.unchanging += not changing
        one.crashes += edge.completed != WHOLE
    return dict(sorted(counted.items()))
