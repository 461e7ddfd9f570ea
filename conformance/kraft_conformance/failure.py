"""Errors that end a command, with their exit codes."""

from importlib.util import find_spec

from kraft_conformance.exit_codes import ExitCode
from kraft_traces.errors import TraceError

EXTRAS = {
    "conformance": ("crc32c", "jinja2", "junitparser", "kio"),
    "pipeline": ("deltalake", "jinja2", "pyarrow", "pyspark"),
    "proofs": ("z3",),
}
"""Libraries that the main install lacks, by the extra that installs them."""


class CommandError(Exception):
    """Error that ends a command with a message for the user and an exit code."""

    def __init__(self, message: str, code: ExitCode) -> None:
        super().__init__(message)
        self.code = code


class UnavailableError(CommandError):
    """Error for a missing program, library or file that a command needs."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.UNAVAILABLE)


def usage_error(message: str) -> CommandError:
    """Return the error for a command line that names something that does not exist."""
    return CommandError(message, ExitCode.USAGE)


def trace_error_code(error: TraceError) -> ExitCode:
    """Return the exit code for a trace that cannot be read, or is malformed."""
    return ExitCode.NO_INPUT if error.code in ("UNREADABLE_FILE", "NO_TRACES") else ExitCode.BAD_INPUT


def need(what: str, extra: str, *libraries: str) -> None:
    """Check that these libraries of an extra are installed; all of the extra if none is named.

    Raises:
        CommandError: a library is missing; the message says that `what` needs it.
    """
    for library in libraries or EXTRAS[extra]:
        if find_spec(library) is None:
            raise library_missing(what, library, extra)


def library_missing(what: str, library: str, extra: str) -> CommandError:
    """Return the error that `what` needs a library, with the extra that installs it."""
    return UnavailableError(f"{what} needs the package {library}: pip install 'kraft-spec[{extra}]'")
