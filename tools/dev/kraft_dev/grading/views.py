"""One adapter seen as one that shows less: a lower observability, or no state injection."""

from typing import TypeVar

from kraft_conformance.protocol.features import Level
from kraft_conformance.protocol.messages import Reply, Request
from kraft_conformance.runner.session import Session
from kraft_dev.grading.showing import at_level

_Reply = TypeVar("_Reply", bound=Reply)


class View(Session):
    """The session of an adapter as the runner would have it if the adapter said less in its hello, and showed less.

    It shares the process of the session that it is a view of, and does not end it.
    """

    def __init__(self, session: Session, observability: Level, *, injects: bool) -> None:
        self._whole = session
        self.hello = at_level(session.hello, observability, injects=injects)

    def ask(self, wanted: type[_Reply], request: type[Request], **fields: object) -> _Reply:
        """As `Session.ask`; what the level does not show is left out of the reply."""
        reply = self._whole.ask(wanted, request, **fields)
        return at_level(reply, self.hello.observability, injects=self.hello.state_injection)

    def end(self, *, politely: bool = True) -> None:
        """Leave the process to the session."""
