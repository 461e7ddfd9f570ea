"""Advance of the candidate states by one line: as the line is, or with its effects in another form.

A line that determines its event leaves one successor of one state; for other lines `candidates` follows all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_spec.difference import Difference
from kraft_traces.alternatives.decisions import OpenAnswer, is_open
from kraft_traces.alternatives.high_watermarks import as_unknown
from kraft_traces.check.binding import MissingFieldError, base, complete_event
from kraft_traces.check.candidates import Branch, Candidates
from kraft_traces.check.comparison import Comparison
from kraft_traces.check.diagnosis import Diagnosis, Where
from kraft_traces.check.fetch_answers import chosen_answers
from kraft_traces.check.flights import Flights
from kraft_traces.check.model import TraceModel
from kraft_traces.check.opaque import Opaque, correlation_id_of, with_own_id
from kraft_traces.check.steps import Steps
from kraft_traces.check.unrecorded import with_message
from kraft_traces.check.verdict import Rejection
from kraft_traces.check.wording import MISSING
from kraft_traces.check.writes import SyncedAhead, may_have_other_form
from kraft_traces.lines import EventLine


class Advancing:
    """Advance of the candidate states of one trace."""

    def __init__(
        self,
        model: TraceModel,
        configuration: Configuration,
        source: str,
        flights: Flights,
        opaque: Opaque,
        *,
        own: bool,
        candidates_max: int,
        attributes: bool,
    ) -> None:
        """Prepare the advance; the arguments are those of `TraceChecker`, and its in-flight messages."""
        self._model = model
        self._configuration = configuration
        self._own = own
        self._flights = flights
        self._opaque = opaque
        self.diagnosis = Diagnosis(model, configuration, source, attributes=attributes)
        self.steps = Steps(model, self.diagnosis)
        self._comparison = Comparison(model, own=own)
        self.candidates = Candidates(model, self.steps, self._comparison, self.diagnosis, configuration, candidates_max)
        self.ahead = SyncedAhead()

    def advance(self, number: int, line: EventLine, branches: Sequence[Branch]) -> list[Branch] | Rejection:
        """Return the states after a line, whose number in the file is `number`.

        Raises:
            InconclusiveError: the line leaves too much open.
            UnrepresentableError: the line has a number that the model cannot represent.
        """
        differing = (*self._flights.differences(line), *self.ahead.lost(line))
        if self._own:
            differing += self._comparison.missing_fields(line)
        if differing:
            return self.mismatch(number, line, branches, differing)
        advanced = self._advance_as_it_is(number, line, branches)
        if not isinstance(advanced, Rejection):
            self.ahead.follow(line)
            return advanced
        return self._advance_otherwise(number, line, branches, advanced)

    def _advance_otherwise(
        self, number: int, line: EventLine, branches: Sequence[Branch], rejection: Rejection
    ) -> list[Branch] | Rejection:
        """Advance by another form of a line that is rejected as it is."""
        if self._own or not (is_open(line.event, line.message, line.state) or may_have_other_form(line, rejection)):
            return self.diagnosis.explained(rejection)
        # Its writes, syncs and sends may be equivalent to the model's in normal form.
        advanced = self.candidates.advance(number, line, branches, self.ahead)
        if isinstance(advanced, Rejection):
            closer = 0 < len(advanced.differences) < len(rejection.differences)
            return self.diagnosis.explained(advanced if closer else rejection)
        self.diagnosis.forget()
        return advanced

    def _advance_as_it_is(self, number: int, line: EventLine, branches: Sequence[Branch]) -> list[Branch] | Rejection:
        has_choice = is_open(line.event, line.message, line.state)
        if self._own or (len(branches) == 1 and not has_choice and self._flights.is_sure(line)):
            try:
                return self._advance_complete(number, line, branches)
            except MissingFieldError as error:
                if self._own:
                    return self.mismatch(number, line, branches, (Difference(error.field, "a value", MISSING),))
        return self.candidates.advance(number, line, branches)

    def _advance_complete(self, number: int, line: EventLine, branches: Sequence[Branch]) -> list[Branch] | Rejection:
        """Advance in the common case of one branch and a line that determines its event.

        Raises:
            MissingFieldError: a field that determines the event is missing.
            UnrepresentableError: the line has a number that the model cannot represent.
        """
        branch = branches[0]
        event = complete_event(line, self._configuration.cluster_id)
        if not self._own:
            event.update(chosen_answers(line))
        before = self._model.bound(branch.state, event)
        possible = self.steps.successors(line, before)
        where = Where(number, line, before)
        if not possible.states:
            return self.diagnosis.not_enabled(where)
        if len(possible.states) > 1:
            if self._own:
                return self.diagnosis.ambiguous(where)
            raise MissingFieldError("what tells the successors apart")
        (after,) = possible.states
        differing = self._comparison.differences(line, after)
        if differing:
            # Another form of the line may be accepted, and the search for the broken rule takes a second.
            return self.diagnosis.deferred(where, differing)
        violation = branch.violation or self.steps.violation(where, after)
        if violation is not None and self._own:
            return violation
        return [replace(branch, state=after, violation=violation), *branches[1:]]

    def mismatch(
        self, number: int, line: EventLine, branches: Sequence[Branch], differing: tuple[Difference, ...]
    ) -> Rejection:
        """Return the rejection of a line that is wrong by itself, whatever the model says."""
        before = self._model.bound(branches[0].state, base(line))
        return self.diagnosis.mismatch(Where(number, line, before), differing, explain=False)

    def agrees(
        self,
        number: int,
        line: EventLine,
        before: Sequence[Branch],
        after: Sequence[Branch],
        ahead: Mapping[str, object],
    ) -> bool:
        """True if TLC also reaches exactly the states `after` from the states `before` by this line.

        `ahead` is the result of `SyncedAhead.snapshot` before the line.
        """
        if not self._own:
            branches = self.candidates.in_order(before)
            if line.state is not UNSET:
                line = msgspec.structs.replace(line, state=as_unknown(line.state))
            if self._opaque.is_unsent(line, correlation_id_of):
                line = with_own_id(line)
                message: Any = line.message
                branches = [
                    replace(branch, state=with_message(self._model, branch.state, line.sequence, message))
                    for branch in branches
                ]
            advanced = self.candidates.advance(number, line, branches)
            if isinstance(advanced, Rejection):
                advanced = self.candidates.advance(number, line, branches, SyncedAhead.restored(ahead))
            return not isinstance(advanced, Rejection) and self._reached(advanced) == self._reached(after)
        bound = self._model.bound(before[0].state.copy(), complete_event(line, self._configuration.cluster_id))
        branches = [Branch(state) for state in self.steps.successors(line, bound).states]
        if self._reached(branches) != self._reached(after):
            return False
        where, state = Where(number, line, bound), after[0].state
        return not self._comparison.differences(line, state) and self.steps.violation(where, state) is None

    def _reached(self, branches: Sequence[Branch]) -> dict[int, tuple[Rejection | None, frozenset[OpenAnswer]]]:
        return {self._model.fingerprint(branch.state): (branch.violation, branch.taken) for branch in branches}
