"""Protocol session with an adapter: numbered requests and their replies."""

import contextlib
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Protocol, TypeVar

from kraft_conformance.protocol.messages import (
    REPLIES,
    SCHEMA,
    Bye,
    ErrorReply,
    Hello,
    HelloReply,
    Observe,
    Reply,
    Request,
    Software,
)
from kraft_conformance.protocol.parsing import encode, parse_reply
from kraft_conformance.protocol.unobserved import hide_unobserved
from kraft_conformance.runner.faults import AdapterFault, MalformedReply, OtherVersion, StrayOutput, Unable, Unsupported
from kraft_conformance.runner.plain import tag_of
from kraft_conformance.runner.process import AdapterProcess
from kraft_traces.errors import InvalidUtf8Error, MalformedJsonError, TraceError

Watch = Callable[[str, bytes], None]
"""Receives each line: its direction, `>` or `<`, and its bytes."""

_Reply = TypeVar("_Reply", bound=Reply)


class Adapter(Protocol):
    """An adapter that has replied to hello, in a process or not."""

    hello: HelloReply

    def ask(self, wanted: type[_Reply], request: type[Request], **fields: Any) -> _Reply:
        """Send a request and return its reply, or raise an `AdapterFault`."""

    def end(self, *, politely: bool = True) -> None:
        """End the session and its process."""


def check_reply(
    reply: Reply,
    request: type[Request],
    wanted: type[_Reply],
    unobserved: frozenset[str] = frozenset(),
    stderr: str = "",
) -> _Reply:
    """Return the reply without the `unobserved` parts, after checking that it fits the request.

    Raises:
        AdapterFault: it is an error, or a reply of another type.
    """
    if isinstance(reply, ErrorReply):
        if request is Observe and reply.code == "unsupported":
            detail = f"its hello has observability state, but it rejects observe: {reply.detail}"
            raise MalformedReply(detail, stderr)
        raise (Unsupported if reply.code == "unsupported" else Unable)(reply.detail, stderr)
    if not isinstance(reply, REPLIES[request]) or not isinstance(reply, wanted):
        actual, expected = tag_of(reply), REPLIES[request].__struct_config__.tag
        raise MalformedReply(f"a reply of type {actual}, expected {expected}", stderr)
    return hide_unobserved(reply, unobserved)


class Session:
    """Session with an adapter in a process.  As a context manager it ends the process."""

    def __init__(self, command: str, reply_timeout_s: float, watch: Watch | None = None) -> None:
        """Start the adapter and send hello.

        Raises:
            AdapterFault: it cannot be started, has another version, or does not reply.
        """
        self.vectors = 0
        """Number of vectors that it has run."""
        self._process = AdapterProcess(command, reply_timeout_s)
        self._number = 0
        self._watch = watch
        self._unobserved: frozenset[str] = frozenset()
        try:
            self.hello = self._greet()
            self._unobserved = frozenset(self.hello.unobserved)
        except BaseException:
            self._process.end()
            raise

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _greet(self) -> HelloReply:
        us = Software("kraft-spec", version("kraft-spec"))
        hello = self.ask(HelloReply, Hello, schema=SCHEMA, runner=us)
        if hello.schema != SCHEMA:
            raise OtherVersion(f"the adapter speaks {hello.schema}, this program {SCHEMA}", self._process.stderr)
        return hello

    @property
    def stderr(self) -> str:
        """End of the adapter's standard error."""
        return self._process.stderr

    def ask(self, wanted: type[_Reply], request: type[Request], **fields: Any) -> _Reply:
        """Send a request and return its reply.

        Raises:
            AdapterFault: there is no reply, or one of another type.
        """
        self._number += 1
        line = encode(request(id=self._number, **fields))
        if self._watch is not None:
            self._watch(">", line)
        raw = self._process.exchange(line)
        if self._watch is not None:
            self._watch("<", raw)
        reply = self._parsed(raw)
        if reply.id != self._number:
            detail = f"the reply has id {reply.id}, expected {self._number}"
            raise MalformedReply(detail, self._process.stderr)
        return check_reply(reply, request, wanted, self._unobserved, self._process.stderr)

    def _parsed(self, raw: bytes) -> Reply:
        try:
            return parse_reply(raw, self._number)
        except (MalformedJsonError, InvalidUtf8Error) as error:
            # A broken reply begins with a brace; any other line comes from some other output, such as a log.
            if raw.lstrip().startswith(b"{"):
                raise MalformedReply(str(error), self._process.stderr) from error
            beginning = raw[:120].decode("utf-8", "replace").rstrip()
            raise StrayOutput(
                f"a line on standard output is not a reply: {beginning!r}", self._process.stderr
            ) from error
        except TraceError as error:
            raise MalformedReply(str(error), self._process.stderr) from error

    def end(self, *, politely: bool = True) -> None:
        """Send bye if `politely`, and end the process; faults are ignored."""
        if politely:
            with contextlib.suppress(AdapterFault):
                self.ask(REPLIES[Bye], Bye)
        self._process.end()
