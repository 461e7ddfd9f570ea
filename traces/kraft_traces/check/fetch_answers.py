"""What a line of a foreign trace shows of answers to Fetches, for the choices that the texts leave to who gives them.

What may be chosen says `kraft_traces.latitude.fetch_answers`; Trace.tla holds the choice to the state at that line.
"""

from msgspec import UNSET
from msgspec.structs import replace

from kraft_traces.check.binding import Event
from kraft_traces.effects import TracedAnswer, TracedEffect, TracedSend, TracedStartTimer
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedFetchRequest, TracedFetchResponse

NOT_SHOWN = -2


def chosen_answers(line: EventLine) -> Event:
    """The part of an event that says how Fetches are answered; nothing where a line does not show it."""
    if line.effects is UNSET or line.replica is UNSET:
        return {}
    asked = line.event == "HandleFetchRequest"
    given = [(_is_late(line, answer), answer) for answer in map(_answer, line.effects) if answer is not None]
    if not asked and not given:
        return {}
    now = [answer for is_late, answer in given if not is_late]
    waits = asked and not now and line.crash is UNSET
    late = tuple([_shown(answer) for is_late, answer in given if is_late])
    return {"fetches": {"waits": waits, "now": _shown(now[0] if now else TracedFetchResponse()), "late": late}}


def with_late_answers_last(line: EventLine) -> EventLine:
    """The line with late answers after whatever else it sends, which has no order."""
    if line.effects is UNSET or not any(map(_answer, line.effects)):
        return line
    end = len(line.effects)
    while end and isinstance(line.effects[end - 1], TracedSend | TracedAnswer | TracedStartTimer):
        end -= 1
    first, rest = line.effects[:end], line.effects[end:]
    late = [one for one in rest if (answer := _answer(one)) is not None and _is_late(line, answer)]
    others = [one for one in rest if one not in late]
    return replace(line, effects=(*first, *others, *late)) if late else line


def _answer(effect: TracedEffect) -> TracedFetchResponse | None:
    message = effect.message if isinstance(effect, TracedSend) else None
    return message if isinstance(message, TracedFetchResponse) else None


def _is_late(line: EventLine, answer: TracedFetchResponse) -> bool:
    """Does an answer belong to a Fetch of an earlier line?  What does not say it belongs to that of its own."""
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
