"""Why a line is rejected, in terms of rules: which one is missing, and which ones the action states.

The model can switch rules off one at a time.
If a line that is wrong would be right without one of them, the traced software does not keep that rule.
If there is none, the reference does one thing otherwise at a time: it names rules where that gives what is shown.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_spec.action_rules import rules_of_event, rules_of_operators, switchable_rules
from kraft_spec.mapping import state_from_model
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.values import Function, TlaValue
from kraft_traces.check.attribution import attributed_line
from kraft_traces.check.comparison import NETWORK_EVENTS
from kraft_traces.check.differences import Difference
from kraft_traces.check.model import TraceModel
from kraft_traces.check.verdict import Conjunct, Rejection, RejectionKind
from kraft_traces.check.wording import MISSING
from kraft_traces.lines import EventLine

CHECKPOINT = "Checkpoint"
"""What a rejection calls the event of a checkpoint."""

_OPERATOR = re.compile(r"\b[A-Z]\w*")

Compare = Callable[[EventLine, JavaObject], tuple[Difference, ...]]


@dataclass(frozen=True, slots=True)
class Where:
    """A line, and the model's state before it with the event bound."""

    number: int
    """Line number in the file, from 1."""
    line: EventLine
    before: JavaObject


class Diagnosis:
    """Makes the rejections of one trace."""

    def __init__(self, model: TraceModel, configuration: Configuration, source: str, compare: Compare) -> None:
        self._model = model
        self._configuration = configuration
        self._source = source
        self._compare = compare

    def not_enabled(self, where: Where) -> Rejection:
        """The model's action is not possible: name the false conjunct."""
        found = self._model.false_conjunct(where.line.event, where.before)
        explained_by = self._explained_by(where)
        if found is None:
            return self._attributed(self._rejection(RejectionKind.NOT_ENABLED, where, explained_by=explained_by), where)
        conjunct = Conjunct(_shortened(found.text), found.module, found.line, found.operands)
        # The operators that the conjunct names, then those that it stands in, the innermost first.
        named = rules_of_operators(_OPERATOR.findall(found.text))
        around = rules_of_operators(reversed(found.operators))
        # A guard on the role that names no rule is about the table of roles as a whole.
        roles = ("state.roles",) if not named and _is_about_role(found.text) else ()
        concerned = (*named, *roles, *around)
        rejection = self._rejection(
            RejectionKind.NOT_ENABLED, where, explained_by=explained_by, concerned=concerned, conjunct=conjunct
        )
        return self._attributed(rejection, where, concerned)

    def mismatch(self, where: Where, differences: tuple[Difference, ...], *, explain: bool = True) -> Rejection:
        """The line shows something else than the model gives; `explain` asks for the missing rule."""
        explained_by = self._explained_by(where) if explain else ()
        found = self._rejection(RejectionKind.MISMATCH, where, explained_by=explained_by, differences=differences)
        found = self._attributed(found, where) if explain else found
        missing = [one.actual == MISSING for one in differences]
        return replace(found, left_out="nothing" if not any(missing) else "all" if all(missing) else "some")

    def violation(self, where: Where, properties: tuple[str, ...]) -> Rejection:
        """The step is the model's, but violates properties."""
        return self._rejection(RejectionKind.PROPERTY, where, properties=properties)

    def checkpoint(self, number: int, sequence: int, differences: tuple[Difference, ...]) -> Rejection:
        """A checkpoint shows another state than the lines before it lead to."""
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
        )

    def ambiguous(self, where: Where) -> Rejection:
        """A complete line has several successors."""
        return self._rejection(RejectionKind.AMBIGUOUS, where)

    def _explained_by(self, where: Where) -> tuple[str, ...]:
        """The rules without any one of which the line would be right."""
        model, line = self._model, where.line
        if line.event in NETWORK_EVENTS:
            return ()
        # Most rules make no difference to most lines: what shows the same is compared once.
        is_right: dict[str, bool] = {}
        explaining: list[str] = []
        for rule in switchable_rules():
            if rule in self._configuration.switched_off:
                continue
            before = model.without_rules(where.before, self._configuration, frozenset((rule,)))
            for after in model.successors(line.event, before):
                shown = model.observation("Observation", after)
                if shown not in is_right:
                    is_right[shown] = not self._compare(line, after)
                if is_right[shown]:
                    explaining.append(rule)
        return tuple(dict.fromkeys(explaining))

    def _attributed(self, rejection: Rejection, where: Where, concerned: tuple[str, ...] = ()) -> Rejection:
        """The rejection with the rules behind what differs before those that its action states.

        Before them stand those that the false conjunct is concerned with.
        """
        if rejection.replica is None or rejection.explained_by:
            return rejection
        record = state_before(self._model, where.before, rejection.replica)
        before = state_from_model({str(field): value for field, value in record.items()})
        found = attributed_line(where.line, before, self._configuration, rejection.rules)
        return replace(rejection, rules=tuple(dict.fromkeys((*concerned, *found.rules))))

    def _rejection(
        self,
        kind: RejectionKind,
        where: Where,
        *,
        explained_by: tuple[str, ...] = (),
        concerned: tuple[str, ...] = (),
        conjunct: Conjunct | None = None,
        differences: tuple[Difference, ...] = (),
        properties: tuple[str, ...] = (),
    ) -> Rejection:
        line = where.line
        replica = None if line.replica is UNSET else line.replica
        role = None if replica is None else str(state_before(self._model, where.before, replica)["role"])
        pre_vote = getattr(line.message, "pre_vote", UNSET)
        # The role after the event is what the line says, which is wrong somewhere.
        stated = rules_of_event(line.event, role, None if pre_vote is UNSET else pre_vote)
        off = tuple(rule for rule in stated if rule in self._configuration.switched_off)
        return Rejection(
            kind=kind,
            source=self._source,
            line=where.number,
            sequence=line.sequence,
            event=line.event,
            replica=replica,
            role=role,
            rules=tuple(dict.fromkeys((*explained_by, *concerned, *off, *stated))),
            explained_by=explained_by,
            conjunct=conjunct,
            differences=differences,
            properties=properties,
        )


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
