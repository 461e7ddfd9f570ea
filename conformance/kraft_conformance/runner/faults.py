"""What an adapter can do wrong as a program: one class for each, with a message that says what was seen."""

from typing import ClassVar


class AdapterFault(Exception):  # noqa: N818 - a fault of the program under test, not an error of this one
    """The adapter did not answer as the protocol says; its process is ended.

    Attributes:
        kind: stable name, for programs.
        detail: what was seen and what was expected.
        stderr: the end of what it wrote to standard error.
        step: of the vector, from 1; 0 before the first; None if no vector was asked.
        event: what was asked for then.
        where: both in words.
        rules: those of the vector that speak of the event, the vector's others after them.
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
    """The operating system does not start the command."""

    kind = "cannot-start"


class Hang(AdapterFault):
    """No whole reply in the time allowed."""

    kind = "hang"


class Died(AdapterFault):
    """The process ended, or closed its standard output, where a reply was due."""

    kind = "died"


class OversizedReply(AdapterFault):
    """A line that is longer than the limit."""

    kind = "oversized"


class MalformedReply(AdapterFault):
    """A line of JSON that is no reply, or not the reply to this request."""

    kind = "malformed"


class StrayOutput(AdapterFault):
    """Something on standard output that is no JSON object, or that no request asked for."""

    kind = "stray-output"


class OtherVersion(AdapterFault):
    """The adapter speaks another version of the protocol."""

    kind = "other-version"


class UnknownProfile(AdapterFault):
    """The adapter names a profile that there is not."""

    kind = "unknown-profile"


class WrongState(AdapterFault):
    """The replica is not in the state that was to be put in place."""

    kind = "wrong-state"


class Unable(AdapterFault):
    """The adapter answers with an error of its own."""

    kind = "failed"


class Unsupported(AdapterFault):
    """The adapter answers that it does not support what was asked."""

    kind = "unsupported"
