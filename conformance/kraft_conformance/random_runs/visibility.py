"""What an adapter shows at all, by its hello, and what it showed of one step."""

from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from kraft_conformance.protocol.messages import HelloReply
from kraft_reference.outcome import Refusal
from kraft_traces.effects import TracedEffect
from kraft_traces.state_types import TracedState


@dataclass(frozen=True, slots=True)
class Shown:
    """What is seen of a step: of an adapter's reply, or for the line of a trace."""

    effects: tuple[TracedEffect, ...] | UnsetType = UNSET
    refusal: Refusal | UnsetType | None = UNSET
    state: TracedState | UnsetType = UNSET


class Visibility:
    """How much of a replica can be seen."""

    def __init__(self, hello: HelloReply) -> None:
        self.hello = hello
        self.sees_state = hello.observability == "state"
        self.sees_writes = hello.observability != "wire"
        self.sees_syncs = self.sees_writes and "FlushLog" not in hello.unobserved
        self.sees_all_writes = self.sees_writes and set(hello.unobserved) <= {"StartTimer"}
        """All that the model has; timers are none of it."""

    def limits(self) -> tuple[str, ...]:
        """What cannot be seen, in words."""
        hidden = () if self.sees_all_writes else self.hello.unobserved
        writes = "writes, " if not self.sees_writes else f"{', '.join(hidden)}, " if hidden else ""
        if self.sees_state:
            return (f"seen without {writes.removesuffix(', ')}",) if writes else ()
        return (f"seen at the level {self.hello.observability}: {writes}state and refusals are the reference's",)

    def shows(self, kind: str) -> bool:
        """Are effects of this kind shown?"""
        if kind in ("Send", "Answer"):
            return True
        return self.sees_writes and kind not in self.hello.unobserved
