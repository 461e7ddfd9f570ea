"""Run a night item by item; each is on disk before the next begins."""

from collections.abc import Callable, Sequence
from pathlib import Path

from kraft_dev.nightly.parts import Means, Part
from kraft_dev.nightly.record import Item, Night, read_night, record_path, write_night
from kraft_spec.fingerprint import fingerprint_of

_PACKAGES = ("kraft_reference", "kraft_spec", "kraft_traces", "kraft_conformance", "kraft_dev")


def fingerprint_of_sources() -> str:
    """SHA-256, in hexadecimal, over all that a night's findings depend on."""
    return fingerprint_of(_PACKAGES, (".py", ".tla", ".cfg", ".toml"))


def fingerprint_of_model() -> str:
    """The same over what a checkpoint of TLC depends on."""
    return fingerprint_of(("kraft_spec",), (".tla", ".toml"))


def begin(folder: Path, day: str, version: str, sources: str, *, resume: bool) -> Night:
    """The night to go on with: the day's own record if it is of the same sources, else an empty one.

    Raises:
        RecordError: The day's record cannot be read.
    """
    path = record_path(folder, day)
    if resume and path.exists():
        night = read_night(path)
        if night.sources == sources:
            return night
    return Night(day, version, sources, complete=False, items=())


def run_night(
    folder: Path,
    night: Night,
    due: Sequence[tuple[Part, str]],
    means: Means,
    on_item: Callable[[Item, bool], None],
    on_start: Callable[[str, str], None],
    *,
    completes: bool,
) -> Night:
    """Run the items that are due and that the night has not finished yet; whether that `completes` it, the caller says.

    `on_item` is called with each item and whether it was taken over from an earlier run of the same night.

    Raises:
        OSError: The record cannot be written.
        Whatever an item raises that is a defect of the tools and not a finding.
    """
    for part, name in due:
        known = night.find(part.name, name)
        if known is not None and known.finished:
            on_item(known, True)
            continue
        on_start(part.name, name)
        item = part.run(name, means)
        night = night.with_item(item)
        write_night(record_path(folder, night.date), night)
        on_item(item, False)
    if completes:
        night = Night(night.date, night.version, night.sources, complete=True, items=night.items)
        write_night(record_path(folder, night.date), night)
    return night
