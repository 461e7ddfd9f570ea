"""What a command cannot do, with the exit code it means."""

from importlib.util import find_spec

from kraft_conformance.exit_codes import ExitCode
from kraft_traces.errors import TraceError

EXTRAS = {
    "conformance": ("crc32c", "jinja2", "junitparser", "kio"),
    "pipeline": ("deltalake", "jinja2", "pyarrow", "pyspark"),
    "proofs": ("z3",),
}
"""The libraries that the main install has not, by the extra that brings them."""


class CommandError(Exception):
    """A command stops with a message for the user and an exit code."""

    def __init__(self, message: str, code: ExitCode) -> None:
        super().__init__(message)
        self.code = code


class UnavailableError(CommandError):
    """Something that a command needs is not there."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.UNAVAILABLE)


def usage_error(message: str) -> CommandError:
    """The command line asks for something that does not exist."""
    return CommandError(message, ExitCode.USAGE)


def trace_error_code(error: TraceError) -> ExitCode:
    """The exit code for a trace that cannot be read, or is malformed."""
    return ExitCode.NO_INPUT if error.code in ("UNREADABLE_FILE", "NO_TRACES") else ExitCode.BAD_INPUT


def need(what: str, extra: str, *libraries: str) -> None:
    """Return if these libraries of an extra are installed, or all of it, which `what` needs.

    Raises:
        CommandError: one of them is not.
    """
    for library in libraries or EXTRAS[extra]:
        if find_spec(library) is None:
            raise library_missing(what, library, extra)


def library_missing(what: str, library: str, extra: str) -> CommandError:
    """`what` needs a library of an extra that is not installed."""
    return UnavailableError(f"{what} needs the package {library}: pip install 'kraft-spec[{extra}]'")
