"""Common parts of the documents of both kinds of traces: rules, verdict, error."""

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
    """Rules of a document, each once; other parts of the document refer to them by index."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def places(self, rules: Iterable[str]) -> list[int]:
        """Return the indexes of rules, which are added if they are new."""
        return [self._places.setdefault(rule, len(self._places)) for rule in rules]

    def name(self, rules: Iterable[str]) -> None:
        """Add rules, except those of a header that this version does not know."""
        self.places(rule for rule in rules if rule in load_registry())

    def documents(self) -> list[dict[str, str]]:
        """Return all rules as plain values."""
        rules = [load_registry()[rule] for rule in self._places]
        return [{"id": it.id, "title": it.title, "level": it.level, "statement": it.statement} for it in rules]


def verdict_document(verdict: Verdict | PartitionVerdict, source: str) -> dict[str, Any]:
    """Return a verdict as plain values, with `source` in place of the path."""
    rejection = None if verdict.rejection is None else replace(verdict.rejection, source=source)
    document: dict[str, Any] = to_builtins(replace(verdict, source=source, rejection=rejection).as_dict())
    if rejection is not None:
        document["headline"] = rejection.headline()
    elif isinstance(verdict, Verdict):
        document["notes"] = list(verdict.judged.lines())
    return document


def error_text(error: TraceError, source: str) -> str:
    """Return the text of an error, with `source` in place of the path."""
    renamed = copy(error)
    renamed.source = source
    return str(renamed)
