"""Replay of every edge of the model's state graph on the Python reference; described in docs/checks.md."""

from kraft_dev.edges.edge import Edge
from kraft_dev.edges.graph import NETWORK_ACTIONS, NOT_ALLOWED, ActionEdges, EdgeGraph
from kraft_dev.edges.replay import EdgeReport, replay
from kraft_dev.edges.storing import EdgeFileError, load_edges, save_edges, stored_graph

__all__ = [
    "NETWORK_ACTIONS",
    "NOT_ALLOWED",
    "ActionEdges",
    "Edge",
    "EdgeFileError",
    "EdgeGraph",
    "EdgeReport",
    "load_edges",
    "replay",
    "save_edges",
    "stored_graph",
]
