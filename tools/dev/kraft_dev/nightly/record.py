"""Dated record of one night's results, from which the same night resumes."""

from pathlib import Path

import msgspec

from kraft_traces.streams import atomic_file

SCHEMA = "kraft-nightly/3"


class RecordError(ValueError):
    """A record cannot be read; the message names the file."""


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check of a part, and its result."""

    part: str
    name: str
    command: str
    """Command that repeats the item."""
    reached: str
    """Progress, as a line of the command's output."""
    seconds: float
    problems: tuple[str, ...] = ()
    """Unexpected results: the exit code, and the last lines of the command's output."""
    finished: bool = True
    """True if the item ended; one stopped by its time limit resumes with the night."""

    @property
    def key(self) -> tuple[str, str]:
        """Identity of the item within a night."""
        return self.part, self.name


class Night(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Results of a night so far."""

    date: str
    """YYYY-MM-DD, the day on which the night began."""
    version: str
    """Version of kraft-spec."""
    sources: str
    """Fingerprint of the model, the reference and the mutants; items are reused only if the sources are equal."""
    complete: bool
    """True if every due item was run."""
    items: tuple[Item, ...]
    schema: str = SCHEMA

    def with_item(self, item: Item) -> "Night":
        """Return the night with an item added or replaced."""
        kept = tuple(other for other in self.items if other.key != item.key)
        return msgspec.structs.replace(self, items=(*kept, item))

    def find(self, part: str, name: str) -> Item | None:
        """Return the item of that name; None if it was not run."""
        return next((item for item in self.items if item.key == (part, name)), None)


def record_path(folder: Path, day: str) -> Path:
    """Return the path of a day's record."""
    return folder / f"{day}.json"


def write_night(path: Path, night: Night) -> None:
    """Write a record atomically.

    Raises:
        OSError: It cannot be written.
    """
    with atomic_file(path) as output:
        output.write(msgspec.json.format(msgspec.json.encode(night, order="deterministic"), indent=1) + b"\n")


def read_night(path: Path) -> Night:
    """Read a record.

    Raises:
        RecordError: It does not exist, is malformed, or has another schema.
    """
    try:
        night = msgspec.json.decode(path.read_bytes(), type=Night)
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise RecordError(f"{path}: {error}") from error
    if night.schema != SCHEMA:
        raise RecordError(f"{path}: $.schema is {night.schema!r}, expected {SCHEMA!r}")
    return night
