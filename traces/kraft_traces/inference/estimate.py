"""What a message costs at least that a replica has still to send: what is tried first hangs on it."""

from collections.abc import Callable
from math import inf
from typing import Any

from kraft_traces.inference.costs import LIKELY_RESTART, RESTART, TIMER
from kraft_traces.inference.nodes import Node
from kraft_traces.inference.reaching import Reaching
from kraft_traces.inference.replica import ReplicaModel
from kraft_traces.inference.sightings import FETCHES, Sighting

_ROLES = {"BeginQuorumEpochRequest": "Leader", "EndQuorumEpochRequest": "Resigned"}
"""Who sends what, and votes besides."""
_ON_THE_WAY = {"Leader": ("Candidate", "Prospective"), "Candidate": ("Prospective",)}
"""Roles that others pass on to as votes come in."""
_DONE = {
    "Leader": ("acknowledged",),
    "Resigned": ("acknowledged",),
    "Prospective": ("granted", "rejected"),
    "Candidate": ("granted", "rejected"),
}
"""Whom a role asks no more, until a timer fires."""


class Estimate:
    """Of one message."""

    def __init__(self, replica: ReplicaModel, target: Sighting, reaching: Reaching, *, thorough: bool) -> None:
        """`thorough` as in `Moves`."""
        self._replica = replica
        self._target = target
        self._reaching = reaching
        self._restart = LIKELY_RESTART if thorough else RESTART
        self._role = _ROLES.get(target.type)
        if target.type == "VoteRequest":
            self._role = "Prospective" if target.message.pre_vote else "Candidate"

    def of(self, node: Node) -> float:
        """What hidden events cost at least that must come before it; infinite if there are none.

        Rules: an epoch never gets smaller, and every message has the epoch of its sender.
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
        """Only an answer, or a restart, changes the length of a log from which nobody leads."""
        offset = getattr(self._target.message, "fetch_offset", None)
        if node.responses or not isinstance(offset, int) or offset == self._replica.length(node.state):
            return 0.0
        return 0.0 if self._replica.field(node.state, "role") == "Leader" else self._restart
