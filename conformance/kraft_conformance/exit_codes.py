"""Exit codes of `kraft-spec`."""

import sys
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit code of a command."""

    CONFORMANT = 0
    """Everything that was checked holds."""
    VIOLATION = 1
    """A trace is rejected, a property is violated, a scenario fails, a model check finds a counterexample."""
    INCONCLUSIVE = 2
    """No violation, but something was not observed: a trace or a model check that stops early."""
    INTERNAL_ERROR = 3
    """A defect of kraft-spec itself."""
    NOTHING_JUDGED = 4
    """No violation, but no vector and no random run reached a verdict either."""
    USAGE = 64
    """The command line is wrong."""
    BAD_INPUT = 65
    """A trace file is malformed; the message names file, line and field."""
    NO_INPUT = 66
    """A file or folder cannot be read."""
    UNAVAILABLE = 69
    """Something that the command needs is missing, such as Java."""
    CANNOT_WRITE = 73
    """The output cannot be written."""
    INTERRUPTED = 130
    """Ctrl-C."""


def interrupted() -> ExitCode:
    """Print that Ctrl-C ended the command, and return its exit code."""
    print("interrupted: no result", file=sys.stderr)
    return ExitCode.INTERRUPTED
