"""Who plays a replica: an adapter in a process, an adapter in this process, or the reference itself."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from kraft_conformance.protocol.messages import SCHEMA, Hello, HelloReply, Reply, Request, Software
from kraft_conformance.runner.faults import Died, OtherVersion, Unable
from kraft_conformance.runner.session import Adapter, Session, fitting

REFERENCE = "reference"
"""The word for the built-in reference in place of a command."""

_Reply = TypeVar("_Reply", bound=Reply)


class Answers(Protocol):
    """An adapter as an object: `ReferenceAdapter`, or one like it."""

    def answer(self, request: Request) -> Reply:
        """Carry out a request."""


@dataclass(frozen=True, slots=True)
class Command:
    """An adapter in a process of its own."""

    line: str
    """Its command line; split as a shell does, and run without one."""

    def __str__(self) -> str:
        return self.line

    def opened(self, reply_timeout_s: float) -> Adapter:
        """Start it and say hello.

        Raises:
            AdapterFault: it cannot be started, or does not say hello as it should.
        """
        return Session(self.line, reply_timeout_s)


@dataclass(frozen=True, slots=True)
class InProcess:
    """An adapter that is an object of this process: no line is written, no time is measured."""

    make: Callable[[], Answers]
    name: str = "in process"

    def __str__(self) -> str:
        return self.name

    def opened(self, reply_timeout_s: float) -> Adapter:
        """Make one and say hello.

        Raises:
            AdapterFault: it does not say hello as it should.
        """
        return LocalSession(self.make())


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference itself, which nothing is asked of."""

    def __str__(self) -> str:
        return REFERENCE


Seat = Command | InProcess | Reference
"""Where a replica of a random run is: behind a command, in this process, or with the reference."""


def seat_of(word: str) -> Seat:
    """The seat that a command line names: `reference`, or the command of an adapter."""
    return Reference() if word.strip() == REFERENCE else Command(word)


class LocalSession:
    """The protocol with an object."""

    def __init__(self, adapter: Answers) -> None:
        """Greet it.

        Raises:
            AdapterFault: it speaks another version, or does not answer.
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
            AdapterFault: there is none, or another one.
        """
        self._number += 1
        try:
            reply = self._adapter.answer(request(id=self._number, **fields))
        except (ValueError, KeyError) as error:
            raise Unable(str(error)) from error
        except Exception as error:
            raise Died(f"it raised {type(error).__name__}: {error}") from error
        return fitting(reply, request, wanted, self._unobserved)

    def end(self, *, politely: bool = True) -> None:
        """There is nothing to leave behind."""
