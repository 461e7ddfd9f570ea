"""What a command cannot do, with the exit code it means."""

from kraft_conformance.exit_codes import ExitCode


class CommandError(Exception):
    """A command stops with a message for the user and an exit code."""

    def __init__(self, message: str, code: ExitCode) -> None:
        super().__init__(message)
        self.code = code


def usage_error(message: str) -> CommandError:
    """The command line asks for something that does not exist."""
    return CommandError(message, ExitCode.USAGE)
