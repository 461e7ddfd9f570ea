"""An edge of the model's state graph, restricted to one replica."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ModelRecord = Mapping[str, Any]
"""A record of the model as Python values: see `kraft_spec.mapping_forms`."""

WHOLE = -1
"""`Edge.completed` of a step without a crash."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An event at a replica and its outcome in the model.

    Edges of the graph that differ only in the rest of the cluster are one `Edge`.

    Attributes:
        configuration: The variable `config`.
        event: `[name, replica, ...]`: see `mapping.EVENTS`.
        before: The state of the replica.
        after: Its state after the step, or after the crash.
        refusal: Reason why the replica ignored the event; "" if it did not.
        effects: Durable effects and sends in order, up to the crash if there was one: see `mapping.effect_to_model`.
        completed: Number of effects before a crash; `WHOLE` if there was none.
        kept: The log end offset after the crash; -1 if there was none.
        in_graph: True if the step is an edge of the graph. If not, it is one from a constructed state, or the model
            says that the event is refused here.
        constructed: True if `before` is a constructed state: see `kraft_dev.edges.constructed`.
    """

    configuration: ModelRecord
    event: ModelRecord
    before: ModelRecord
    after: ModelRecord
    refusal: str
    effects: tuple[ModelRecord, ...]
    completed: int = WHOLE
    kept: int = -1
    in_graph: bool = True
    constructed: bool = False

    @classmethod
    def refused(
        cls,
        configuration: ModelRecord,
        event: ModelRecord,
        state: ModelRecord,
        reason: str,
        *,
        constructed: bool = False,
    ) -> "Edge":
        """Return an edge for an event that the model refuses, which leaves the state unchanged."""
        return cls(configuration, event, state, state, reason, (), in_graph=False, constructed=constructed)

    @property
    def action(self) -> str:
        """Name of the event, which is that of the model's action."""
        name: str = self.event["name"]
        return name

    def __str__(self) -> str:
        chosen = ", ".join(f"{name} {value}" for name, value in self.event.items() if name not in ("name", "replica"))
        crash = "" if self.completed == WHOLE else f", crash after {self.completed} effects, {self.kept} records kept"
        return f"{self.action} at replica {self.event['replica']}{', ' if chosen else ''}{chosen}{crash}"
