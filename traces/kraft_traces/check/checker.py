"""A trace against the model, line by line.

For each line the checker binds it to the model's variable `event`, asks TLC for the successors of the one action
that the line names, and keeps those that show what the line shows.
A complete line leaves one.
A foreign line that leaves fields out may leave several, and the checker goes on with all of them, up to a bound;
a property counts as violated only if no branch that survives to the end keeps it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_spec.action_rules import rules_of_event
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.values import Function, TlaValue
from kraft_traces.check.binding import Binding, Event, IncompleteLineError
from kraft_traces.check.model import TraceModel
from kraft_traces.check.observation import (
    STATE_FIELDS,
    Difference,
    canonical_effects,
    canonical_message,
    canonical_state,
    effect_differences,
    named_differences,
    tla_text,
)
from kraft_traces.check.text import observation_text
from kraft_traces.check.verdict import Conjunct, Rejection, RejectionKind, Verdict, VerdictKind
from kraft_traces.effects import TracedSend
from kraft_traces.lines import EventLine
from kraft_traces.messages import TracedMessage

EVERY = 500
"""The full invariants are checked every so many events, and at the end."""

CANDIDATES_MAX = 256
"""How many candidate states a foreign trace may have at one line."""

NETWORK_EVENTS = frozenset(("DropMessage", "DuplicateMessage", "AnswerUnsupportedVersion", "CutLink", "HealLink"))

NOT_ALLOWED = frozenset(("NOT_RUNNING", "RUNNING", "NOT_IN_ROLE", "NOTHING_DUE"))
"""Refusals of an event that the replica's role does not allow: the model's action must not be enabled."""

_STATE_NAMES = tuple(f"state.{name}" for name, _ in STATE_FIELDS)


@dataclass(frozen=True, slots=True)
class _Branch:
    """A state that agrees with all lines so far, and the first rejection on the way that a property gave."""

    state: JavaObject
    violation: Rejection | None = None


@dataclass(slots=True)
class _Flight:
    """A message on its way as its sender's line shows it, and how many copies."""

    message: TracedMessage
    copies: int = 1


