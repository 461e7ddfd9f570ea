"""Questions for a solver, as files."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_traces.streams import whole_file

OPTION = "--smt2"


def smt2_folder(text: str | None) -> Path | None:
    """The folder that `--smt2` names; None without the option.

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
    """See that a folder has no questions but those of `names`, which a run is going to write.

    Whoever asks another solver asks about all files of the folder, so questions of another run would be taken for
    questions of this one.

    Raises:
        CommandError: it has one; the message names it.
    """
    expected = {f"{name}.smt2" for name in names}
    others = sorted(file.name for file in folder.glob("*.smt2") if file.name not in expected)
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        raise _cannot_write(
            folder, f"holds {others[0]}{more}, which this run does not write; expected no .smt2 files of another run"
        )


def write_smt2(folder: Path, questions: Mapping[str, str]) -> None:
    """Write SMT-LIB 2 texts to `<name>.smt2`; the folder is made if it is not there.

    Raises:
        CommandError: the folder has other questions, or the operating system refuses.
    """
    refuse_other_questions(folder, questions)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in questions.items():
            with whole_file(folder / f"{name}.smt2") as output:
                output.write(text.encode())
    except OSError as error:
        raise _cannot_write(folder, f"{error.strerror}, expected a folder") from error


def _cannot_write(folder: Path, what: str) -> CommandError:
    return CommandError(f"{OPTION} {folder}: {what}", ExitCode.CANNOT_WRITE)
