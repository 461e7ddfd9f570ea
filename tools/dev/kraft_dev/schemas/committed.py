"""JSON Schemas (2020-12) generated from types and committed in a package, for readers in other languages.

Tests compare the files with the types.
"""

import ast
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from inspect import cleandoc, getsource
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
from msgspec.inspect import StructType, type_info


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


def schema_body(kind: Any) -> dict[str, Any]:
    """Return the schema of a type and the types that it is made of."""
    schema = msgspec.json.schema(kind)
    definitions = schema.pop("$defs")
    describe_fields(definitions, kind)
    return {**normalize(schema), "$defs": normalize(definitions)}


def describe_fields(definitions: dict[str, Any], kind: Any) -> None:
    """Add to the definitions of structs the docstrings of their fields."""
    for struct in structs_of(kind):
        properties = definitions.get(struct.__name__, {}).get("properties", {})
        for name, text in field_docstrings(struct).items():
            if name in properties:
                properties[name].setdefault("description", text)


def structs_of(kind: Any) -> set[type]:
    """Return the struct types that a type is made of."""
    seen: set[type] = set()

    def visit(part: Any) -> None:
        if isinstance(part, tuple):
            for each in part:
                visit(each)
        elif isinstance(part, msgspec.Struct) and not (isinstance(part, StructType) and part.cls in seen):
            if isinstance(part, StructType):
                seen.add(part.cls)
            for name in part.__struct_fields__:
                visit(getattr(part, name))

    visit(type_info(kind))
    return seen


def field_docstrings(struct: type) -> dict[str, str]:
    """Return the docstrings below the fields of a struct and its bases, by the names in JSON."""
    encoded = dict(zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True))  # type: ignore[attr-defined]
    own = {name: text for base in reversed(struct.__mro__) for name, text in _attribute_docstrings(base)}
    return {encoded[name]: text for name, text in own.items() if name in encoded}


def _attribute_docstrings(struct: type) -> Iterator[tuple[str, str]]:
    try:
        source = dedent(getsource(struct))
    except (OSError, TypeError):  # Built in, or made from the reference's declarations.
        return
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    for statement, following in zip(definition.body, definition.body[1:], strict=False):
        match statement, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, cleandoc(text)


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
