"""Rules that need no implementation or no model yet: scope.toml, checked against the registry."""

import functools
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, get_args

from kraft_spec.rules.reading import Entry, load_toml, tables
from kraft_spec.rules.registry import Registry, load_registry
from kraft_spec.rules.rule import RuleFileError

Layer = Literal["reference", "model"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
"""The layers that must both cite every rule in scope, unless scope.toml assigns another layer."""
OtherLayer = Literal["spec", "traces", "conformance"]
OTHER_LAYERS: tuple[OtherLayer, ...] = get_args(OtherLayer)
"""Layers that scope.toml may assign instead."""

_KINDS = ("outside", "instead", "exempt", "unread")


@dataclass(frozen=True, slots=True)
class Exemption:
    """Rules that a layer need not cite, with the reason.

    Attributes:
        rules: a rule id, or a prefix that ends in `.*`.
        without: ids under the prefix that are cited, and so must be.
        layers: the exempted layers.
        reason: the reason, as a sentence.
        rule_ids: the active rules concerned, except `without`.
    """

    rules: str
    without: tuple[str, ...]
    layers: tuple[Layer, ...]
    reason: str
    rule_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """Required citations.

    Attributes:
        outside: ids of active rules that no layer implements, each with the reason.
        exemptions: other rules that a layer need not cite.
        unread: files, as paths in the repository, that are not searched for citations, each with the reason.
        instead: the layer that must cite a rule in place of the reference and the model, by rule id.
        instead_reasons: the reason, for each rule of `instead`.
    """

    outside: Mapping[str, str]
    exemptions: tuple[Exemption, ...]
    unread: Mapping[str, str]
    instead: Mapping[str, OtherLayer] = field(default_factory=dict)
    instead_reasons: Mapping[str, str] = field(default_factory=dict)

    def exempted(self, layer: Layer) -> Mapping[str, Exemption]:
        """Return the exemption of each rule that a layer need not cite."""
        return {
            rule_id: exemption
            for exemption in self.exemptions
            if layer in exemption.layers
            for rule_id in exemption.rule_ids
        }

    def required(self, registry: Registry, layer: Layer) -> tuple[str, ...]:
        """Return the ids of the rules that a layer must cite, in the order of the registry."""
        exempted = self.exempted(layer)
        return tuple(
            rule.id
            for rule in registry
            if rule.is_active
            and rule.id not in self.outside
            and rule.id not in self.instead
            and rule.id not in exempted
        )


def read_scope(file: Path | Traversable, registry: Registry) -> Scope:
    """Read a scope file.

    Raises:
        RuleFileError: the file violates its format, names an unknown rule, has two entries for a rule, or exempts a
            rule that needs no exemption.
    """
    document = load_toml(file)
    for key in document:
        if key not in _KINDS:
            raise RuleFileError(file.name, None, key, f"unknown key, known are {', '.join(_KINDS)}")
    outside: dict[str, str] = {}
    for number, table in enumerate(tables(file.name, document, "outside"), start=1):
        entry = Entry(file.name, str(table.get("rules") or f"outside {number}"), table)
        entry.require_keys(("rules", "reason"), ("without",))
        outside.update(dict.fromkeys(_rule_ids(entry, registry, outside), entry.text("reason")))
    instead: dict[str, OtherLayer] = {}
    instead_reasons: dict[str, str] = {}
    for number, table in enumerate(tables(file.name, document, "instead"), start=1):
        entry = Entry(file.name, str(table.get("rules") or f"instead {number}"), table)
        entry.require_keys(("rules", "layer", "reason"), ("without",))
        layer = entry.one_of("layer", OTHER_LAYERS)
        rule_ids = _rule_ids(entry, registry, {**outside, **instead})
        instead.update(dict.fromkeys(rule_ids, layer))
        instead_reasons.update(dict.fromkeys(rule_ids, entry.text("reason")))
    unread: dict[str, str] = {}
    for number, table in enumerate(tables(file.name, document, "unread"), start=1):
        entry = Entry(file.name, str(table.get("path") or f"unread {number}"), table)
        entry.require_keys(("path", "reason"))
        unread[entry.text("path")] = entry.text("reason")
    exemptions: list[Exemption] = []
    taken: set[tuple[str, str]] = set()
    for number, table in enumerate(tables(file.name, document, "exempt"), start=1):
        entry = Entry(file.name, str(table.get("rules") or f"exempt {number}"), table)
        exemption = _read_exemption(entry, registry, {**outside, **instead})
        for pair in [(rule_id, layer) for rule_id in exemption.rule_ids for layer in exemption.layers]:
            if pair in taken:
                raise entry.error("rules", f"{pair[0]} is exempted from the {pair[1]} twice")
            taken.add(pair)
        exemptions.append(exemption)
    return Scope(outside, tuple(exemptions), unread, instead, instead_reasons)


def _rule_ids(entry: Entry, registry: Registry, taken: Container[str]) -> tuple[str, ...]:
    """Return the active rules of an entry; a prefix skips those that are taken, an id does not."""
    pattern = entry.text("rules")
    matched = [rule.id for rule in registry.matching(pattern) if rule.is_active and rule.id not in taken]
    if not matched:
        near = registry.ids.near(pattern.removesuffix(".*"), at_most=1)
        hint = f", did you mean {near[0]}?" if near and near[0] != pattern else ""
        raise entry.error("rules", f"no active rule in scope matches {pattern}{hint}")
    without = entry.texts("without")
    for rule_id in without:
        if rule_id not in matched:
            raise entry.error("without", f"{rule_id} is no active rule in scope under {pattern}")
    return tuple(rule_id for rule_id in matched if rule_id not in without)


def _read_exemption(entry: Entry, registry: Registry, taken: Container[str]) -> Exemption:
    """Check an `[[exempt]]` table and return its exemption."""
    entry.require_keys(("rules", "layers", "reason"), ("without",))
    rule_ids = _rule_ids(entry, registry, taken)
    layers: list[Layer] = [layer for layer in LAYERS if layer in entry.texts("layers")]
    if not layers or len(layers) != len(entry.texts("layers")):
        raise entry.error("layers", f"must list one or more of {', '.join(LAYERS)}, each once")
    return Exemption(
        rules=entry.text("rules"),
        without=entry.texts("without"),
        layers=tuple(layers),
        reason=entry.text("reason"),
        rule_ids=rule_ids,
    )


@functools.cache
def load_scope() -> Scope:
    """Return the scope of this package, checked against `load_registry()`, read once per process."""
    return read_scope(resources.files("kraft_spec.rules") / "scope.toml", load_registry())
