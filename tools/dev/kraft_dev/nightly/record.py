"""What one night found, as a dated file from which the same night goes on."""

from pathlib import Path

import msgspec

from kraft_traces.streams import atomic_file

SCHEMA = "kraft-nightly/3"


class RecordError(ValueError):
    """A record cannot be read; the message names the file."""


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One check of one part."""

    part: str
    name: str
    command: str
    """What repeats it."""
    reached: str
    """How far it came, in a line of what the command said."""
    seconds: float
    problems: tuple[str, ...] = ()
    """What is not as expected: the exit code, and the last lines that the command said."""
    finished: bool = True
    """Whether it came to its end; one that its time limit stopped goes on when the night is resumed."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells items apart within a night."""
        return self.part, self.name


class Night(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that a night found so far."""

    date: str
    """YYYY-MM-DD, the day on which it began."""
    version: str
    """Of kraft-spec."""
    sources: str
    """Fingerprint of the model, the reference and the mutants: items are only taken over from equal sources."""
    complete: bool
    """Whether every item that was due was run."""
    items: tuple[Item, ...]
    schema: str = SCHEMA

    def with_item(self, item: Item) -> "Night":
        """This night with one more item, or with a newer form of one."""
        kept = tuple(one for one in self.items if one.key != item.key)
        return msgspec.structs.replace(self, items=(*kept, item))

    def find(self, part: str, name: str) -> Item | None:
        """The item of that name; None if it was not run."""
        return next((item for item in self.items if item.key == (part, name)), None)


def record_path(folder: Path, day: str) -> Path:
    """Where the record of a day stands."""
    return folder / f"{day}.json"


def write_night(path: Path, night: Night) -> None:
    """Write a record, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    with atomic_file(path) as output:
        output.write(msgspec.json.format(msgspec.json.encode(night, order="deterministic"), indent=1) + b"\n")


def read_night(path: Path) -> Night:
    """Read a record.

    Raises:
        RecordError: It is not there, malformed, or of another schema.
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
