"""Child processes that run a module in their own Python, which may import edited copies of the packages."""

import subprocess
import sys
from collections.abc import Mapping

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError

_LAST_WORDS = 2000


class ChildError(CommandError):
    """A child process failed; the message is the end of its output."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.INTERNAL_ERROR)


class ChildTimeoutError(ChildError):
    """A child process exceeded its time limit and was ended."""


def child_command(module: str, *arguments: str) -> list[str]:
    """Return the command line that runs a module, with the working directory not on the import path."""
    return [sys.executable, "-P", "-m", module, *arguments]


def run_child(
    module: str,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    standard_input: str = "",
    seconds: float | None = None,
) -> str:
    """Run `python -m MODULE ARGUMENTS` to its end and return its standard output.

    Args:
        module: Dotted name.
        arguments: Command-line arguments.
        environment: Environment with the edited packages; None for that of this process.
        standard_input: Text for its standard input.
        seconds: Time limit.

    Raises:
        ChildTimeoutError: It took longer than `seconds`.
        ChildError: Its exit code was not 0, or it printed nothing.
    """
    try:
        ended = subprocess.run(
            child_command(module, *arguments),
            env=environment,
            input=standard_input,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as error:
        raise ChildTimeoutError(f"{module}: no end after {error.timeout:.0f} s") from error
    if ended.returncode != 0 or not ended.stdout.strip():
        raise ChildError(f"{module} ended with {ended.returncode}: {ended.stderr.strip()[-_LAST_WORDS:]}")
    return ended.stdout
