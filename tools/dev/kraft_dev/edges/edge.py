"""One edge of the model's state graph, as far as it is about one replica."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ModelRecord = Mapping[str, Any]
"""A record of the model in Python's own values: see `kraft_spec.mapping_forms`."""

WHOLE = -1
"""`Edge.completed` of a step that no crash cut off."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An event at a replica and what the model makes of it.

    Edges of the graph that differ in the rest of the cluster alone are one `Edge`.

    Attributes:
        configuration: The variable `config`.
        event: `[name, replica, ...]`: see `mapping.EVENTS`.
        before: The state of the replica.
        after: Its state after the step, or what a crash left of it.
        refusal: Why the replica took no notice; "" if it did.
        effects: Durable effects and sends in order, up to the crash if there was one: see `mapping.effect_to_model`.
        completed: How many effects happened before a crash; `WHOLE` if there was none.
        kept: The end of the log that the crash left; -1 if there was none.
        in_graph: Whether the step is an edge of the graph. If not, it is one from a constructed state, or the model
            says that the event is refused here.
        constructed: Whether `before` is a constructed state: see `kraft_dev.edges.constructed`.
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
        """An event that the model refuses in a state, which stays."""
        return cls(configuration, event, state, state, reason, (), in_graph=False, constructed=constructed)

    @property
    def action(self) -> str:
        """The name of the event, which is that of the model's action."""
        name: str = self.event["name"]
        return name

    def __str__(self) -> str:
        chosen = ", ".join(f"{name} {value}" for name, value in self.event.items() if name not in ("name", "replica"))
        crash = "" if self.completed == WHOLE else f", crash after {self.completed} effects, {self.kept} records kept"
        return f"{self.action} at replica {self.event['replica']}{', ' if chosen else ''}{chosen}{crash}"
