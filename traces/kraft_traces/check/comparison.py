"""One line against one successor of the model: what of the line is not what the model gives.

The fast way is one comparison of texts; the fields are looked at where the texts differ.
"""

from msgspec import UNSET

from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.check.binding import HANDLE
from kraft_traces.check.differences import (
    Difference,
    effect_differences,
    field_differences,
    message_differences,
    row,
)
from kraft_traces.check.model import TraceModel
from kraft_traces.check.observation import (
    STATE_FIELDS,
    canonical_effects,
    canonical_message,
    canonical_state,
    tla_text,
)
from kraft_traces.check.text import observation_text
from kraft_traces.check.wording import MISSING
from kraft_traces.lines import EventLine
from kraft_traces.vocabulary import EVENTS

NETWORK_EVENTS = frozenset(name for name, shape in EVENTS.items() if not shape.at_replica)

_NO_REASON = "null"


class Comparison:
    """Compares the lines of one trace; `own` says that all of them are complete."""

    def __init__(self, model: TraceModel, *, own: bool) -> None:
        self._model = model
        self._own = own

    def left_out(self, line: EventLine) -> tuple[Difference, ...]:
        """What a line of our own leaves out although no comparison would look for it.

        `time_ms` is among them although the model has no time: the reader holds it to never going back.
        """
        found: list[Difference] = []
        if line.time_ms is UNSET:
            found.append(Difference("time_ms", "the time", MISSING))
        if line.cause is UNSET:
            found.append(Difference("cause", "the cause", MISSING))
        if line.event.startswith(HANDLE):
            if line.message is UNSET:
                found.append(Difference("message", "the message that arrived", MISSING))
            elif line.message.id is UNSET:
                found.append(Difference("message.id", "the id of the message that arrived", MISSING))
        elif line.answer is not UNSET and line.answer.id is UNSET:
            found.append(Difference("answer.id", f"{line.sequence}.{line.answer.destination}", MISSING))
        return tuple(found)

    def differences(self, line: EventLine, after: JavaObject) -> tuple[Difference, ...]:
        """Where a line differs from a successor; what a foreign line leaves out agrees with everything."""
        if line.event in NETWORK_EVENTS:
            return self._answer_differences(line, after)
        model, state, effects, refusal = self._model, line.state, line.effects, line.refusal
        if state is not UNSET and effects is not UNSET and refusal is not UNSET:
            shown = observation_text(state, "" if refusal is None else refusal, effects)
            if shown == model.observation("Observation", after):
                return ()
        own = self._own
        expected_state, observed = row(model.observed("Observation", after))
        expected_reason, expected_effects = row(observed)
        found: list[Difference] = []
        if state is not UNSET:
            shown_state = canonical_state(state)
            found += field_differences("state.", STATE_FIELDS, row(expected_state), shown_state, complete=own)
        elif own:
            found.append(Difference("state", "the state after", MISSING))
        wanted = str(expected_reason) or _NO_REASON
        given = MISSING if refusal is UNSET else _NO_REASON if refusal is None else str(refusal)
        if given != wanted and (own or refusal is not UNSET):
            found.append(Difference("refusal", wanted, given))
        if effects is not UNSET:
            found += effect_differences(expected_effects, canonical_effects(effects), complete=own)
        elif own:
            found.append(Difference("effects", "the effects", MISSING))
        return tuple(found)

    def _answer_differences(self, line: EventLine, after: JavaObject) -> tuple[Difference, ...]:
        answer = line.answer
        shown = () if answer is UNSET else (canonical_message(answer),)
        if answer is UNSET and not self._own:
            return ()
        if tla_text(("", shown)) == self._model.observation("NetworkObservation", after):
            return ()
        _, expected = row(self._model.observed("NetworkObservation", after))
        if answer is UNSET:
            return (Difference("answer", "the answer of the sender's network layer", MISSING),)
        if not row(expected):
            return ()
        (wanted,) = row(expected)
        return tuple(message_differences("answer.", wanted, canonical_message(answer), complete=self._own))
