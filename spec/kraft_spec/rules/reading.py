"""Reader of a catalogue file: parses TOML into validated rules; errors name file, rule id and field."""

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from kraft_spec.rules.rule import Rule, RuleFileError
from kraft_spec.rules.rule_ids import RULE_ID
from kraft_spec.rules.vocabulary import LEVELS, PROPERTIES, PROTOCOL_WORDS, ROLES, STATUSES

REQUIRED_KEYS = (
    "id",
    "title",
    "statement",
    "source",
    "level",
    "safety",
    "breaks",
    "kafka",
    "open",
    "example",
)
OPTIONAL_KEYS = ("states", "status", "by")

_CAMEL_CASE_WORD = re.compile(r"\b(?:[A-Z][a-z]+){2,}\b")
_LONG_WORD = re.compile(r"\b[A-Za-z]{8,}\b")
_MISSPELT_SIMILARITY = 0.9

Word = TypeVar("Word", bound=str)


def load_toml(file: Path | Traversable) -> dict[str, object]:
    """Parse a TOML file in UTF-8.

    Raises:
        RuleFileError: the file is not TOML.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RuleFileError(file.name, None, None, f"not TOML: {error}") from error


def tables(file: str, document: Mapping[str, object], key: str) -> tuple[Mapping[str, object], ...]:
    """Return the tables `[[key]]` of a document; empty if there are none.

    Raises:
        RuleFileError: the key has another value.
    """
    listed = document.get(key, [])
    if not isinstance(listed, list) or not all(isinstance(table, dict) for table in listed):
        raise RuleFileError(file, None, key, f"must be written as [[{key}]] tables")
    return tuple(listed)


@dataclass(frozen=True, slots=True)
class Entry:
    """A table of a registry file, with typed access to its keys.

    Attributes:
        file: name of the file.
        name: its name in errors: its rule id, or its place in the file.
        content: the table.
    """

    file: str
    name: str
    content: Mapping[str, object]

    def error(self, field: str | None, problem: str) -> RuleFileError:
        """Return an error about this entry."""
        return RuleFileError(self.file, self.name, field, problem)

    def require_keys(self, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
        """Check that all required keys are present, and no others than these and the optional ones."""
        for key in self.content:
            if key not in required and key not in optional:
                near = difflib.get_close_matches(key, (*required, *optional), n=1)
                raise self.error(key, f"unknown key{f', did you mean {near[0]}?' if near else ''}")
        for key in required:
            if key not in self.content:
                raise self.error(key, "missing")

    def text(self, key: str, *, may_be_empty: bool = False) -> str:
        """Return the string under a key, with words separated by one space."""
        written = self.content[key]
        if not isinstance(written, str):
            raise self.error(key, f"must be a string, not {type(written).__name__}")
        text = " ".join(written.split())
        if not text and not may_be_empty:
            raise self.error(key, "must not be empty")
        return text

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the list of strings under an optional key."""
        written = self.content.get(key, [])
        if not isinstance(written, list) or not all(isinstance(word, str) and word for word in written):
            raise self.error(key, "must be a list of non-empty strings")
        return tuple(written)

    def flag(self, key: str) -> bool:
        """Return the boolean under a key."""
        written = self.content[key]
        if not isinstance(written, bool):
            raise self.error(key, f"must be true or false, not {type(written).__name__}")
        return written

    def one_of(self, key: str, allowed: tuple[Word, ...], default: Word | None = None) -> Word:
        """Return the string under a key, checked against a closed list."""
        if default is not None and key not in self.content:
            return default
        written = self.text(key)
        for word in allowed:
            if word == written:
                return word
        raise self.error(key, f"{written!r} is not one of {', '.join(allowed)}")


def read_catalogue(file: Path | Traversable) -> tuple[Rule, ...]:
    """Read all rules of a catalogue file, in its order.

    Raises:
        RuleFileError: the file violates the format; `Registry.of` checks duplicates and references between rules.
    """
    document = load_toml(file)
    for key in document:
        if key != "rule":
            raise RuleFileError(file.name, None, key, "unknown key, a catalogue holds [[rule]] tables only")
    return tuple(
        _parse(file.name, number, table) for number, table in enumerate(tables(file.name, document, "rule"), start=1)
    )


def _parse(file: str, number: int, table: Mapping[str, object]) -> Rule:
    """Check a table and return its rule; errors name a rule without a usable id by its number in the file."""
    entry = Entry(file, str(table.get("id") or f"number {number}"), table)
    entry.require_keys(REQUIRED_KEYS, OPTIONAL_KEYS)
    rule_id = entry.text("id")
    if not RULE_ID.fullmatch(rule_id):
        raise entry.error("id", "must be lower-case words joined by hyphens, in two or more segments joined by dots")
    source = entry.texts("source")
    if not source:
        raise entry.error("source", "must name at least one passage")
    states = entry.texts("states")
    for state in states:
        if state not in ROLES:
            raise entry.error("states", f"{state!r} is not one of {', '.join(ROLES)}")
    status = entry.one_of("status", STATUSES, default="active")
    return Rule(
        id=rule_id,
        title=entry.text("title"),
        statement=entry.text("statement"),
        source=source,
        level=entry.one_of("level", LEVELS),
        states=states,
        safety=entry.flag("safety"),
        breaks=_read_properties(entry),
        breaks_text=entry.text("breaks", may_be_empty=True),
        kafka=entry.text("kafka", may_be_empty=True),
        open=entry.text("open", may_be_empty=True),
        example=entry.text("example"),
        status=status,
        by=_read_successors(entry, status),
        catalogue=file.removesuffix(".toml"),
    )


def _read_properties(entry: Entry) -> tuple[str, ...]:
    """Return the distinct properties that the free text of `breaks` names, in its order."""
    text = entry.text("breaks", may_be_empty=True)
    named = dict.fromkeys(word for word in _CAMEL_CASE_WORD.findall(text) if word not in PROTOCOL_WORDS)
    lower_case = {name.lower(): name for name in PROPERTIES}
    for word in named:
        if word not in PROPERTIES:
            near = difflib.get_close_matches(word, PROPERTIES, n=1)
            raise entry.error("breaks", f"unknown property {word}{f', did you mean {near[0]}?' if near else ''}")
    for word in _LONG_WORD.findall(text):
        near = difflib.get_close_matches(word.lower(), lower_case, n=1, cutoff=_MISSPELT_SIMILARITY)
        if near and word not in PROPERTIES:
            raise entry.error("breaks", f"unknown property {word}, did you mean {lower_case[near[0]]}?")
    return tuple(named)


def _read_successors(entry: Entry, status: str) -> tuple[str, ...]:
    """Return the ids of `by`; a superseded rule names at least one, an active rule none."""
    if "by" not in entry.content:
        if status == "superseded":
            raise entry.error("by", "a superseded rule names the rules that took its place")
        return ()
    if status == "active":
        raise entry.error("by", "an active rule has no successor: set status to superseded or retired")
    return tuple(successor.strip() for successor in entry.text("by").split(","))
