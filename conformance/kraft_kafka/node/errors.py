"""Errors about a file or a folder; the message names the file, the line, the field and the expectation."""

from pathlib import Path

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError


def bad_file(source: Path | str, line: int | None, field: str | None, detail: str) -> CommandError:
    """Return the error for a file with wrong contents; `line` counts from 1."""
    place = str(source) if line is None else f"{source}:{line}"
    return CommandError(f"{place}: {detail}" if field is None else f"{place}: {field}: {detail}", ExitCode.BAD_INPUT)


def no_file(source: Path | str, detail: str) -> CommandError:
    """Return the error for a file or folder that cannot be read."""
    return CommandError(f"{source}: {detail}", ExitCode.NO_INPUT)


def refused(message: str) -> CommandError:
    """Return the error for an operation that the folder's state does not allow; nothing was changed."""
    return CommandError(message, ExitCode.VIOLATION)


def read_text(source: Path) -> str:
    """Read a UTF-8 file.

    Raises:
        CommandError: the file cannot be read, or is not UTF-8.
    """
    try:
        return source.read_bytes().decode()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise bad_file(source, line, None, "not UTF-8 text") from error
    except OSError as error:
        raise no_file(source, error.strerror or str(error)) from error
