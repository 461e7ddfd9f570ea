"""A progress bar for work whose amount shows itself as it goes on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from kraft_conformance.console import stderr

Notice = Callable[[str, int, int], None]
"""Takes what is under way, how much of it is done, and how much there is, 0 when that is not known yet."""


@contextmanager
def stage_progress() -> Iterator[Notice]:
    """A bar on standard error; where that is no terminal, a line for each thing that begins."""
    if not stderr.is_terminal:
        said: set[str] = set()

        def say(what: str, _done: int, _total: int) -> None:
            if what not in said:
                said.add(what)
                stderr.print(f"{what} ...", markup=False)

        yield say
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("tasks"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task("starting Spark", total=None)

        def move(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        yield move
