"""Child processes: a module in a Python of its own, which may import edited copies of the packages."""

import subprocess
import sys
from collections.abc import Mapping

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError

_LAST_WORDS = 2000


class ChildError(CommandError):
    """A child process failed; the message is its last words."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.INTERNAL_ERROR)


class ChildTimeoutError(ChildError):
    """A child process was ended because it took too long."""


def child_command(module: str, *arguments: str) -> list[str]:
    """The command line that runs a module; what happens to be in the working directory is not found by it."""
    return [sys.executable, "-P", "-m", module, *arguments]


def run_child(
    module: str,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    standard_input: str = "",
    seconds: float | None = None,
) -> str:
    """Run `python -m MODULE ARGUMENTS` to its end; returns its standard output.

    Args:
        module: Dotted name.
        arguments: Of its command line.
        environment: With edited packages; None for this process's.
        standard_input: What it reads.
        seconds: Limit.

    Raises:
        ChildTimeoutError: It took longer than `seconds`.
        ChildError: It ended with another code than 0, or said nothing.
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
