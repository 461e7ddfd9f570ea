"""Observable parts of an adapter, by its hello."""

from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.protocol.unobserved import is_write, names_of
from kraft_traces.effects import TracedAnswer, TracedEffect, TracedSend


class Visibility:
    """Observability of a replica."""

    def __init__(self, hello: HelloReply) -> None:
        self.hello = hello
        self.sees_state = hello.observability == "state"
        self.sees_writes = hello.observability != "wire"
        self.sees_syncs = self.sees_writes and "FlushLog" not in hello.unobserved
        self.sees_all_writes = self.sees_writes and not any(map(is_write, hello.unobserved))
        """True for all writes of the model, which has no timers."""

    def limits(self) -> tuple[str, ...]:
        """Return the hidden parts in words."""
        hidden = [name for name in self.hello.unobserved if not name.startswith("StartTimer")]
        writes = "".join([f"{name}, " for name in (hidden if self.sees_writes else ["writes", *hidden])])
        if self.sees_state:
            return (f"not shown: {writes.removesuffix(', ')}",) if writes else ()
        return (f"observability {self.hello.observability}: {writes}state and refusals are the reference's",)

    def shows(self, effect: TracedEffect) -> bool:
        """True if such effects are shown."""
        if isinstance(effect, TracedSend | TracedAnswer):
            return True
        return self.sees_writes and not {*names_of(effect)} & {*self.hello.unobserved}
