"""Programs that run a replica: an adapter in a process, an adapter in this process, or the reference."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from kraft_conformance.protocol.messages import SCHEMA, Hello, HelloReply, Reply, Request, Software
from kraft_conformance.runner.faults import Died, OtherVersion, Unable
from kraft_conformance.runner.session import Adapter, Session, check_reply

REFERENCE = "reference"
"""Word for the reference instead of a command."""

_Reply = TypeVar("_Reply", bound=Reply)


class Answers(Protocol):
    """An adapter as an object, such as `ReferenceAdapter`."""

    def answer(self, request: Request) -> Reply:
        """Handle a request."""


@dataclass(frozen=True, slots=True)
class Command:
    """An adapter in its own process."""

    line: str
    """Command line; it is split as a shell does, and run without one."""

    def __str__(self) -> str:
        return self.line

    def opened(self, reply_timeout_s: float) -> Adapter:
        """Start the adapter and send hello.

        Raises:
            AdapterFault: it cannot be started, or its hello is wrong.
        """
        return Session(self.line, reply_timeout_s)


@dataclass(frozen=True, slots=True)
class InProcess:
    """An adapter as an object in this process, without lines and timeouts."""

    make: Callable[[], Answers]
    name: str = "in process"

    def __str__(self) -> str:
        return self.name

    def opened(self, reply_timeout_s: float) -> Adapter:
        """Make the adapter and send hello.

        Raises:
            AdapterFault: its hello is wrong.
        """
        return LocalSession(self.make())


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference, without an adapter."""

    def __str__(self) -> str:
        return REFERENCE


Seat = Command | InProcess | Reference
"""Program that runs a replica."""


def seat_of(word: str) -> Seat:
    """Return the seat of a command line: `reference`, or the command of an adapter."""
    return Reference() if word.strip() == REFERENCE else Command(word)


class LocalSession:
    """Protocol session with an object."""

    def __init__(self, adapter: Answers) -> None:
        """Send hello.

        Raises:
            AdapterFault: the adapter has another version, or does not reply.
        """
        self._adapter = adapter
        self._number = 0
        self._unobserved: frozenset[str] = frozenset()
        self.hello = self.ask(HelloReply, Hello, schema=SCHEMA, runner=Software("kraft-spec", ""))
        if self.hello.schema != SCHEMA:
            raise OtherVersion(f"the adapter speaks {self.hello.schema}, this program {SCHEMA}")
        self._unobserved = frozenset(self.hello.unobserved)

    def ask(self, wanted: type[_Reply], request: type[Request], **fields: Any) -> _Reply:
        """Send a request and return its reply.

        Raises:
            AdapterFault: there is no reply, or one of another type.
        """
        self._number += 1
        try:
            reply = self._adapter.answer(request(id=self._number, **fields))
        except (ValueError, KeyError) as error:
            raise Unable(str(error)) from error
        except Exception as error:
            raise Died(f"it raised {type(error).__name__}: {error}") from error
        return check_reply(reply, request, wanted, self._unobserved)

    def end(self, *, politely: bool = True) -> None:
        """Do nothing: there is no process."""
