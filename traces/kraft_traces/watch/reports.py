"""Reports of a watch: alerts, gaps and the status."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kraft_spec.rules import load_registry
from kraft_traces.check.model import ReplicaSummary
from kraft_traces.check.verdict import Rejection
from kraft_traces.errors import TraceError


@dataclass(frozen=True, slots=True)
class Alert:
    """Line that does not conform, or that is malformed."""

    source: str
    line: int | None
    cause: Rejection | TraceError
    replicas: Mapping[int, ReplicaSummary]
    """States before the line, by replica id; empty if they are not known."""

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON object of the alert."""
        is_rejection = isinstance(self.cause, Rejection)
        document: dict[str, Any] = {
            "report": "alert",
            "kind": "rejected" if is_rejection else "malformed",
            "source": self.source,
            "line": self.line,
            "message": self.cause.headline() if isinstance(self.cause, Rejection) else str(self.cause),
            "replicas": {str(number): status._asdict() for number, status in self.replicas.items()},
        }
        if isinstance(self.cause, Rejection):
            cause = self.cause
            document |= {
                "sequence": cause.sequence,
                "event": cause.event,
                "replica": cause.replica,
                "rules": list(cause.rules),
                "sentences": {rule: load_registry()[rule].title for rule in cause.explained_by or cause.rules[:1]},
                "explained_by": list(cause.explained_by),
                "properties": list(cause.properties),
                "differences": [
                    {"field": it.field, "expected": it.expected, "actual": it.actual} for it in cause.differences
                ],
            }
        else:
            document |= {"code": self.cause.code, "field": self.cause.field}
        return document


@dataclass(frozen=True, slots=True)
class Gap:
    """Lines that are missing, or that are not judged."""

    source: str
    line: int | None
    """Number of the first line after the gap."""
    detail: str

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: gap: {self.detail}"

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON object of the gap."""
        return {"report": "gap", "source": self.source, "line": self.line, "message": self.detail}


Report = Alert | Gap
