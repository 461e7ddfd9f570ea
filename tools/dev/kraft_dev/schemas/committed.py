"""JSON Schemas (2020-12) that are generated from types and kept in a package, for readers in other languages.

Tests hold the files to the types.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True)
class CommittedSchema:
    """One schema, and where it is kept."""

    name: str
    """As `kraft-trace/1`."""
    title: str
    package: str
    """The package in whose resources it is."""
    folder: str
    """Within the package; empty for the package itself."""
    body: Callable[[], dict[str, Any]]
    """All of it but what it is called."""

    @property
    def path(self) -> Path:
        """Where the package has it."""
        return Path(str(files(self.package).joinpath(self.folder, self.file_name)))

    @property
    def file_name(self) -> str:
        """Of the committed file."""
        return f"{self.name.replace('/', '-')}.schema.json"

    def document(self) -> dict[str, Any]:
        """The schema of the types as they are."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:kraft-spec:{self.name.replace('/', ':')}",
            "title": self.title,
            **self.body(),
        }

    def text(self) -> str:
        """The same, as the committed file has it."""
        return json.dumps(self.document(), indent=2, ensure_ascii=True) + "\n"

    def committed_text(self) -> str:
        """The text that the package carries."""
        return self.path.read_text(encoding="utf-8")

    def committed(self) -> dict[str, Any]:
        """The schema that the package carries."""
        document: dict[str, Any] = json.loads(self.committed_text())
        return document


def body_of(kind: type) -> dict[str, Any]:
    """What is said of a type and of those that it is made of."""
    schema = msgspec.json.schema(kind)
    definitions = schema.pop("$defs")
    return {**in_order(schema), "$defs": in_order(definitions)}


def in_order(part: Any) -> Any:
    """Undo what differs between versions of msgspec: the order of alternatives, the margin of a docstring."""
    if isinstance(part, dict):
        return {key: of_key(key, value) for key, value in part.items()}
    return [in_order(value) for value in part] if isinstance(part, list | tuple) else part


def of_key(key: str, value: Any) -> Any:
    """The value of one key, in order."""
    if key == "description" and isinstance(value, str):
        return cleandoc(value)
    return sorted(map(in_order, value), key=json.dumps) if key == "anyOf" else in_order(value)
