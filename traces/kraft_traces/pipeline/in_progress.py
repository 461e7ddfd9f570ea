"""Traces that may have ended the worker that checked them.

What ends a process (the system's out-of-memory killer, a crash of Java) leaves no error to report, and Spark tries the
task again, the same trace first.
So a worker notes each trace before it checks it, in the output folder, which every machine sees, and takes the note
away afterwards.
A note that stays says that its worker has died; a trace with `DEATHS_MAX` of them is not tried again.
"""

import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

DEATHS_MAX = 3
"""So often a worker may die while it checks a trace."""

_SHOWN_MAX = 5


@dataclass(frozen=True, order=True)
class TraceInProgress:
    """A trace that was being checked when a worker died, or is being checked now."""

    source: str
    first_line: int

    def __str__(self) -> str:
        return f"{self.source}:{self.first_line}"


@dataclass(frozen=True)
class ChecksInProgress:
    """The notes of a run."""

    folder: Path

    def begin(self) -> None:
        """Forget the notes of an earlier run: that it was killed says nothing about the traces."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for note in self.folder.iterdir():
            note.unlink()

    @contextmanager
    def under_way(self, key: str, checked: TraceInProgress) -> Iterator[int]:
        """Note that the block checks a trace, and take the note away if it ends at all.

        A trace that is not tried again needs no note.  `key` names the piece of work in letters, digits and hyphens.

        Yields:
            How many workers have died over this piece of work before.
        """
        deaths = sum(name.startswith(f"{key}.") for name in os.listdir(self.folder))
        if deaths >= DEATHS_MAX:
            yield deaths
            return
        note = self.folder / f"{key}.{uuid.uuid4().hex}"
        # The process is for those who want to see what it is doing.
        note.write_text(json.dumps([checked.source, checked.first_line, os.getpid()]))
        try:
            yield deaths
        finally:
            note.unlink(missing_ok=True)

    def found(self) -> list[TraceInProgress]:
        """The traces with notes: when nothing runs any more, those over which workers have died."""
        found: set[TraceInProgress] = set()
        for note in self.folder.iterdir() if self.folder.is_dir() else ():
            try:
                source, first_line, _ = json.loads(note.read_bytes())
            except ValueError:
                # The worker died while it wrote the note.
                continue
            found.add(TraceInProgress(source, first_line))
        return sorted(found)

    def described(self) -> str:
        """The traces with notes in words; empty if there are none."""
        found = self.found()
        if not found:
            return ""
        named = ", ".join(str(checked) for checked in found[:_SHOWN_MAX])
        more = f" and {len(found) - _SHOWN_MAX} more" if len(found) > _SHOWN_MAX else ""
        return f"workers died while they checked {named}{more}"


def given_up(deaths: int) -> str:
    """Why such a trace is inconclusive."""
    return f"the process that checks it has ended {deaths} times without a word: out of memory, or a crash of Java"
