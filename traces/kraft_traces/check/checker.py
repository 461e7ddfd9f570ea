"""Check of a trace against the model, line by line.

The checker binds each line to the model's variable `event`, asks TLC for the successors of the action that the line
names, and keeps those that agree with the line.
A complete line leaves one successor.
A foreign line with missing fields may leave several, and the checker follows all of them, up to a bound (`candidates`).
A property counts as violated only if every branch that survives to the end violates it.

The reader has already checked each line by itself and its continuity with the lines before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

import jpype
from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_simulation.checkpoint import Checkpoint
from kraft_spec.difference import Difference
from kraft_spec.tlc.jar import TlcBridgeError
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.alternatives.high_watermarks import checkpoint_as_unknown, line_as_unknown
from kraft_traces.check.advancing import Advancing
from kraft_traces.check.binding import (
    UnrepresentableError,
    delivered_id,
    message_place,
)
from kraft_traces.check.candidates import (
    BESIDES_MAX,
    BESIDES_PER_LINE,
    Branch,
    InconclusiveError,
    other_answers,
)
from kraft_traces.check.checkpoints import agreeing_branches, opening_states
from kraft_traces.check.compared import ShownFields
from kraft_traces.check.correlations import Correlations
from kraft_traces.check.diagnosis import Where, state_before
from kraft_traces.check.fetch_answers import with_late_answers_last
from kraft_traces.check.flights import Flights
from kraft_traces.check.judged import NEED_WHOLE_HISTORY, compared_without, judged_without
from kraft_traces.check.model import ReplicaSummary, TraceModel
from kraft_traces.check.observing import take_requests, waiting_fetches, with_observed
from kraft_traces.check.opaque import Opaque, check_cluster, with_own_id
from kraft_traces.check.saved import Begin, SavedBranch, SavedChecker, checkpoint_to_resume, saved_state
from kraft_traces.check.unrecorded import Unrecorded, resume_state, sent_message, with_message
from kraft_traces.check.verdict import Rejection, Verdict, VerdictKind
from kraft_traces.check.wording import MISSING, NOTHING, WHOLE
from kraft_traces.check.writes import SyncedAhead, log_start
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.checkpoints import CheckpointError, checkpoint_of
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage
from kraft_traces.messages import message_of

EVERY = 500
"""Number of events between two checks of the full invariants, which are checked at the end as well."""

CANDIDATES_MAX = 256
"""Maximum number of candidate states of a foreign trace at one line."""


class TraceChecker:
    """Checker of the lines of one trace: `feed` each line in order, then `finish`."""

    def __init__(
        self,
        model: TraceModel,
        configuration: Configuration,
        source: str,
        *,
        own: bool,
        every: int = EVERY,
        candidates_max: int = CANDIDATES_MAX,
        start: CheckpointLine | None = None,
        opaque: frozenset[int] = frozenset(),
        attributes: bool = True,
    ) -> None:
        """Check a trace from its beginning, or from the checkpoint `start`, which is trusted.

        `own` if the trace was written by this project's reference, so that every field is present; `opaque` are the
        replicas that its header declares as not observed; `attributes` if a rejection names the rules behind it.

        Raises:
            CheckpointError, ValueConversionError: no run can continue from the checkpoint.
        """
        self._model = model
        self._source = source
        self._own = own
        self._every = every
        self._configuration = configuration
        self._opaque = Opaque.of(opaque)
        self._flights = Flights(configuration.cluster_id, own=own, opaque=self._opaque.now)
        self._advancing = Advancing(
            model,
            configuration,
            source,
            self._flights,
            self._opaque,
            own=own,
            candidates_max=candidates_max,
            attributes=attributes,
        )
        self._steps, self._diagnosis = self._advancing.steps, self._advancing.diagnosis
        if opaque:
            self._steps.not_judged = NEED_WHOLE_HISTORY
        self._correlations = Correlations()
        self._unrecorded = Unrecorded()
        self._shown = ShownFields(own=own)
        self._events = 0
        self._start = start
        if start is not None:
            self._begin_at(start)
        self._widest = 1
        self._besides = 0
        self._inconclusive: str | None = None
        self._last: tuple[int, EventLine] | None = None

    @cached_property
    def _branches(self) -> list[Branch]:
        """Candidate states after the lines so far; the first state is computed lazily, because it needs TLC."""
        if self._start is None:
            return [Branch(self._model.start(self._configuration, self._opaque.declared))]
        return [Branch(self._state_at(checkpoint_of(self._start), is_part=True))]

    def _state_at(self, checkpoint: Checkpoint, *, is_part: bool = False) -> JavaObject:
        opaque = frozenset(self._opaque.now)
        return self._model.state_at(self._configuration, checkpoint, is_part=is_part, opaque=opaque)

    def _begin_at(self, start: CheckpointLine) -> None:
        if not self._opaque.declared and not start.has_whole_history:
            raise CheckpointError("$.history", "missing field 'past', which the properties need", "missing")
        self._events = start.sequence
        self._correlations.begin_at(start, start)
        self._flights.begin_at(start)

    @property
    def is_over(self) -> bool:
        """True if the trace has become inconclusive."""
        return self._inconclusive is not None

    @property
    def unknown(self) -> frozenset[int]:
        """Replicas whose state is unknown, because events of theirs are not recorded."""
        return frozenset(self._unrecorded.unknown)

    @property
    def messages_remembered(self) -> int:
        """Number of in-flight messages that are kept for comparison with their delivery."""
        return len(self._flights)

    @property
    def states(self) -> tuple[JavaObject, ...]:
        """Candidate states of the model after the lines so far: one, unless fields are missing."""
        return tuple(branch.state for branch in self._branches)

    def feed(self, number: int, line: EventLine) -> Rejection | None:
        """Check one line, whose number in the file is `number`.  After a rejection the trace is over."""
        self._last = (number, line)
        original, unsent = line, False
        try:
            if line.unrecorded:
                if self._own:
                    return self._mismatch(number, line, (Difference("unrecorded", MISSING, str(line.unrecorded)),))
                self._begin_gap(number, line.unrecorded)
            if not self._own:
                line = with_late_answers_last(
                    self._prepare(line_as_unknown(line, partial(self._is_first_of_all, line)))
                )
                unsent = self._opaque.is_unsent(line, self._correlations.number_of)
                anew = unsent and line.message.source in self._opaque.now  # type: ignore[union-attr]
                line, unknown = self._correlations.line(line, unsent=unsent, anew=anew)
                if unsent:
                    check_cluster(line, self._configuration.cluster_id)
                    line = with_own_id(line)
                if unknown:
                    return self._mismatch(number, line, unknown)
            if line.replica in self._unrecorded.unknown:
                return self._pass_over(number, line)
            if unsent:
                self._deliver_unsent(line, original)
            elif self._unrecorded.partial:
                self._deliver_unrecorded(line, original)
            advanced = self._advancing.advance(number, line, self._branches)
        except (InconclusiveError, UnrepresentableError) as reason:
            self._inconclusive = f"line {number}: {reason}"
            return None
        except (jpype.JException, TlcBridgeError) as failure:
            self._inconclusive = f"line {number}: the model cannot evaluate {line.event} here: {failure}"
            return None
        if isinstance(advanced, Rejection):
            return advanced
        self._branches = advanced
        self._widest = max(self._widest, len(advanced))
        self._besides += len(advanced) - 1
        bound = BESIDES_MAX + BESIDES_PER_LINE * line.sequence
        if self._besides > bound:
            self._inconclusive = (
                f"line {number}: the trace omits too many fields: the lines so far leave more than {bound:,} "
                f"additional candidate states ({BESIDES_MAX:,}, and {BESIDES_PER_LINE} for each line)"
            )
            return None
        self._flights.follow(line)
        self._shown.count(line)
        self._events += 1
        if self._events % self._every == 0:
            return self._check_invariants(number, line)
        return None

    def _begin_gap(self, number: int, replicas: tuple[int, ...]) -> None:
        self._unrecorded.begin(number, replicas)
        self._steps.not_judged = NEED_WHOLE_HISTORY
        for replica in replicas:
            self._correlations.lose(replica)
            self._advancing.ahead.forget(replica)

    def _prepare(self, line: EventLine) -> EventLine:
        """Give an id to a message that no line sends, and learn from a state the requests that its replica awaits."""
        if line.replica in self._unrecorded.unknown and line.state is not UNSET and line.state.awaiting:
            self._correlations.resume(line.replica, dict(line.state.awaiting), line.sequence)
        return self._unrecorded.with_message_id(line)

    def _pass_over(self, number: int, line: EventLine) -> Rejection | None:
        """Take a line of a replica whose state is unknown; only its message is checked."""
        differing = self._flights.differences(line)
        if differing:
            return self._mismatch(number, line, differing)
        self._flights.follow(line)
        self._shown.count(EventLine(sequence=line.sequence, replica=line.replica, event=line.event))
        self._events += 1
        opaque = frozenset(self._opaque.now)
        states = [
            resume_state(self._model, self._configuration, branch.state, line, opaque) for branch in self._branches
        ]
        if all(state is not None for state in states):
            branches = zip(self._branches, states, strict=True)
            self._branches = [replace(branch, state=state) for branch, state in branches]
            self._unrecorded.unknown.remove(line.replica)  # type: ignore[arg-type]
        return None

    def _deliver_unrecorded(self, line: EventLine, original: EventLine) -> None:
        """Add a message of a replica with unrecorded events to the model's network."""
        identifier = delivered_id(line)
        if identifier is UNSET and line.input is not UNSET:
            identifier = line.input.message_id
        if identifier is UNSET:
            return
        message = self._flights.message(identifier) or sent_message(line, original)
        if message is None or message.source not in self._unrecorded.partial:
            return
        self._send(message_place(identifier).sent, message)

    def _deliver_unsent(self, line: EventLine, original: EventLine) -> None:
        """Add a message that no line sends to the model's network."""
        message = sent_message(line, original)
        if message is not None:
            self._send(line.sequence, message)

    def _send(self, sent: int, message: TracedMessage) -> None:
        self._flights.send(message)
        self._branches = [
            replace(branch, state=with_message(self._model, branch.state, sent, message)) for branch in self._branches
        ]

    def begin_of_fast_path(self) -> Begin | None:
        """Return the state from which the compiled model can continue; None if that would lose information."""
        if self._unrecorded.unknown or any(branch.violation is not None for branch in self._branches):
            return None
        sent = self._flights.in_flight()
        if sent is None:
            return None
        known = self._correlations.snapshot()
        return Begin(
            self._branches, sent, known, self._advancing.ahead.snapshot(), self._besides, self._opaque.as_json()
        )

    def save(self) -> SavedChecker | None:
        """Return the state after the lines so far; None if it cannot be restored at this line."""
        sent = self._flights.in_flight()
        if self.is_over or sent is None or any(branch.violation is not None for branch in self._branches):
            return None
        checkpoints = [
            saved_state(self._model, self._configuration, branch.state, self._events) for branch in self._branches
        ]
        # Fetches that arrived before their receiver was observed may have one id, until they are answered.
        messages = [self._model.messages(branch.state) for branch in self._branches]
        if messages != [len(checkpoint.network) for checkpoint in checkpoints]:
            return None
        branches = tuple(
            SavedBranch(checkpoint, tuple(sorted(branch.taken)))
            for checkpoint, branch in zip(checkpoints, self._branches, strict=True)
        )
        unrecorded = self._unrecorded
        return SavedChecker(
            branches,
            tuple((name, copies, message) for name, (copies, message) in sent.items()),
            None if self._own else self._correlations.snapshot(),
            self._advancing.ahead.snapshot(),
            self._opaque.as_json(),
            self._besides,
            self._events,
            tuple(sorted(unrecorded.unknown)),
            tuple(sorted(unrecorded.partial)),
            tuple(unrecorded.gaps),
        )

    def resume(self, saved: SavedChecker) -> None:
        """Continue from a state that an earlier checker of this trace saved."""
        self._opaque.restore(saved.opaque)
        self._advancing.ahead = SyncedAhead.restored(saved.ahead)
        self._branches = [
            Branch(
                self._state_at(checkpoint_to_resume(self._model, self._configuration, branch.checkpoint), is_part=True),
                taken=frozenset(branch.taken),
            )
            for branch in saved.branches
        ]
        self._besides, self._events = saved.besides, saved.events
        self._flights.skip({name: (copies, message) for name, copies, message in saved.in_flight})
        if saved.correlations is not None:
            self._correlations.restore(saved.correlations)
        self._unrecorded = Unrecorded(set(saved.unknown), set(saved.partial), list(saved.gaps))
        if saved.partial:
            self._steps.not_judged = NEED_WHOLE_HISTORY

    def replica_summaries(self) -> Mapping[int, ReplicaSummary]:
        """Return the replicas of the first candidate state after the lines so far."""
        return self._model.replica_summaries(self._branches[0].state)

    def skip(
        self, begin: Begin, recorded: Mapping[tuple[str, int], int], widest: int, last: tuple[int, EventLine]
    ) -> None:
        """Take lines that the compiled model accepted, up to the `last` with its number.

        `recorded` counts these lines by event and bits of the recorded fields; `widest` is the maximum of their states.
        """
        self._branches = self._advancing.candidates.in_order(begin.branches)
        self._besides = begin.besides
        self._widest = max(self._widest, widest)
        self._flights.skip(begin.in_flight)
        if not self._own:
            self._correlations.restore(begin.correlations)
            self._advancing.ahead = SyncedAhead.restored(begin.ahead)
        for (event, bits), lines in recorded.items():
            self._shown.count_lines(event, bits, lines)
        self._events += sum(recorded.values())
        self._last = last

    def agrees(
        self,
        number: int,
        line: EventLine,
        before: Sequence[Branch],
        after: Sequence[Branch],
        ahead: Mapping[str, object],
    ) -> bool:
        """Return the result of `Advancing.agrees`."""
        return self._advancing.agrees(number, line, before, after, ahead)

    def feed_checkpoint(self, number: int, line: CheckpointLine) -> Rejection | None:
        """Check a checkpoint as `feed` checks an event line."""
        try:
            return self._follow_checkpoint(number, line)
        except (jpype.JException, TlcBridgeError) as failure:
            self._inconclusive = f"line {number}: the model cannot represent this checkpoint: {failure}"
            return None

    def _follow_checkpoint(self, number: int, line: CheckpointLine) -> Rejection | None:
        """Compare a checkpoint with the lines before it, and continue from it.

        The lines after it are checked as if the trace began there.  So the invariants are checked here, and only the
        candidate state that agrees with the checkpoint is kept.
        """
        if not self._own:
            line = checkpoint_as_unknown(line)
        original = line
        known = [replica for replica in line.observed if self._is_observed(replica)]
        if known or (line.history is UNSET and not line.observed and not self._opaque.declared):
            unexpected = Difference("observed", NOTHING, str(known)) if known else Difference("history", WHOLE, MISSING)
            return self._diagnosis.checkpoint(number, line.sequence, (unexpected,))
        if line.observed:
            return self._observe(number, line)
        opens = line.has_whole_history or bool(self._opaque.declared)
        if not self._own and self._last is None and line.sequence == 0 and opens:
            return self._open_at(number, line)
        if self._unrecorded.partial:
            self._end_gaps(line)
            return None
        unknown: tuple[Difference, ...] = ()
        if not self._own:
            line, unknown = self._correlations.checkpoint(line)
        violation = None if self._last is None else self._check_invariants(*self._last)
        if violation is not None:
            return violation
        differing = (*unknown, *self._flights.checkpoint_differences(line))
        if differing:
            return self._diagnosis.checkpoint(number, line.sequence, differing)
        agreeing, differing = agreeing_branches(self._model, self._configuration, self._branches, line)
        if not agreeing:
            return self._diagnosis.checkpoint(number, line.sequence, differing)
        if all(branch.violation is not None for branch in agreeing):
            return agreeing[0].violation
        self._branches = [replace(agreeing[0], violation=None)]
        self._besides = 0
        self._flights.begin_at(line)
        if not self._own:
            self._correlations.begin_at(original, line)
        return None

    def _is_first_of_all(self, line: EventLine) -> bool:
        assert line.replica is not UNSET, "the network sends nothing"
        state = state_before(self._model, self._branches[0].state, line.replica)
        return state["epoch_start_offset"] == 0 and log_start(state) == 0

    def _open_at(self, number: int, line: CheckpointLine) -> Rejection | None:
        """Begin a foreign run at a checkpoint before its first event, with disks that are not empty.

        No lines lead there.  So its states are compared with its history, and both are checked against the invariants.
        """
        self._begin_at(line)
        is_part = bool(self._opaque.declared)
        begins, whole, differing = opening_states(self._configuration, line, is_part=is_part)
        violated = self._steps.violated_invariants(self._state_at(whole))
        if violated or differing:
            return self._diagnosis.checkpoint(number, line.sequence, differing, violated)
        state = self._state_at(begins)
        fetches = [message_of(fetch) for fetch in waiting_fetches(line)]
        self._branches = [Branch(self._model.with_waiting_fetches(state, 0, fetches) if fetches else state)]
        return None

    def _is_observed(self, replica: int) -> bool:
        return replica not in self._opaque.now and replica not in self._unrecorded.partial

    def _observe(self, number: int, line: CheckpointLine) -> Rejection | None:
        """Continue with the states of replicas that are observed from a checkpoint on."""
        fetches, states = take_requests(self._correlations, line)
        for replica in line.observed:
            self._opaque.observe(replica, line.sequence)
            self._unrecorded.unknown.discard(replica)
        opaque = frozenset(self._opaque.now)
        branches: list[Branch] = []
        violated: tuple[str, ...] = ()
        for branch in self._branches:
            state = with_observed(self._model, self._configuration, branch.state, line, states, opaque)
            violated = violated or self._steps.violated_invariants(state)
            if fetches:
                state = self._model.with_waiting_fetches(state, line.sequence, fetches)
            branches.append(replace(branch, state=state))
        self._branches = branches
        return self._diagnosis.checkpoint(number, line.sequence, (), violated) if violated else None

    def _end_gaps(self, line: CheckpointLine) -> None:
        """Continue from a checkpoint, which has the states that the gaps before it leave open."""
        if line.has_whole_history:
            self._begin_at(line)
            self._branches = [Branch(self._state_at(checkpoint_of(line), is_part=True))]
            self._unrecorded.end()
            self._steps.not_judged = frozenset()

    def _mismatch(self, number: int, line: EventLine, differing: tuple[Difference, ...]) -> Rejection:
        return self._advancing.mismatch(number, line, self._branches, differing)

    def _check_invariants(self, number: int, line: EventLine) -> Rejection | None:
        for index, branch in enumerate(self._branches):
            violated = () if branch.violation is not None else self._steps.violated_invariants(branch.state)
            if violated:
                rejection = self._diagnosis.violation(Where(number, line, branch.state), violated)
                self._branches[index] = replace(branch, violation=rejection)
        return self._branches[0].violation if self._own else None

    def finish(self, *, complete: bool, ended: bool | None = None, rejection: Rejection | None = None) -> Verdict:
        """Return the verdict after the last line.

        Args:
            complete: True if the end line says that the run was over.
            ended: True if the trace has an end line; like `complete` if None.
            rejection: the last result of `feed`.
        """
        if rejection is None and self._inconclusive is None and self._last is not None:
            rejection = self._check_invariants(*self._last)
            if rejection is None and all(branch.violation is not None for branch in self._branches):
                rejection = self._branches[0].violation
        kind = VerdictKind.ACCEPTED
        reasons = list(self._unrecorded.gaps)
        if rejection is not None:
            kind = VerdictKind.REJECTED
            reasons.clear()
        elif self._inconclusive is not None or not complete:
            kind = VerdictKind.INCONCLUSIVE
            reasons.append(self._inconclusive or unfinished(ended=bool(ended)))
        return Verdict(
            kind=kind,
            source=self._source,
            events=self._events,
            complete=complete,
            candidates_max=self._widest,
            every=self._every,
            reason="; ".join(reasons) or None,
            rejection=rejection,
            switched_off=tuple(sorted(self._model.switched_off)),
            open_answers=min(other_answers(branch.taken) for branch in self._branches)[1],
            compared=compared_without(self._shown.compared(), self._opaque.declared),
            judged=judged_without(self._opaque.declared),
        )


def unfinished(*, ended: bool) -> str:
    """Return why the verdict on a trace without a wrong line is inconclusive; `ended` if it has an end line."""
    stops = "the end line says that the run was not over" if ended else "the trace stops without an end line"
    return f"{stops}: every recorded event conforms, but the trace is not complete"
