"""Process in which one tool runs on one mutant: `python -m kraft_dev.mutants.inside TOOL [EDGES]`.

It prints one cell as JSON.
Modules that use `kraft_reference` are imported late, because a mutant may fail on import.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, perf_counter

import msgspec

from kraft_dev.child import ChildError, ChildTimeoutError, run_child
from kraft_dev.mutants.subjects import Subject
from kraft_dev.mutants.tool import Means, Tally, ToolError
from kraft_dev.results import Cell, single_line
from kraft_spec.edits import edited_packages, imported_from

WITH_EDGES = "edges"
"""Name of the tool that replays the edges of the model from a file."""
_UNAVAILABLE = ("JavaMissing", "JarMissing", "JarMismatch")


def in_own_process(tool: str) -> Callable[[Subject, Means], Iterator[Cell]]:
    """Return a function that runs a tool of `playing.LOOKS` in its own process."""

    def cells(subject: Subject, means: Means) -> Iterator[Cell]:
        words = [tool, str(means.edges())] if tool == WITH_EDGES else [tool]
        began = monotonic()
        with edited_packages(subject.edits, "kraft_reference") as environment:
            try:
                output = run_child(__name__, *words, environment=environment, seconds=means.seconds)
            except ChildTimeoutError:
                what = f"hangs: no end after {means.seconds:.0f} s"
                yield Cell(tool, True, what, seconds=round(monotonic() - began, 1))
            except ChildError as error:
                raise ToolError(f"{tool} on {subject.name}: {error}") from error
            else:
                yield msgspec.json.decode(output, type=Cell)

    return cells


def run_tool(tool: str, tally: Tally) -> Cell:
    """Run the tool on the reference that this process imports.

    Raises:
        RuntimeError: The process does not import the edited copy.
    """
    tally.where = "import"
    began = perf_counter()
    try:
        from kraft_dev.mutants.playing import LOOKS

        if not imported_from("kraft_reference", os.environ):
            origin = sys.modules["kraft_reference"].__file__
            raise _NotTheMutantError(f"kraft_reference comes from {origin}, not from the copy")
        tally.where = ""
        what = LOOKS[tool](tally)
    except _NotTheMutantError:
        raise
    except BaseException as raised:  # some of the reference's own errors are meant to pass `except Exception`
        name = type(raised).__name__
        if isinstance(raised, KeyboardInterrupt) or name in _UNAVAILABLE:
            raise
        what = f"raises {name}: {raised}"
    where = tally.where if what else ""
    return Cell(tool, bool(what), single_line(what), where, tally.amount, round(perf_counter() - began, 1))


class _NotTheMutantError(RuntimeError):
    """The process did not import the mutant."""


def main() -> None:
    """Run the tool, and print the result."""
    tool, *edges = sys.argv[1:]
    output = sys.stdout
    # Output of the mutant must not mix with the tool's result.
    sys.stdout = sys.stderr
    cell = run_tool(tool, Tally(Path(edges[0]) if edges else None))
    output.write(msgspec.json.encode(cell).decode() + "\n")
    output.flush()


if __name__ == "__main__":
    main()
