"""Faults of an adapter as a program, one class for each."""

from typing import ClassVar


class AdapterFault(Exception):  # noqa: N818 - a fault of the program under test, not an error of this one
    """The adapter violated the protocol; its process is ended.

    Attributes:
        kind: stable name, for programs.
        detail: what happened and what was expected.
        stderr: the end of its standard error.
        step: step of the vector, from 1; 0 before the first; None outside of vectors.
        event: event of the step.
        where: step and event in words.
        rules: rules of the event, first those that the vector is about.
    """

    kind: ClassVar[str] = "fault"

    def __init__(self, detail: str, stderr: str = "") -> None:
        super().__init__(detail, stderr)
        self.detail = detail
        self.stderr = stderr
        self.step: int | None = None
        self.event: str | None = None
        self.where = ""
        self.rules: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.where}: {self.detail}" if self.where else self.detail


class CannotStart(AdapterFault):
    """The operating system cannot start the command."""

    kind = "cannot-start"


class Hang(AdapterFault):
    """No complete reply before the timeout."""

    kind = "hang"


class Died(AdapterFault):
    """The process ended or closed its standard output instead of replying."""

    kind = "died"


class OversizedReply(AdapterFault):
    """A line longer than the limit."""

    kind = "oversized"


class MalformedReply(AdapterFault):
    """A line of JSON that is not a reply to this request."""

    kind = "malformed"


class StrayOutput(AdapterFault):
    """Output that is not a JSON object, or without a request."""

    kind = "stray-output"


class OtherVersion(AdapterFault):
    """The adapter speaks another version of the protocol."""

    kind = "other-version"


class UnknownProfile(AdapterFault):
    """The adapter names a profile that does not exist."""

    kind = "unknown-profile"


class WrongState(AdapterFault):
    """The replica is not in the injected state."""

    kind = "wrong-state"


class Unable(AdapterFault):
    """The adapter replies with an error."""

    kind = "failed"


class Unsupported(AdapterFault):
    """The adapter replies that it does not support the request."""

    kind = "unsupported"
