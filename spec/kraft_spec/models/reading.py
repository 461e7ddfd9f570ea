"""Reader of the model check tables, `checks/*.toml`; `checks/closed.toml` documents their fields."""

from collections.abc import Mapping
from dataclasses import replace
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec

from kraft_spec.models.check import ModelCheck
from kraft_spec.models.configuration import Configuration
from kraft_spec.tlc.model_check import Simulation

_ARROW = " <- "


class CheckTableError(ValueError):
    """The table of model checks is invalid; the message names the entry and the field."""


class _Base(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A configuration as the differences from another one; None for an unchanged field."""

    like: str = ""
    opens: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    module: str | None = None
    specification: str | None = None
    init: str | None = None
    constraint: str | None = None
    view: str | None = None
    invariants: tuple[str, ...] | None = None
    properties: tuple[str, ...] | None = None
    leaves_out: str | None = None


class _Check(_Base, kw_only=True, forbid_unknown_fields=True):
    """A check; `ModelCheck` documents its fields."""

    groups: tuple[str, ...]
    bounds: str
    violates: str = ""
    mutants: tuple[str, ...] = ()
    fires: frozenset[str] = frozenset()
    coverage: bool = False
    simulation: Simulation | None = None
    time_limit_seconds: float | None = None
    brief: bool = False


_CHECK_FIELDS = tuple(name for name in _Check.__struct_fields__ if name not in _Base.__struct_fields__)
_INHERITED_FIELDS = ("module", "specification", "init", "constraint", "view", "invariants", "properties")


class _File(msgspec.Struct, forbid_unknown_fields=True):
    base: dict[str, _Base] = {}
    check: dict[str, _Check] = {}


def read_checks(folder: Path | Traversable, groups: tuple[str, ...]) -> tuple[ModelCheck, ...]:
    """Read the checks of all tables in a folder, ordered by their earliest group, then by name.

    Raises:
        CheckTableError: An entry is malformed or redundant, a name is unknown, or two entries share a name.
    """
    entries: dict[str, _Base] = {}
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        try:
            tables = msgspec.toml.decode(file.read_text(encoding="utf-8"), type=_File)
        except msgspec.DecodeError as error:
            raise CheckTableError(f"{file.name}: {error}") from error
        for name, entry in (*tables.base.items(), *tables.check.items()):
            if name in entries:
                raise CheckTableError(f"{file.name}: there is another entry {name!r}")
            entries[name] = entry
    checks = [
        _make_check(name, entry, _read_configuration(name, entries, ()), _read_left_out(name, entries), groups)
        for name, entry in entries.items()
        if isinstance(entry, _Check)
    ]
    return tuple(sorted(checks, key=lambda check: (min(map(groups.index, check.groups)), check.name)))


def _make_check(
    name: str, entry: _Check, configuration: Configuration, leaves_out: str, groups: tuple[str, ...]
) -> ModelCheck:
    values = {field: getattr(entry, field) for field in _CHECK_FIELDS}
    check = ModelCheck(name, configuration, leaves_out=leaves_out, **values)
    unknown = sorted(set(check.groups) - set(groups))
    if unknown or not check.groups:
        named = ", ".join(unknown) or "no group"
        raise CheckTableError(f"{name}: groups names {named}, expected some of {', '.join(groups)}")
    if not check.leaves_out:
        raise CheckTableError(f"{name}: no leaves_out")
    if not configuration.module:
        raise CheckTableError(f"{name}: no module")
    if check.violates and check.violates not in configuration.checked:
        raise CheckTableError(f"{name}: violates names {check.violates}, which is not checked")
    if check.fires and not (check.coverage or check.violates):
        raise CheckTableError(
            f"{name}: fires is only looked at with coverage = true, or where violates names a property"
        )
    return check


def _read_configuration(name: str, entries: Mapping[str, _Base], asking: tuple[str, ...]) -> Configuration:
    """Return the configuration that an entry inherits, with its own changes."""
    entry = entries.get(name)
    if entry is None:
        raise CheckTableError(f"{asking[-1]}: like names {name!r}, and there is no such entry")
    if name in asking:
        raise CheckTableError(f"{name} is like itself")
    like = _read_configuration(entry.like, entries, (*asking, name)) if entry.like else Configuration(module="")
    overrides = {field: value for field in _INHERITED_FIELDS if (value := getattr(entry, field)) is not None}
    for field, value in overrides.items():
        if value == getattr(like, field):
            raise CheckTableError(f"{name}: {field} is that of {entry.like or 'every entry'}")
    return replace(like, **overrides, replaces=_read_replacements(name, entry, like.replaces))


def _read_left_out(name: str, entries: Mapping[str, _Base]) -> str:
    """Return the entry's own or inherited `leaves_out`."""
    entry = entries[name]
    like = _read_left_out(entry.like, entries) if entry.like else ""
    if entry.leaves_out == like:
        raise CheckTableError(f"{name}: leaves_out is that of {entry.like or 'every entry'}")
    return like if entry.leaves_out is None else entry.leaves_out


def _read_replacements(name: str, entry: _Base, like: Mapping[str, str]) -> dict[str, str]:
    replaced = dict(like)
    for operator in entry.opens:
        if operator not in replaced:
            raise CheckTableError(f"{name}: opens names {operator}, which {entry.like or 'nothing'} does not replace")
        del replaced[operator]
    for text in entry.replaces:
        operator, arrow, by = text.partition(_ARROW)
        if not arrow:
            raise CheckTableError(f"{name}: replaces has {text!r}, expected OPERATOR{_ARROW}OPERATOR")
        if like.get(operator) == by:
            raise CheckTableError(f"{name}: {text} is that of {entry.like}")
        replaced[operator] = by
    return replaced
