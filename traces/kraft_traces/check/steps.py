"""Steps of the model for one line, from one state with the event bound."""

from dataclasses import dataclass

from msgspec import UNSET

from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.check.comparison import NETWORK_EVENTS
from kraft_traces.check.diagnosis import Diagnosis, Where
from kraft_traces.check.model import PART_LINES, WHOLE_LINES, TraceModel
from kraft_traces.check.verdict import Rejection
from kraft_traces.lines import EventLine

NOT_ALLOWED = frozenset(
    ("NOT_RUNNING", "RUNNING", "NOT_IN_ROLE", "NOTHING_DUE", "CHANGE_NOT_ALLOWED", "SNAPSHOT_OUT_OF_RANGE")
)
"""Refusals of an event that the replica's state does not allow; the model's action must not be enabled then."""


@dataclass(frozen=True, slots=True)
class Successors:
    """Successor states of a line."""

    states: list[JavaObject]
    enabled: bool
    """True if the action is enabled; if not, the states are those in which the replica refused the event."""


class Steps:
    """Source of the model's steps for one trace."""

    def __init__(self, model: TraceModel, diagnosis: Diagnosis) -> None:
        self._model = model
        self._diagnosis = diagnosis
        self.not_judged: frozenset[str] = frozenset()
        """Properties that are not judged, because events are not recorded, or a replica is not observed.

        Either none, or those that compare with all committed records."""

    def successors(self, line: EventLine, before: JavaObject) -> Successors:
        """Return the successors under the line's action; if there is none, the one in which the event is refused."""
        states = self._model.successors(line.event, before)
        if len(states) == 1:
            return Successors(states, True)
        if states:
            distinct = {self._model.fingerprint(state): state for state in states}
            return Successors(list(distinct.values()), True)
        return Successors(self._refused(line, before), False)

    def _refused(self, line: EventLine, before: JavaObject) -> list[JavaObject]:
        """Return the successor in which the event is refused, unless the line records another refusal or none."""
        if line.event in NETWORK_EVENTS or not (line.refusal is UNSET or line.refusal in NOT_ALLOWED):
            return []
        return self._model.successors("Refuse", before)

    def violation(self, where: Where, after: JavaObject) -> Rejection | None:
        """Return the rejection of a step that violates properties; None if it violates none."""
        operators = PART_LINES if self.not_judged else WHOLE_LINES
        if where.line.event in NETWORK_EVENTS or self._model.properties_hold(where.before, after, operators):
            return None
        violated = self._judged(self._model.violated_properties(where.before, after))
        if self.not_judged and not self._model.commit_the_same(where.before, after):
            violated += ("StateMachineSafety",)
        return self._diagnosis.violation(where, violated) if violated else None

    def violated_invariants(self, state: JavaObject) -> tuple[str, ...]:
        """Return the names of the full invariants that the state violates."""
        return self._judged(self._model.violated_invariants(state))

    def _judged(self, violated: tuple[str, ...]) -> tuple[str, ...]:
        return tuple([name for name in violated if name not in self.not_judged])
