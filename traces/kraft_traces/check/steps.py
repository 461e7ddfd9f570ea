"""The steps of the model that one line may be, from one state with the event bound."""

from dataclasses import dataclass

from msgspec import UNSET

from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.check.comparison import NETWORK_EVENTS
from kraft_traces.check.diagnosis import Diagnosis, Where
from kraft_traces.check.model import TraceModel
from kraft_traces.check.verdict import Rejection
from kraft_traces.lines import EventLine

NOT_ALLOWED = frozenset(
    ("NOT_RUNNING", "RUNNING", "NOT_IN_ROLE", "NOTHING_DUE", "CHANGE_NOT_ALLOWED", "SNAPSHOT_OUT_OF_RANGE")
)
"""Refusals of an event that the replica's state does not allow: the model's action must not be enabled."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a line may lead."""

    states: list[JavaObject]
    enabled: bool
    """Whether the action itself is possible; if not, the states are those in which the replica took no notice."""


class Steps:
    """Asks the model for the steps of one trace."""

    def __init__(self, model: TraceModel, diagnosis: Diagnosis) -> None:
        self._model = model
        self._diagnosis = diagnosis
        self.not_judged: frozenset[str] = frozenset()
        """Properties that cannot be judged, because the trace does not have all events."""

    def successors(self, line: EventLine, before: JavaObject) -> Found:
        """The successors under the line's action; if there is none, the one in which the event was refused."""
        found = self._model.successors(line.event, before)
        if len(found) == 1:
            return Found(found, True)
        if found:
            distinct = {self._model.fingerprint(state): state for state in found}
            return Found(list(distinct.values()), True)
        return Found(self._refused(line, before), False)

    def _refused(self, line: EventLine, before: JavaObject) -> list[JavaObject]:
        """A foreign line may leave the refusal out; a line that shows another one, or none, was not refused."""
        if line.event in NETWORK_EVENTS or not (line.refusal is UNSET or line.refusal in NOT_ALLOWED):
            return []
        return self._model.successors("Refuse", before)

    def violation(self, where: Where, after: JavaObject) -> Rejection | None:
        """The properties that the step violates, as a rejection."""
        if where.line.event in NETWORK_EVENTS or self._model.properties_hold(where.before, after):
            return None
        violated = self._judged(self._model.violated_properties(where.before, after))
        return self._diagnosis.violation(where, violated) if violated else None

    def violated_invariants(self, state: JavaObject) -> tuple[str, ...]:
        """The names of the whole invariants that the state violates."""
        return self._judged(self._model.violated_invariants(state))

    def _judged(self, violated: tuple[str, ...]) -> tuple[str, ...]:
        return tuple([name for name in violated if name not in self.not_judged])
