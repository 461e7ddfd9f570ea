"""What the documents of both kinds of traces have in common: the rules that they name, the verdict, the error."""

from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Any

from msgspec import to_builtins

from kraft_spec.rules import load_registry
from kraft_traces.check.verdict import Verdict
from kraft_traces.errors import TraceError
from kraft_traces.partitions.checker import PartitionVerdict


class NamedRules:
    """The rules that a document names, each once; elsewhere in it they stand by their place among them."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def places(self, rules: Iterable[str]) -> list[int]:
        """Where these stand."""
        return [self._places.setdefault(rule, len(self._places)) for rule in rules]

    def name(self, rules: Iterable[str]) -> None:
        """Have titles of these rules too; a header may name one that this version does not know."""
        self.places(rule for rule in rules if rule in load_registry())

    def shown(self) -> list[dict[str, str]]:
        """All of them."""
        rules = [load_registry()[rule] for rule in self._places]
        return [{"id": one.id, "title": one.title, "level": one.level, "statement": one.statement} for one in rules]


def shown_verdict(verdict: Verdict | PartitionVerdict, source: str) -> dict[str, Any]:
    """A verdict as plain values, with `source` wherever it has a path."""
    rejection = None if verdict.rejection is None else replace(verdict.rejection, source=source)
    document: dict[str, Any] = to_builtins(replace(verdict, source=source, rejection=rejection).as_dict())
    if rejection is not None:
        document["headline"] = rejection.headline()
    return document


def shown_error(error: TraceError, source: str) -> str:
    """An error in words, with `source` where it has a path."""
    renamed = copy(error)
    renamed.source = source
    return str(renamed)
