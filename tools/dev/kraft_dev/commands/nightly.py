"""`kraft_dev nightly`: run the long forms of all checks, with a dated record from which a stopped night resumes."""

import os
from datetime import date as calendar_date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.console import progress, say
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_dev.nightly import parts
from kraft_dev.nightly.parts import Means, Part
from kraft_dev.nightly.record import Item, RecordError, record_path
from kraft_dev.nightly.running import begin, fingerprint_of_model, fingerprint_of_sources, run_item, run_night

_KNOWN = ", ".join(part.name for part in parts.PARTS)
Folder = Annotated[Path, typer.Option("--folder", help="Folder of the dated records and the checkpoints.")]
PartNames = Annotated[list[str] | None, typer.Option("--part", help=f"Only this part ({_KNOWN}); repeatable.")]
Day = Annotated[str | None, typer.Option("--date", help="The night's date, YYYY-MM-DD; today if not given.")]
EveryItem = Annotated[bool, typer.Option("--every-item", help="Run all items, not only those due on that date.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Start from the beginning, without checkpoints or finished items.")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Items in parallel; default: number of processors.")
]
Workers = Annotated[int, typer.Option(min=1, help="TLC threads, or processes elsewhere, per item.")]
TimeLimit = Annotated[float | None, typer.Option(min=1, help="Time limit in seconds for each check that has one.")]


def nightly(
    folder: Folder = Path(".nightly"),
    part: PartNames = None,
    date: Day = None,
    every_item: EveryItem = False,
    fresh: Fresh = False,
    jobs: Jobs = None,
    workers: Workers = 1,
    time_limit: TimeLimit = None,
) -> int:
    """Run every check in its long form, and go on where the last run of the same night stopped.

    The record of the night is FOLDER/DATE.json, written after every item.  Exit code 1 if a result is not as
    expected.
    """
    day = _day(date)
    due = [
        (due_part, name)
        for due_part in _parts(part)
        for name in (due_part.items() if every_item else due_part.due(day))
    ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"cannot make the folder {folder}: {error.strerror}", ExitCode.CANNOT_WRITE) from error
    try:
        night = begin(folder, day.isoformat(), version("kraft-spec"), fingerprint_of_sources(), resume=not fresh)
    except RecordError as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error
    checkpoints = folder / "checkpoints" / fingerprint_of_model()[:12]
    means = Means(day, checkpoints, resume=not fresh, workers=workers, time_limit_seconds=time_limit)
    with progress("nightly", len(due)) as advance:

        def start(part: str, name: str) -> None:
            advance(0, f"{part} {name}")

        def shown(item: Item, taken_over: bool) -> None:
            advance(1)
            say(item_line(item, taken_over))
            for problem in item.problems:
                say(f"  {problem}", "red")

        run = partial(run_item, means=means)
        at_a_time = jobs or os.cpu_count() or 1
        night = run_night(folder, night, due, run, shown, start, completes=part is None, jobs=at_a_time)
    wrong = sum(bool(item.problems) for item in night.items)
    say(f"{len(night.items)} items, {wrong} not as expected; record: {record_path(folder, night.date)}")
    return ExitCode.VIOLATION if wrong else ExitCode.CONFORMANT


def _day(text: str | None) -> calendar_date:
    if text is None:
        return calendar_date.today()  # noqa: DTZ011 - a label that the user reads, in the user's own zone
    try:
        return calendar_date.fromisoformat(text)
    except ValueError as error:
        raise usage_error(f"--date {text!r} is no date, expected YYYY-MM-DD") from error


def _parts(names: list[str] | None) -> list[Part]:
    by_name = {part.name: part for part in parts.PARTS}
    for name in names or ():
        if name not in by_name:
            raise usage_error(f"no part {name!r} of a night; there are {', '.join(by_name)}")
    return [by_name[name] for name in dict.fromkeys(names or by_name)]


def item_line(item: Item, taken_over: bool) -> str:
    """Return the line of an item and its result."""
    verdict = "FAIL" if item.problems else "ok  " if item.finished else "stop"
    when = "taken over" if taken_over else f"{item.seconds:.0f} s"
    return f"{verdict} {item.part} {item.name}: {item.reached}; {when}"
