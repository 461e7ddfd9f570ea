"""What one night found, as a dated file that the next night is compared with."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeAlias

import msgspec

from kraft_traces.streams import whole_file

SCHEMA = "kraft-nightly/1"

Fact: TypeAlias = str | int | bool | None


class RecordError(ValueError):
    """A record cannot be read; the message names the file."""


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One check of one part.

    `facts` are compared with those of the night before, so they are only what the sources decide: no durations, and
    of a search that a time limit stopped no counts.
    """

    part: str
    name: str
    as_expected: bool
    finished: bool
    """Whether it came to its end; one that its time limit stopped goes on when the night is resumed."""
    facts: dict[str, Fact]
    reached: str
    """For readers: how far it came, in a sentence."""
    seconds: float

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
    with whole_file(path) as output:
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


def earlier_nights(folder: Path, day: str) -> tuple[Night, ...]:
    """The nights before `day`, the oldest first.

    Raises:
        RecordError: A record cannot be read.
    """
    dated = [path for path in folder.glob("*.json") if _is_date(path.stem) and path.stem < day]
    return tuple(read_night(path) for path in sorted(dated))


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between a night and an earlier one.

    Attributes:
        part: The part.
        name: The item.
        since: The earlier night, YYYY-MM-DD: the newest that has the item.
        what: In words, the older night first.
        worse: Whether something was as expected and no longer is.
    """

    part: str
    name: str
    since: str
    what: str
    worse: bool


def compare(earlier: Iterable[Night], after: Night) -> tuple[Change, ...]:
    """What is different, in the order of the newer night; `earlier` is in the order of the days.

    Not every item is run every night, so each is compared with the newest earlier night that has it.
    """
    newest = {item.key: (night.date, item) for night in earlier for item in night.items}
    changes: list[Change] = []
    for item in after.items:
        if item.key not in newest:
            continue
        since, before = newest[item.key]
        if before.as_expected != item.as_expected:
            words = "was as expected and is not" if before.as_expected else "is as expected again"
            changes.append(Change(*item.key, since, words, worse=before.as_expected))
        for name in dict.fromkeys((*before.facts, *item.facts)):
            was, is_now = before.facts.get(name), item.facts.get(name)
            if was != is_now:
                changes.append(Change(*item.key, since, f"{name}: {_words(was)}, now {_words(is_now)}", worse=False))
    return tuple(changes)


def _words(fact: Fact) -> str:
    return "nothing" if fact in (None, "") else str(fact)
