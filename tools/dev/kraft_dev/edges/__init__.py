"""Every edge of the model's state graph, replayed on the Python reference; docs/checks.md says how."""

from kraft_dev.edges.edge import Edge
from kraft_dev.edges.graph import NETWORK_ACTIONS, NOT_ALLOWED, ActionEdges, EdgeGraph
from kraft_dev.edges.replay import Difference, DifferingEdge, EdgeReport, replay
from kraft_dev.edges.storing import EdgeFileError, load_edges, load_graph, save_edges, stored_graph

__all__ = [
    "NETWORK_ACTIONS",
    "NOT_ALLOWED",
    "ActionEdges",
    "Difference",
    "DifferingEdge",
    "Edge",
    "EdgeFileError",
    "EdgeGraph",
    "EdgeReport",
    "load_edges",
    "load_graph",
    "replay",
    "save_edges",
    "stored_graph",
]
