"""Diagnosis of a rejected line: the rules that explain it and the rules that the action cites.

The event is replayed on the reference with one mutant at a time.
If a mutant that omits a rule produces the recorded outcome, the traced software probably breaks that rule.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from msgspec import UNSET

from kraft_mutants.attribution import Attribution, defect_line, rules_in
from kraft_reference.configuration import Configuration
from kraft_reference.events import Event
from kraft_spec.action_rules import rules_of_event, rules_of_operators
from kraft_spec.difference import Difference
from kraft_spec.mapping import MESSAGE_TYPES, event_from_model, state_from_model
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.values import Function
from kraft_traces.alternatives.writes import LOG_ENDS, SYNC_RULE
from kraft_traces.check.attribution import attribute_line, explaining_rules
from kraft_traces.check.model import TraceModel
from kraft_traces.check.verdict import NOT_IN_FLIGHT, Conjunct, Rejection, RejectionKind
from kraft_traces.check.wording import MISSING
from kraft_traces.errors import IncompleteLineError
from kraft_traces.lines import EventLine
from kraft_traces.restore import event_of
from kraft_traces.vocabulary import HANDLE

CHECKPOINT = "Checkpoint"
"""Name of the event in the rejection of a checkpoint."""

_OPERATOR = re.compile(r"\b[A-Z]\w*")


@dataclass(frozen=True, slots=True)
class Where:
    """A line with the model's state before it, in which the event is bound."""

    number: int
    """Line number in the file, from 1."""
    line: EventLine
    before: JavaObject


def _concerned(differences: tuple[Difference, ...]) -> tuple[str, ...]:
    return (SYNC_RULE,) * any(it.expected.endswith(LOG_ENDS) for it in differences)


