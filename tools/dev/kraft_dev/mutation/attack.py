"""The process in which one tool meets one mutant: `python -m kraft_dev.mutation.attack TOOL ...`.

It prints one JSON document.
Whatever imports `kraft_reference` is imported late, because a mutant may fail at that.
"""

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from kraft_dev.mutation.sighting import Attack, Tally, Target
from kraft_spec.edits import imported_from

_UNAVAILABLE = ("JavaMissing", "JarMissing", "JarMismatch")
_TEXT_MAX = 200


def attack(tool: str, target: Target) -> Attack:
    """Use the tool on the reference that this process imports.

    Raises:
        RuntimeError: The process does not import the edited copy, or the tool cannot run here at all.
    """
    tally = Tally(where="import")
    began = perf_counter()
    try:
        from kraft_dev.mutation.tools import ALL_TOOLS

        if not imported_from("kraft_reference", os.environ):
            raise _NotTheMutantError(
                f"kraft_reference comes from {sys.modules['kraft_reference'].__file__}, not from the copy"
            )
        tally.where = ""
        seen = ALL_TOOLS[tool].attack(target, tally)
    except _NotTheMutantError:
        raise
    except BaseException as raised:  # some of the reference's own errors are meant to pass `except Exception`
        name = type(raised).__name__
        if isinstance(raised, KeyboardInterrupt) or name in _UNAVAILABLE:
            raise
        what = _on_one_line(f"raises {name}: {raised}")
        return Attack(tool, True, what, tally.where, tally.amount, perf_counter() - began)
    seconds = perf_counter() - began
    if seen is None:
        return Attack(tool, amount=tally.amount, seconds=seconds)
    return Attack(tool, True, _on_one_line(seen.what), seen.where, tally.amount, seconds)


class _NotTheMutantError(RuntimeError):
    """The process attacks something else than the mutant."""


def _on_one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TEXT_MAX else f"{line[: _TEXT_MAX - 1]}…"


def main() -> None:
    """Attack, and print what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--edges", type=Path)
    given = parser.parse_args()
    target = Target(given.edges)
    output = sys.stdout
    # Whatever the mutant prints is not what the tool says.
    sys.stdout = sys.stderr
    found = attack(given.tool, target)
    output.write(json.dumps(asdict(found)) + "\n")
    output.flush()


if __name__ == "__main__":
    main()
