"""Queries for an SMT solver, as files."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_traces.streams import atomic_file

OPTION = "--smt2"


def smt2_folder(text: str | None) -> Path | None:
    """Return the folder of `--smt2`; None without the option.

    Raises:
        CommandError: the text is empty, or names something that is no folder.
    """
    if text is None:
        return None
    if not text:
        raise usage_error(f"{OPTION}: '', expected a folder")
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise _cannot_write(folder, "a file, expected a folder, or a name for one")
    return folder


def refuse_other_questions(folder: Path, names: Iterable[str]) -> None:
    """Check that a folder has no other queries than `names`, which the run will write.

    Users pass all files of the folder to another solver, so it must not mix queries of two runs.

    Raises:
        CommandError: the folder has another query; the message names it.
    """
    expected = {f"{name}.smt2" for name in names}
    extra = sorted(file.name for file in folder.glob("*.smt2") if file.name not in expected)
    if extra:
        more = f" and {len(extra) - 1} more" if len(extra) > 1 else ""
        raise _cannot_write(
            folder, f"holds {extra[0]}{more}, which this run does not write; expected no .smt2 files of another run"
        )


def write_smt2(folder: Path, questions: Mapping[str, str]) -> None:
    """Write SMT-LIB 2 texts to `<name>.smt2`, creating the folder if needed.

    Raises:
        CommandError: the folder has other queries, or cannot be written.
    """
    refuse_other_questions(folder, questions)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in questions.items():
            with atomic_file(folder / f"{name}.smt2") as output:
                output.write(text.encode())
    except OSError as error:
        raise _cannot_write(folder, f"{error.strerror}, expected a folder") from error


def _cannot_write(folder: Path, problem: str) -> CommandError:
    return CommandError(f"{OPTION} {folder}: {problem}", ExitCode.CANNOT_WRITE)