class Diagnosis:
    """Factory of the rejections of one trace."""

    def __init__(self, model: TraceModel, configuration: Configuration, source: str, *, attributes: bool) -> None:
        """Prepare the rejections; `attributes` if they name the rules behind a difference, which takes long."""
        self._model = model
        self._attributes = attributes
        self._configuration = configuration
        self._source = source
        self._deferred: list[tuple[Rejection, Where]] = []

    def deferred(self, where: Where, differences: tuple[Difference, ...]) -> Rejection:
        """Return the rejection as `mismatch`, whose broken rule `explained` searches for, if it is still needed."""
        rejection = self.mismatch(where, differences, is_deferred=True)
        self._deferred.append((rejection, where))
        return rejection

    def explained(self, rejection: Rejection) -> Rejection:
        """Return a rejection with its broken rule, if the search was deferred."""
        where = next((where for deferred, where in self._deferred if deferred is rejection), None)
        self._deferred.clear()
        return rejection if where is None else self._attribute(rejection, where, _concerned(rejection.differences))

    def forget(self) -> None:
        """Forget the rejections whose search is deferred, because the line is accepted in another form."""
        self._deferred.clear()

    def not_enabled(self, where: Where) -> Rejection:
        """Return the rejection of an event that the model does not allow, with the false conjunct."""
        guard = self._model.false_conjunct(where.line.event, where.before)
        if guard is None:
            return self._attribute(self._rejection(RejectionKind.NOT_ENABLED, where), where)
        conjunct = Conjunct(_shorten(guard.text), guard.module, guard.line, guard.operands)
        if conjunct.text == NOT_IN_FLIGHT:
            return self._not_sent(self._rejection(RejectionKind.NOT_ENABLED, where, conjunct=conjunct), where)
        # First the operators that the conjunct names, then those that contain it, innermost first.
        named = rules_of_operators(_OPERATOR.findall(guard.text))
        around = rules_of_operators(reversed(guard.operators))
        # A guard on the role that cites no rule belongs to the table of roles.
        roles = ("state.roles",) if not named and _is_about_role(guard.text) else ()
        concerned = (*named, *roles, *around)
        rejection = self._rejection(RejectionKind.NOT_ENABLED, where, concerned=concerned, conjunct=conjunct)
        return self._attribute(rejection, where, concerned)

    def mismatch(
        self, where: Where, differences: tuple[Difference, ...], *, explain: bool = True, is_deferred: bool = False
    ) -> Rejection:
        """Return the rejection of a line that differs from the model; with `explain`, search for the broken rule."""
        rejection = self._rejection(RejectionKind.MISMATCH, where, differences=differences)
        missing = [it.actual == MISSING for it in differences]
        if is_deferred:
            pass
        elif explain:
            rejection = self._attribute(rejection, where, _concerned(differences))
        elif not any(missing) and all(it.field.startswith("message.") for it in differences):
            rejection = replace(self._not_sent(rejection, where), sent_at=self._bound(where).get("sent"))
        return replace(rejection, left_out="nothing" if not any(missing) else "all" if all(missing) else "some")

    def _not_sent(self, rejection: Rejection, where: Where) -> Rejection:
        """Replace the rules by those of the sender, because the delivered message was never sent."""
        kind = MESSAGE_TYPES[where.line.event.removeprefix(HANDLE)]
        return replace(rejection, rules=rules_in(kind.__doc__ or ""), is_attributed=True)

    def violation(self, where: Where, properties: tuple[str, ...]) -> Rejection:
        """Return the rejection of a step of the model that violates properties."""
        return self._rejection(RejectionKind.PROPERTY, where, properties=properties)

    def checkpoint(
        self, number: int, sequence: int, differences: tuple[Difference, ...], properties: tuple[str, ...] = ()
    ) -> Rejection:
        """Return the rejection of a checkpoint that differs from the state before it, or that no run reaches."""
        return Rejection(
            kind=RejectionKind.CHECKPOINT,
            source=self._source,
            line=number,
            sequence=sequence,
            event=CHECKPOINT,
            replica=None,
            role=None,
            rules=(),
            differences=differences,
            properties=properties,
        )

    def ambiguous(self, where: Where) -> Rejection:
        """Return the rejection of a complete line with several successors."""
        return self._rejection(RejectionKind.AMBIGUOUS, where)

    def _attribute(self, rejection: Rejection, where: Where, concerned: tuple[str, ...] = ()) -> Rejection:
        """Put the rules behind the difference before those that the action cites; `concerned` come between.

        `concerned` are the rules of the false conjunct.
        """
        if rejection.replica is None or not self._attributes:
            return rejection
        try:
            attribution = self._attribution(rejection, rejection.replica, where)
        except Exception as error:  # a defect of attribution must not cost the verdict
            return replace(rejection, note=defect_line(error), is_attributed=bool(concerned))
        if attribution is None:
            return rejection
        is_attributed = bool(concerned) or attribution.is_exact or bool(attribution.why)
        explained_by = explaining_rules(attribution.suspects)
        rules = tuple(dict.fromkeys((*explained_by, *concerned, *attribution.rules)))
        return replace(rejection, rules=rules, explained_by=explained_by, is_attributed=is_attributed)

    def _attribution(self, rejection: Rejection, replica: int, where: Where) -> Attribution | None:
        """Return the rules behind the difference; None if the event of the line is not known."""
        event = self._event(where, replica)
        if event is None:
            return None
        before = state_from_model(_fields(state_before(self._model, where.before, replica)))
        return attribute_line(where.line, event, before, self._configuration, rejection.rules)

    def _event(self, where: Where, replica: int) -> Event | None:
        """Return the event of a line, completed from the model; None if no message in flight fits."""
        try:
            return event_of(where.line)  # type: ignore[return-value]
        except IncompleteLineError:
            event = self._bound(where)
        if event["type"]:
            ways = self._model.in_flight(where.before, event.get("sent", 0))
            arrived = [way for way in ways if way.receiver == replica and way.message["type"] == event["type"]]
            if not arrived:
                return None
            event["message"] = _fields(arrived[0].message)
        return event_from_model(event, self._configuration.cluster_id)

    def _bound(self, where: Where) -> dict[str, Any]:
        """Return the event as bound in the model."""
        bound = self._model.variable("event", where.before)
        assert isinstance(bound, Function), "an event is a record"
        return _fields(bound)

    def _rejection(
        self,
        kind: RejectionKind,
        where: Where,
        *,
        concerned: tuple[str, ...] = (),
        conjunct: Conjunct | None = None,
        differences: tuple[Difference, ...] = (),
        properties: tuple[str, ...] = (),
    ) -> Rejection:
        line = where.line
        replica = None if line.replica is UNSET else line.replica
        role = None if replica is None else str(self._model.replica_summaries(where.before)[replica].role)
        pre_vote = getattr(line.message, "pre_vote", UNSET)
        # The recorded role after the event selects rules, unless that role is what differs.
        recorded = UNSET if line.state is UNSET else line.state.role
        after = None if recorded is UNSET or any(it.field == "state.role" for it in differences) else recorded
        stated = rules_of_event(line.event, role, None if pre_vote is UNSET else pre_vote, after)
        off = tuple(rule for rule in stated if rule in self._model.switched_off)
        return Rejection(
            kind=kind,
            source=self._source,
            line=where.number,
            sequence=line.sequence,
            event=line.event,
            replica=replica,
            role=role,
            rules=tuple(dict.fromkeys((*concerned, *off, *stated))),
            conjunct=conjunct,
            differences=differences,
            properties=properties,
        )


def _fields(record: Function) -> dict[str, Any]:
    return {str(field): value for field, value in record.items()}


def _is_about_role(conjunct: str) -> bool:
    return ".role" in conjunct or "Runs(" in conjunct


def _shorten(conjunct: str) -> str:
    """Return the text of a conjunct; of an existential quantifier, only its range."""
    return conjunct.split(" : ", 1)[0] if conjunct.startswith("\\E ") else conjunct


def state_before(model: TraceModel, state: JavaObject, replica: int) -> Function:
    """Return the state of one replica in a state of the model."""
    state_of_replica = model.decode(model.replica_records(state)[replica])
    assert isinstance(state_of_replica, Function), "a replica's state is a record"
    return state_of_replica
