"""Why a line is rejected, in terms of rules: which one is missing, and which ones the action states.

The reference does one thing otherwise at a time, and names rules where that gives what is shown.
If a mutant that omits one rule does, the traced software does not keep that rule.
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
from kraft_spec.tlc.values import Function, TlaValue
from kraft_traces.check.attribution import attributed_line, rules_left_out
from kraft_traces.check.model import TraceModel
from kraft_traces.check.verdict import NOT_IN_FLIGHT, Conjunct, Rejection, RejectionKind
from kraft_traces.check.wording import MISSING
from kraft_traces.errors import IncompleteLineError
from kraft_traces.latitude.writes import LOG_ENDS, SYNC_RULE
from kraft_traces.lines import EventLine
from kraft_traces.restore import event_of
from kraft_traces.vocabulary import HANDLE

CHECKPOINT = "Checkpoint"
"""What a rejection calls the event of a checkpoint."""

_OPERATOR = re.compile(r"\b[A-Z]\w*")


@dataclass(frozen=True, slots=True)
class Where:
    """A line, and the model's state before it with the event bound."""

    number: int
    """Line number in the file, from 1."""
    line: EventLine
    before: JavaObject


class Diagnosis:
    """Makes the rejections of one trace."""

    def __init__(self, model: TraceModel, configuration: Configuration, source: str) -> None:
        self._model = model
        self._configuration = configuration
        self._source = source

    def not_enabled(self, where: Where) -> Rejection:
        """The model's action is not possible: name the false conjunct."""
        found = self._model.false_conjunct(where.line.event, where.before)
        if found is None:
            return self._attributed(self._rejection(RejectionKind.NOT_ENABLED, where), where)
        conjunct = Conjunct(_shortened(found.text), found.module, found.line, found.operands)
        if conjunct.text == NOT_IN_FLIGHT:
            return self._not_sent(self._rejection(RejectionKind.NOT_ENABLED, where, conjunct=conjunct), where)
        # The operators that the conjunct names, then those that it stands in, the innermost first.
        named = rules_of_operators(_OPERATOR.findall(found.text))
        around = rules_of_operators(reversed(found.operators))
        # A guard on the role that names no rule is about the table of roles as a whole.
        roles = ("state.roles",) if not named and _is_about_role(found.text) else ()
        concerned = (*named, *roles, *around)
        rejection = self._rejection(RejectionKind.NOT_ENABLED, where, concerned=concerned, conjunct=conjunct)
        return self._attributed(rejection, where, concerned)

    def mismatch(self, where: Where, differences: tuple[Difference, ...], *, explain: bool = True) -> Rejection:
        """The line shows something else than the model gives; `explain` asks for the missing rule."""
        found = self._rejection(RejectionKind.MISMATCH, where, differences=differences)
        missing = [one.actual == MISSING for one in differences]
        concerned = (SYNC_RULE,) * any(one.expected.endswith(LOG_ENDS) for one in differences)
        if explain:
            found = self._attributed(found, where, concerned)
        elif not any(missing) and all(one.field.startswith("message.") for one in differences):
            found = replace(self._not_sent(found, where), sent_at=self._bound(where).get("sent"))
        return replace(found, left_out="nothing" if not any(missing) else "all" if all(missing) else "some")

    def _not_sent(self, rejection: Rejection, where: Where) -> Rejection:
        """Nobody has sent the message that arrives: it is its sender that is to be looked at, not its receiver."""
        kind = MESSAGE_TYPES[where.line.event.removeprefix(HANDLE)]
        return replace(rejection, rules=rules_in(kind.__doc__ or ""), is_attributed=True)

    def violation(self, where: Where, properties: tuple[str, ...]) -> Rejection:
        """The step is the model's, but violates properties."""
        return self._rejection(RejectionKind.PROPERTY, where, properties=properties)

    def checkpoint(
        self, number: int, sequence: int, differences: tuple[Difference, ...], properties: tuple[str, ...] = ()
    ) -> Rejection:
        """A checkpoint shows another state than the lines before it lead to, or one that no run comes to."""
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
        """A complete line has several successors."""
        return self._rejection(RejectionKind.AMBIGUOUS, where)

    def _attributed(self, rejection: Rejection, where: Where, concerned: tuple[str, ...] = ()) -> Rejection:
        """The rejection with the rules behind what differs before those that its action states.

        Before them stand those that the false conjunct is concerned with.
        """
        if rejection.replica is None:
            return rejection
        try:
            found = self._attribution(rejection, rejection.replica, where)
        except Exception as error:  # no defect of attribution costs the verdict
            return replace(rejection, note=defect_line(error), is_attributed=bool(concerned))
        if found is None:
            return rejection
        is_attributed = bool(concerned) or found.is_exact or bool(found.why)
        explained_by = rules_left_out(found.suspects)
        rules = tuple(dict.fromkeys((*explained_by, *concerned, *found.rules)))
        return replace(rejection, rules=rules, explained_by=explained_by, is_attributed=is_attributed)

    def _attribution(self, rejection: Rejection, replica: int, where: Where) -> Attribution | None:
        """The rules behind what differs; None if it is not known what happens in the line."""
        event = self._event(where, replica)
        if event is None:
            return None
        before = state_from_model(_fields(state_before(self._model, where.before, replica)))
        return attributed_line(where.line, event, before, self._configuration, rejection.rules)

    def _event(self, where: Where, replica: int) -> Event | None:
        """What happens in a line; the model knows what the line leaves out of it, unless nothing fits."""
        try:
            return event_of(where.line)  # type: ignore[return-value]
        except IncompleteLineError:
            event = self._bound(where)
        if event["type"]:
            ways = self._model.on_their_way(where.before, event.get("sent", 0))
            arrived = [way for way in ways if way.receiver == replica and way.message["type"] == event["type"]]
            if not arrived:
                return None
            event["message"] = _fields(arrived[0].message)
        return event_from_model(event, self._configuration.cluster_id)

    def _bound(self, where: Where) -> dict[str, Any]:
        """The event as the model has it."""
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
        role = None if replica is None else str(state_before(self._model, where.before, replica)["role"])
        pre_vote = getattr(line.message, "pre_vote", UNSET)
        # The line is wrong somewhere: its role after the event counts where nothing is wrong with that.
        shown = UNSET if line.state is UNSET else line.state.role
        after = None if shown is UNSET or any(one.field == "state.role" for one in differences) else shown
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


def _shortened(conjunct: str) -> str:
    """The text of a conjunct; of a quantifier over nothing only what it ranges over."""
    return conjunct.split(" : ", 1)[0] if conjunct.startswith("\\E ") else conjunct


def state_before(model: TraceModel, state: JavaObject, replica: int) -> Function:
    """The model's state of one replica."""
    replicas: TlaValue = model.variable("replicas", state)
    found = replicas[replica - 1] if isinstance(replicas, tuple) else replicas[replica]  # type: ignore[index]
    assert isinstance(found, Function), "a replica's state is a record"
    return found
