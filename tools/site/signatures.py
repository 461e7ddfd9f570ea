"""Signatures, bases and values of the API reference, by the names that the sources use.

Autodoc expands annotations, such as a union of twenty events or an integer with its range, and
the value of every table.  This module restores the documented names.
"""

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, get_args

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyAttribute, PyVariable
from sphinx.ext.autodoc.mock import mock
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import stringify_annotation
from tools.site.annotations import is_readable, public_bases, with_names, with_short_defaults, without_metadata
from tools.site.api_facts import public_modules

MEMBERS_MIN = 3
"""Minimum number of members; a shorter union is written out, such as `int | None`."""

_FIELD_NUMBER = re.compile(r"Alias for field number \d+")


@cache
def documented_aliases(repository: Path, mocked: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the expansion and dotted name of every documented union alias."""
    aliases: dict[str, str] = {}
    for module_name, file in public_modules(repository):
        names = _described_names(ast.parse(file.read_text(encoding="utf-8")))
        if not names:
            continue
        with mock(list(mocked)):
            module = import_module(module_name)
        for name in names:
            value = getattr(module, name, None)
            if isinstance(value, UnionType) and len(get_args(value)) >= MEMBERS_MIN:
                aliases.setdefault(stringify_annotation(value, mode="smart"), f"{module_name}.{name}")
    return tuple(sorted(aliases.items(), key=lambda entry: (-len(entry[0]), entry[0])))


def _described_names(tree: ast.Module) -> list[str]:
    """Return the names that are assigned with a docstring below."""
    names = []
    for statement, following in zip(tree.body, tree.body[1:], strict=False):
        match statement, following:
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str())),
            ):
                names.append(name)
    return names


def _shown(app: Sphinx, text: str) -> str:
    aliases = documented_aliases(Path(app.srcdir).parent, tuple(app.config.autodoc_mock_imports))
    return without_metadata(with_names(text, aliases))


def _process_signature(
    app: Sphinx, kind: str, name: str, thing: object, options: Any, arguments: str | None, returned: str | None
) -> tuple[str, str | None] | None:
    if arguments is None:
        return None
    return with_short_defaults(_shown(app, arguments)), _shown(app, returned) if returned else returned


class _Tidied(SphinxDirective):  # type: ignore[misc]  # Sphinx may not be installed where types are checked.
    """Mixin that shortens autodoc's description of a value."""

    def handle_signature(self, signature: str, node: addnodes.desc_signature) -> tuple[str, str]:
        if "type" in self.options:
            self.options["type"] = _shown(self.env.app, self.options["type"])
        if not is_readable(self.options.get("value", "")):
            del self.options["value"]
        name: tuple[str, str] = super().handle_signature(signature, node)
        return name


class TidiedAttribute(_Tidied, PyAttribute):  # type: ignore[misc]
    """Documenter of a class attribute."""


class TidiedVariable(_Tidied, PyVariable):  # type: ignore[misc]
    """Documenter of a module variable."""


def _process_bases(app: Sphinx, name: str, thing: object, options: Any, bases: list[Any]) -> None:
    bases[:] = public_bases(bases)


def _process_docstring(app: Sphinx, kind: str, name: str, thing: object, options: Any, lines: list[str]) -> None:
    if _FIELD_NUMBER.fullmatch(" ".join(lines).strip()):
        lines[:] = []


def _tidy_description(app: Sphinx, domain: str, kind: str, content: addnodes.desc_content) -> None:
    """Remove an empty `Bases:` line."""
    for first in content.children[:1]:
        if isinstance(first, nodes.paragraph) and first.astext().strip() == "Bases:":
            content.remove(first)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("autodoc-process-signature", _process_signature)
    app.connect("autodoc-process-bases", _process_bases)
    app.connect("autodoc-process-docstring", _process_docstring)
    app.add_directive_to_domain("py", "attribute", TidiedAttribute, override=True)
    app.add_directive_to_domain("py", "data", TidiedVariable, override=True)
    app.connect("object-description-transform", _tidy_description)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
