"""Lower bound of the cost of a message that a replica has still to send, which orders the search."""

from collections.abc import Callable
from math import inf
from typing import Any

from kraft_traces.inference.captured import FETCHES, CapturedMessage
from kraft_traces.inference.costs import LIKELY_RESTART, RESTART, TIMER
from kraft_traces.inference.nodes import Node
from kraft_traces.inference.reaching import Reaching
from kraft_traces.inference.replica import ReplicaModel

_ROLES = {"BeginQuorumEpochRequest": "Leader", "EndQuorumEpochRequest": "Resigned"}
"""Role that sends a request; Vote requests are handled separately."""
_ON_THE_WAY = {"Leader": ("Candidate", "Prospective"), "Candidate": ("Prospective",)}
"""Roles from which a role is reached by votes alone."""
_DONE = {
    "Leader": ("acknowledging_voters",),
    "Resigned": ("acknowledging_voters",),
    "Prospective": ("granted", "rejected"),
    "Candidate": ("granted", "rejected"),
}
"""Fields of replicas that get no other request from a role until a timer fires."""


class Estimate:
    """Lower bound of the cost of one message."""

    def __init__(self, replica: ReplicaModel, target: CapturedMessage, reaching: Reaching, *, thorough: bool) -> None:
        """`thorough` is as for `HiddenEvents`."""
        self._replica = replica
        self._target = target
        self._reaching = reaching
        self._restart = LIKELY_RESTART if thorough else RESTART
        self._role = _ROLES.get(target.type)
        if target.type == "VoteRequest":
            self._role = "Prospective" if target.message.pre_vote else "Candidate"

    def of(self, node: Node) -> float:
        """Return the minimum cost of the hidden events before the message; infinite if none can lead to it.

        An epoch never decreases, and every message has the epoch of its sender.
        """
        if self._reaching.unseen(node) is not None:
            return 0.0
        field: Callable[[str], Any] = lambda name: self._replica.field(node.state, name)  # noqa: E731
        epoch = getattr(self._target.message, "epoch", None)
        if isinstance(epoch, int) and epoch < field("epoch"):
            return inf
        if self._target.type in FETCHES:
            return self._of_fetch(node)
        if self._role is None:
            return 0.0
        role = field("role")
        if role in (*_ON_THE_WAY.get(self._role, ()), "Stopped"):
            return 0.0
        is_due = role == self._role and all(self._target.destination not in field(name) for name in _DONE[role])
        return 0.0 if is_due and epoch == field("epoch") else TIMER

    def _of_fetch(self, node: Node) -> float:
        """Return the bound for a Fetch: only a response or a restart changes the log end offset of a non-leader."""
        offset = getattr(self._target.message, "fetch_offset", None)
        if node.responses or not isinstance(offset, int) or offset == self._replica.length(node.state):
            return 0.0
        return 0.0 if self._replica.field(node.state, "role") == "Leader" else self._restart
