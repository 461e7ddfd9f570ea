"""Questions for a solver, as files."""

from collections.abc import Mapping
from pathlib import Path

from kraft_traces.streams import whole_file


def write_smt2(folder: Path, questions: Mapping[str, str]) -> tuple[Path, ...]:
    """Write SMT-LIB 2 texts to `<name>.smt2`; the folder is made if it is not there.

    Raises:
        OSError: the operating system refuses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = tuple(folder / f"{name}.smt2" for name in questions)
    for file, text in zip(files, questions.values(), strict=True):
        with whole_file(file) as output:
            output.write(text.encode())
    return files
