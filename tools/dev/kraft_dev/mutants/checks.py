"""Checks of the models, the simulator and the trace checker, read from the sources."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kraft_spec.edits import package_folder
from kraft_spec.models import CHECKS
from kraft_spec.models.running import model_directory
from kraft_traces.check.model import TRACE_PROPERTIES

Layer = Literal["model", "simulator", "trace line"]
LAYERS: tuple[Layer, ...] = ("model", "simulator", "trace line")


@dataclass(frozen=True, slots=True, order=True)
class Check:
    """A property that is checked.

    Attributes:
        layer: The layer that checks it.
        name: Name of the property.
        kind: "invariant", "action property", "liveness property"; "property" outside of the models.
    """

    layer: Layer
    name: str
    kind: str


def all_checks() -> tuple[Check, ...]:
    """Return every check of every layer."""
    return (*model_checks(), *simulator_checks(), *line_checks())


def model_checks() -> tuple[Check, ...]:
    """Return the invariants and properties of all TLC configurations."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(model_directory().glob("*.tla"))]
    configurations = [check.configuration for check in CHECKS]
    invariants = {name for configuration in configurations for name in configuration.invariants}
    properties = {name for configuration in configurations for name in configuration.properties} - invariants
    checks = [Check("model", name, "invariant") for name in invariants]
    checks += [Check("model", name, _kind_of(name, texts)) for name in properties]
    return tuple(sorted(checks))


def _kind_of(name: str, texts: list[str]) -> str:
    """Return the kind of a property: `[][A]_v` is about steps, others about whole behaviours."""
    definition = re.compile(rf"^{name} ==(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
    bodies = [match.group(1) for text in texts if (match := definition.search(text))]
    return "action property" if any("[][" in body for body in bodies) else "liveness property"


def line_checks() -> tuple[Check, ...]:
    """Return the properties that the trace checker evaluates on each line or periodically."""
    return tuple(Check("trace line", name, "property") for name in sorted(TRACE_PROPERTIES))


def simulator_checks() -> tuple[Check, ...]:
    """Return the names of the properties that the simulator checks."""
    names: set[str] = set()
    for path in sorted(package_folder("kraft_simulation").rglob("*.py")):
        names |= set(_property_names(ast.parse(path.read_text(encoding="utf-8"))))
    return tuple(Check("simulator", name, "property") for name in sorted(names))


_NAMES_ITS_PROPERTY = ("BrokenProperty", "Violation", "_check_holds")
"""Calls whose first argument is the name of a property."""
_LISTS = "_PROPERTIES"
"""Suffix of constants that list names of properties."""


def _property_names(module: ast.Module) -> Iterator[str]:
    constants: dict[str, ast.expr] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            constants[statement.targets[0].id] = statement.value
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            constants[statement.target.id] = statement.value
    for name, value in constants.items():
        if name.endswith(_LISTS):
            yield from _texts(value)
    for call in ast.walk(module):
        if isinstance(call, ast.Call) and call.args:
            called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            first = call.args[0]
            if called in _NAMES_ITS_PROPERTY:
                yield from _texts(constants.get(first.id, first) if isinstance(first, ast.Name) else first)


def _texts(value: ast.expr) -> Iterator[str]:
    """Yield the strings of a literal; none if the name is a parameter."""
    for part in ast.walk(value):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
