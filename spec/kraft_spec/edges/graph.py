"""What the enumeration of the model's state graph found."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kraft_spec.edges.edge import Edge

NETWORK_ACTIONS = ("AnswerUnsupportedVersion", "DropMessage", "CutLink", "HealLink")
"""Actions of the model that are no event of a replica."""


@dataclass(slots=True)
class ActionEdges:
    """How many edges of the graph one action has.

    Attributes:
        changing: Edges that change the replica.
        unchanging: Edges at a replica that stays as it is: it answers, or takes no notice.
        network: Edges that are no event of a replica.
        crashes: Those of `changing` and `unchanging` that a crash cuts off in the middle.
        leaving: Those of all edges that lead to a state beyond the bounds, which is not explored.
        distinct: Different `Edge`s, which is what is replayed.
    """

    changing: int = 0
    unchanging: int = 0
    network: int = 0
    crashes: int = 0
    leaving: int = 0
    distinct: int = 0


@dataclass(frozen=True, slots=True)
class EdgeGraph:
    """The complete state graph of the slice, as far as it is about replicas.

    Attributes:
        edges: Different edges, and the events that the model refuses in the replica states of the graph.
        actions: Edges of the graph by action.
        states: States within the bounds.
        depth: Steps to the state that is farthest from a start.
        replica_states: Different states of a replica.
        seconds: Wall-clock time of the enumeration.
    """

    edges: tuple[Edge, ...]
    actions: Mapping[str, ActionEdges] = field(default_factory=dict)
    states: int = 0
    depth: int = 0
    replica_states: int = 0
    seconds: float = 0.0

    @property
    def changing(self) -> int:
        """Edges of the graph that change a replica."""
        return sum(counted.changing for counted in self.actions.values())

    @property
    def refused(self) -> int:
        """Events that the model refuses, one for each replica state and event."""
        return sum(not edge.in_graph for edge in self.edges)
