"""What a command cannot do, with the exit code it means."""

from kraft_conformance.exit_codes import ExitCode
from kraft_traces.errors import TraceError


class CommandError(Exception):
    """A command stops with a message for the user and an exit code."""

    def __init__(self, message: str, code: ExitCode) -> None:
        super().__init__(message)
        self.code = code


def usage_error(message: str) -> CommandError:
    """The command line asks for something that does not exist."""
    return CommandError(message, ExitCode.USAGE)


def trace_error_code(error: TraceError) -> ExitCode:
    """The exit code for a trace that cannot be read, or is malformed."""
    return ExitCode.NO_INPUT if error.code in ("UNREADABLE_FILE", "NO_TRACES") else ExitCode.BAD_INPUT
