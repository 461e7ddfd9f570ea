"""JSON Schemas (2020-12) generated from types and committed in a package, for readers in other languages.

Tests compare the files with the types.
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
    """A schema and its place in a package."""

    name: str
    """Name such as `kraft-trace/1`."""
    title: str
    package: str
    """Package whose resources include it."""
    folder: str
    """Folder within the package; empty for the package itself."""
    body: Callable[[], dict[str, Any]]
    """Function that returns the schema without its title and id."""

    @property
    def path(self) -> Path:
        """Path in the package."""
        return Path(str(files(self.package).joinpath(self.folder, self.file_name)))

    @property
    def file_name(self) -> str:
        """Name of the committed file."""
        return f"{self.name.replace('/', '-')}.schema.json"

    def document(self) -> dict[str, Any]:
        """The schema generated from the current types."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:kraft-spec:{self.name.replace('/', ':')}",
            "title": self.title,
            **self.body(),
        }

    def text(self) -> str:
        """The generated schema as text of the file."""
        return json.dumps(self.document(), indent=2, ensure_ascii=True) + "\n"

    def committed_text(self) -> str:
        """Text of the file in the package."""
        return self.path.read_text(encoding="utf-8")

    def committed(self) -> dict[str, Any]:
        """The schema in the package."""
        document: dict[str, Any] = json.loads(self.committed_text())
        return document


def schema_body(kind: type) -> dict[str, Any]:
    """Return the schema of a type and the types that it is made of."""
    schema = msgspec.json.schema(kind)
    definitions = schema.pop("$defs")
    return {**normalize(schema), "$defs": normalize(definitions)}


def normalize(part: Any) -> Any:
    """Return a schema independent of msgspec's version: sort alternatives, dedent docstrings."""
    if isinstance(part, dict):
        return {key: normalize_value(key, value) for key, value in part.items()}
    return [normalize(value) for value in part] if isinstance(part, list | tuple) else part


def normalize_value(key: str, value: Any) -> Any:
    """Return the normalized value of one key."""
    if key == "description" and isinstance(value, str):
        return cleandoc(value)
    return sorted(map(normalize, value), key=json.dumps) if key == "anyOf" else normalize(value)
