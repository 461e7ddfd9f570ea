"""One adapter seen as one that shows less: a lower observability, or no state injection."""

from typing import TypeVar

from msgspec import structs

from kraft_conformance.protocol.features import Level
from kraft_conformance.protocol.messages import Reply, Request, RestartReply, StepReply
from kraft_conformance.protocol.partitions import (
    PartitionStepReply,
    ShownStorePartitions,
    ShownStoreReassignPartitions,
)
from kraft_conformance.runner.session import Session
from kraft_traces.effects import TracedAnswer, TracedSend

_Reply = TypeVar("_Reply", bound=Reply)


class View(Session):
    """The session of an adapter as the runner would have it if the adapter said less in its hello, and showed less.

    It shares the process of the session that it is a view of, and does not end it.
    """

    def __init__(self, session: Session, observability: Level, *, injects: bool) -> None:
        self._whole = session
        self.hello = structs.replace(session.hello, observability=observability, state_injection=injects)

    def ask(self, wanted: type[_Reply], request: type[Request], **fields: object) -> _Reply:
        """As `Session.ask`; what the level does not show is left out of the reply."""
        reply = self._whole.ask(wanted, request, **fields)
        if self.hello.observability != "wire":
            return reply
        if isinstance(reply, StepReply | RestartReply):
            told = tuple([effect for effect in reply.effects if isinstance(effect, TracedSend | TracedAnswer)])
            return structs.replace(reply, effects=told)
        if isinstance(reply, PartitionStepReply):
            stored = ShownStorePartitions | ShownStoreReassignPartitions
            return structs.replace(
                reply, effects=tuple([effect for effect in reply.effects if not isinstance(effect, stored)])
            )
        return reply

    def end(self, *, politely: bool = True) -> None:
        """Leave the process to the session."""