class TraceChecker:
    """Checks the lines of one trace in order: `feed` each, then `finish`."""

    def __init__(
        self,
        model: TraceModel,
        configuration: Configuration,
        source: str,
        *,
        own: bool,
        every: int = EVERY,
        candidates_max: int = CANDIDATES_MAX,
        other_model: bool = False,
    ) -> None:
        """`own` says that the trace was written by this project's reference: every field is there.

        `other_model` says that its header names the hash of another model, which the verdict repeats.
        """
        self._model = model
        self._source = source
        self._own = own
        self._every = every
        self._candidates_max = candidates_max
        self._configuration = configuration
        self._other_model = other_model
        self._binding = Binding(tuple(configuration.replicas))
        self._branches = [_Branch(model.start(configuration))]
        self._messages: dict[str, _Flight] = {}
        self._events = 0
        self._widest = 1
        self._inconclusive: str | None = None
        self._last: tuple[int, EventLine] | None = None

    def feed(self, number: int, line: EventLine) -> Rejection | None:
        """Check one line; `number` is its line number in the file.  After a rejection the trace is over."""
        self._last = (number, line)
        rejection = self._message_rejection(number, line) or self._cause_rejection(number, line)
        if rejection is not None:
            return rejection
        if len(self._branches) == 1:
            advanced = self._advance_complete(number, line)
            if isinstance(advanced, Rejection):
                return advanced
            if advanced is None:
                rejection = self._advance_all(number, line)
        else:
            rejection = self._advance_all(number, line)
        if rejection is not None or self._inconclusive is not None:
            return rejection
        self._remember_messages(line)
        self._events += 1
        if self._events % self._every == 0:
            return self._check_invariants(number, line)
        return None

    @property
    def is_over(self) -> bool:
        """Has the trace become inconclusive?"""
        return self._inconclusive is not None

    def finish(self, *, complete: bool, rejection: Rejection | None = None) -> Verdict:
        """The verdict after the last line; `complete` is whether the trace says that it is."""
        if rejection is None and self._inconclusive is None and self._last is not None:
            rejection = self._check_invariants(*self._last)
            if rejection is None and all(branch.violation is not None for branch in self._branches):
                rejection = self._branches[0].violation
        kind = VerdictKind.ACCEPTED
        reason = self._inconclusive
        if rejection is not None:
            kind = VerdictKind.REJECTED
        elif reason is not None:
            kind = VerdictKind.INCONCLUSIVE
        elif not complete:
            kind = VerdictKind.INCONCLUSIVE
            reason = "the trace stops without an end line: what it shows is right, but it is not complete"
        return Verdict(
            kind=kind,
            source=self._source,
            events=self._events,
            complete=complete,
            candidates_max=self._widest,
            every=self._every,
            reason=reason,
            rejection=rejection,
            switched_off=tuple(sorted(self._configuration.switched_off)),
            other_model=self._other_model,
        )

    # -----------------------------------------------------------------------------------------------------
    # The common case: one branch, a complete line.
    # -----------------------------------------------------------------------------------------------------

    def _advance_complete(self, number: int, line: EventLine) -> bool | Rejection | None:
        """True if the line was complete and right; None if it leaves something out and has to be tried."""
        model = self._model
        branch = self._branches[0]
        try:
            event = self._binding.complete(line)
        except IncompleteLineError as error:
            self._inconclusive = f"line {number}: {error}"
            return True
        if event is None:
            return None
        name: str = line.event
        before = model.bound(branch.state, event)
        found = model.successors(name, before)
        if len(found) != 1:
            found = self._distinct(found)
        if not found:
            refused = self._refused(line, event, before)
            if refused is None:
                return self._not_enabled(number, line, before)
            found = [refused]
        if len(found) > 1:
            if self._own:
                return self._rejection(RejectionKind.AMBIGUOUS, number, line, before)
            return None
        (after,) = found
        differing = self._differences(line, after)
        if differing:
            return self._rejection(RejectionKind.MISMATCH, number, line, before, differences=tuple(differing))
        violation = branch.violation or self._violation(number, line, before, after)
        if violation is not None and self._own:
            return violation
        self._branches[0] = _Branch(after, violation)
        return True

    def _violation(self, number: int, line: EventLine, before: JavaObject, after: JavaObject) -> Rejection | None:
        if line.event in NETWORK_EVENTS or self._model.properties_hold(before, after):
            return None
        properties = self._model.violated_properties(before, after)
        return self._rejection(RejectionKind.PROPERTY, number, line, before, properties=properties)

    def _refused(self, line: EventLine, event: Event, before: JavaObject) -> JavaObject | None:
        """The successor of an event that the replica took no notice of, as the model says it must not."""
        refusal = line.refusal
        if line.event in NETWORK_EVENTS or refusal not in NOT_ALLOWED:
            return None
        bound = self._model.bound(before, {"sent": -1, **event})
        found = self._model.successors("Refuse", bound)
        return found[0] if found else None

    # -----------------------------------------------------------------------------------------------------
    # Several branches, or a line that leaves something out.
    # -----------------------------------------------------------------------------------------------------

    def _advance_all(self, number: int, line: EventLine) -> Rejection | None:
        survivors: dict[int, _Branch] = {}
        closest: Rejection | None = None
        for branch in self._branches:
            for before, after in self._tried_steps(number, line, branch):
                differing = self._differences(line, after)
                if differing:
                    found = self._rejection(RejectionKind.MISMATCH, number, line, before, differences=tuple(differing))
                    if closest is None or len(found.differences) < len(closest.differences):
                        closest = found
                    continue
                violation = branch.violation or self._violation(number, line, before, after)
                fingerprint = self._model.fingerprint(after)
                known = survivors.get(fingerprint)
                if known is None or (known.violation is not None and violation is None):
                    survivors[fingerprint] = _Branch(after, violation)
                if len(survivors) > self._candidates_max:
                    self._inconclusive = (
                        f"line {number}: more than {self._candidates_max} candidate states; "
                        f"the trace leaves out too much"
                    )
                    return None
        if not survivors:
            if closest is not None:
                return closest
            event = {"sent": -1, "destination": 0, "kept": 0, **self._binding.base(line)}
            return self._not_enabled(number, line, self._model.bound(self._branches[0].state.copy(), event))
        self._branches = [survivors[fingerprint] for fingerprint in sorted(survivors)]
        self._widest = max(self._widest, len(survivors))
        return None

    def _tried_steps(self, number: int, line: EventLine, branch: _Branch) -> Iterator[tuple[JavaObject, JavaObject]]:
        try:
            known = self._binding.complete(line)
        except IncompleteLineError as error:
            self._inconclusive = f"line {number}: {error}"
            return
        events: Iterable[Event]
        if known is not None:
            events = (known,)
        else:
            events = self._binding.tried(line, self._in_flight(line, branch), self._kept_ends(line, branch))
        for event in events:
            before = self._model.bound(branch.state.copy(), event)
            found = self._model.successors(line.event, before)
            if not found:
                refused = self._refused(line, event, before)
                found = [] if refused is None else [refused]
            for after in found:
                yield before, after

    def _in_flight(self, line: EventLine, branch: _Branch) -> Iterator[int]:
        """The sending lines of the messages on their way to the replica that the line may mean."""
        network = self._model.network(branch.state)
        assert isinstance(network, frozenset), "the network is a set"
        wanted = line.event.removeprefix("Handle")
        sent: list[int] = []
        for flight in network:
            assert isinstance(flight, Function), "a message on its way is a record"
            message = flight["message"]
            assert isinstance(message, Function), "a message is a record"
            if message["type"] == wanted and message["to"] == line.replica:
                sent.append(int(flight["sent"]))  # type: ignore[arg-type]
        yield from sorted(sent)

    def _kept_ends(self, line: EventLine, branch: _Branch) -> range:
        if line.event != "Crash":
            return range(0)
        assert line.replica is not UNSET, "a crash happens at a replica"
        state = self._state_before(branch.state, line.replica)
        log = state["log"]
        return range(int(state["flushed"]), len(log) + 1)  # type: ignore[arg-type]

    # -----------------------------------------------------------------------------------------------------
    # What a line shows against what the model gives.
    # -----------------------------------------------------------------------------------------------------

    def _differences(self, line: EventLine, after: JavaObject) -> list[Difference]:
        model = self._model
        refusal = line.refusal
        reason = "" if refusal is None or (refusal is UNSET and self._own) else refusal
        if line.event in NETWORK_EVENTS:
            answer = line.answer
            shown = () if answer is UNSET else (canonical_message(answer),)
            if answer is UNSET and not self._own:
                return []
            if tla_text(("", shown)) == model.observation("NetworkObservation", after):
                return []
            _, expected = _row(model.observed("NetworkObservation", after))
            return list(effect_differences(expected, shown))
        if line.state is not UNSET and line.effects is not UNSET and reason is not UNSET:
            shown_text = observation_text(line.state, reason, line.effects)
            if shown_text == model.observation("Observation", after):
                return []
        state = canonical_state(line.state)
        effects = canonical_effects(line.effects)
        expected_state, observed = _row(model.observed("Observation", after))
        expected_reason, expected_effects = _row(observed)
        found = list(named_differences("", _STATE_NAMES, expected_state, state))
        if reason is not UNSET and reason != expected_reason:
            found.append(Difference("refusal", tla_text(expected_reason), tla_text(reason)))
        found.extend(effect_differences(expected_effects, effects))
        return found

    def _message_rejection(self, number: int, line: EventLine) -> Rejection | None:
        """A delivered message must be the one that was sent."""
        message = line.message
        if message is UNSET or message.id is UNSET:
            return None
        flight = self._messages.get(message.id)
        if flight is None or flight.message == message:
            return None
        differing = tuple(
            Difference(f"message.{name}", repr(getattr(flight.message, name, UNSET)), repr(getattr(message, name)))
            for name in message.__struct_fields__
            if getattr(message, name) is not UNSET and getattr(flight.message, name, UNSET) != getattr(message, name)
        )
        if not differing:
            return None
        return self._rejection(RejectionKind.MISMATCH, number, line, self._branches[0].state, differences=differing)

    def _cause_rejection(self, number: int, line: EventLine) -> Rejection | None:
        """The cause must be the one that the event has."""
        cause = line.cause
        if cause is UNSET:
            return None
        wanted = expected_cause(line)
        given = {name: getattr(cause, name, UNSET) for name in ("message_id", "timer", "source")}
        shown = {name: value for name, value in given.items() if value is not UNSET}
        if wanted is None or shown == wanted:
            return None
        difference = Difference("cause", repr(wanted), repr(shown))
        return self._rejection(RejectionKind.MISMATCH, number, line, self._branches[0].state, differences=(difference,))

    def _remember_messages(self, line: EventLine) -> None:
        """Keep what was sent until its last copy is gone."""
        if line.effects is not UNSET:
            for effect in line.effects:
                if isinstance(effect, TracedSend) and effect.message.id is not UNSET:
                    self._messages[effect.message.id] = _Flight(effect.message)
        if line.answer is not UNSET and line.answer.id is not UNSET:
            self._messages[line.answer.id] = _Flight(line.answer)
        identifier = UNSET if line.message is UNSET else line.message.id
        if line.event in NETWORK_EVENTS and line.input is not UNSET:
            identifier = line.input.message_id
        flight = None if identifier is UNSET else self._messages.get(identifier)
        if flight is None or identifier is UNSET:
            return
        flight.copies += 1 if line.event == "DuplicateMessage" else -1
        if not flight.copies:
            del self._messages[identifier]

    # -----------------------------------------------------------------------------------------------------
    # Rejections.
    # -----------------------------------------------------------------------------------------------------

    def _check_invariants(self, number: int, line: EventLine) -> Rejection | None:
        for index, branch in enumerate(self._branches):
            if branch.violation is not None:
                continue
            violated = self._model.violated_invariants(branch.state)
            if violated:
                found = self._rejection(RejectionKind.PROPERTY, number, line, branch.state, properties=violated)
                self._branches[index] = replace(branch, violation=found)
        if self._own and self._branches[0].violation is not None:
            return self._branches[0].violation
        return None

    def _distinct(self, states: list[JavaObject]) -> list[JavaObject]:
        return list({self._model.fingerprint(state): state for state in states}.values())

    def _not_enabled(self, number: int, line: EventLine, before: JavaObject) -> Rejection:
        found = self._model.false_conjunct(line.event, before)
        conjunct = None
        if found is not None:
            conjunct = Conjunct(found.text, found.module, found.line, found.operands)
        return self._rejection(RejectionKind.NOT_ENABLED, number, line, before, conjunct=conjunct)

    def _state_before(self, state: JavaObject, replica: int) -> Function:
        replicas: TlaValue = self._model.variable("replicas", state)
        found = replicas[replica - 1] if isinstance(replicas, tuple) else replicas[replica]  # type: ignore[index]
        assert isinstance(found, Function), "a replica's state is a record"
        return found

    def _rejection(
        self,
        kind: RejectionKind,
        number: int,
        line: EventLine,
        before: JavaObject,
        *,
        conjunct: Conjunct | None = None,
        differences: tuple[Difference, ...] = (),
        properties: tuple[str, ...] = (),
    ) -> Rejection:
        event: str = line.event
        replica = None if line.replica is UNSET else line.replica
        role = None if replica is None else str(self._state_before(before, replica)["role"])
        pre_vote = getattr(line.message, "pre_vote", None)
        if pre_vote is UNSET:
            pre_vote = None
        return Rejection(
            kind=kind,
            source=self._source,
            line=number,
            sequence=line.sequence,
            event=event,
            replica=replica,
            role=role,
            rules=rules_of_event(event, role, pre_vote),
            conjunct=conjunct,
            differences=differences,
            properties=properties,
        )


def _row(value: TlaValue) -> tuple[TlaValue, ...]:
    assert isinstance(value, tuple), "an observation is a tuple"
    return value


_TIMERS = {
    "ElectionTimeout": "election",
    "FetchTimeout": "fetch",
    "CheckQuorumTimeout": "check-quorum",
    "BeginQuorumEpochTimeout": "begin-quorum-epoch",
}


def expected_cause(line: EventLine) -> dict[str, object] | None:
    """The cause that an event has: the message, the timer; None where it is not a matter of the event."""
    name: str = line.event
    if name in _TIMERS:
        return {"timer": _TIMERS[name]}
    identifier = getattr(line.message, "id", UNSET)
    if name.startswith("Handle") and identifier is not UNSET:
        return {"message_id": identifier}
    return None
