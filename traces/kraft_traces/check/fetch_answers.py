"""Fetch responses in a line of a foreign trace, as choices of the model's event.

The KIPs leave some choices to the responder (`kraft_traces.alternatives.fetch_answers`); Trace.tla checks that the
choice is allowed in the state before the line.
"""

from msgspec import UNSET
from msgspec.structs import replace

from kraft_traces.check.binding import Event
from kraft_traces.effects import TracedAnswer, TracedEffect, TracedSend, TracedStartTimer
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedFetchRequest, TracedFetchResponse

NOT_SHOWN = -2


def chosen_answers(line: EventLine) -> Event:
    """Return the part of an event about its Fetch responses; empty if the line does not record them."""
    if line.effects is UNSET or line.replica is UNSET:
        return {}
    is_fetch = line.event == "HandleFetchRequest"
    responses = [(_is_late(line, answer), answer) for answer in map(_answer, line.effects) if answer is not None]
    if not is_fetch and not responses:
        return {}
    now = [answer for is_late, answer in responses if not is_late]
    waits = is_fetch and not now and line.crash is UNSET
    late = tuple([_shown(answer) for is_late, answer in responses if is_late])
    return {"fetches": {"waits": waits, "now": _shown(now[0] if now else TracedFetchResponse()), "late": late}}


def with_late_answers_last(line: EventLine) -> EventLine:
    """Return the line with late Fetch responses after its other messages, whose order has no meaning."""
    if line.effects is UNSET or not any(map(_answer, line.effects)):
        return line
    end = len(line.effects)
    while end and isinstance(line.effects[end - 1], TracedSend | TracedAnswer | TracedStartTimer):
        end -= 1
    first, sends = line.effects[:end], line.effects[end:]
    late = [effect for effect in sends if (answer := _answer(effect)) is not None and _is_late(line, answer)]
    other_sends = [effect for effect in sends if effect not in late]
    return replace(line, effects=(*first, *other_sends, *late)) if late else line


def _answer(effect: TracedEffect) -> TracedFetchResponse | None:
    message = effect.message if isinstance(effect, TracedSend) else None
    return message if isinstance(message, TracedFetchResponse) else None


def _is_late(line: EventLine, answer: TracedFetchResponse) -> bool:
    """True if a response is known to belong to a Fetch of an earlier line, not to the one that the line delivers."""
    if line.event != "HandleFetchRequest":
        return True
    request = line.message if isinstance(line.message, TracedFetchRequest) else TracedFetchRequest()
    pairs = ((answer.destination, request.source), (answer.correlation_id, request.correlation_id))
    return any(UNSET not in pair and pair[0] != pair[1] for pair in pairs)


def _shown(answer: TracedFetchResponse) -> Event:
    watermark = NOT_SHOWN if answer.high_watermark is UNSET else answer.high_watermark
    return {
        "destination": -1 if answer.destination is UNSET else answer.destination,
        "correlation_id": -1 if answer.correlation_id is UNSET else answer.correlation_id,
        "records": 0 if answer.records is UNSET else len(answer.records),
        "watermark": watermark,
        "error": "" if answer.error is UNSET else str(answer.error),
    }
