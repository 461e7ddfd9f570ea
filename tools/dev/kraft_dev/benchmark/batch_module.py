"""A whole trace as a TLA+ module that extends TraceBatch: configuration, events and observations as values."""

from collections.abc import Mapping
from itertools import islice

from msgspec import UNSET

from kraft_spec.mapping import configuration_to_model
from kraft_traces.check import EVERY
from kraft_traces.check.binding import complete_event
from kraft_traces.check.comparison import NETWORK_EVENTS
from kraft_traces.check.steps import NOT_ALLOWED
from kraft_traces.check.text import answer_text, observation_text, tla_text
from kraft_traces.lines import EventLine
from kraft_traces.reader import TraceReader


def batch_module(name: str, reader: TraceReader, *, every: int = EVERY, events: int | None = None) -> str:
    """The text of module `name` for a complete trace of this project's own, all of it or its first `events` events.

    Raises:
        TraceError: the trace is malformed.
        LeftOutError: a line leaves something out.
    """
    configuration = reader.configuration
    lines = [_line(line, configuration.cluster_id) for line in islice(reader, events)]
    names = [f"Line{number}" for number in range(1, len(lines) + 1)]
    return "\n".join(
        [
            f"---- MODULE {name} ----",
            "EXTENDS TraceBatch",
            f"Config == {_text(configuration_to_model(configuration))}",
            f"EveryLines == {every}",
            # A definition for each line: one expression of all lines is more than the parser likes.
            *(f"{line_name} == {line}" for line_name, line in zip(names, lines, strict=True)),
            f"Lines == <<{', '.join(names)}>>",
            "====",
            "",
        ]
    )


def _line(line: EventLine, cluster_id: str) -> str:
    event = complete_event(line, cluster_id)
    is_refused = line.refusal in NOT_ALLOWED
    return _text(
        {
            "event": {"sent": -1, **event} if is_refused else event,
            "refused": is_refused,
            "ofNetwork": line.event in NETWORK_EVENTS,
        },
        observation=_observation(line),
    )


def _observation(line: EventLine) -> str:
    if line.event in NETWORK_EVENTS:
        return answer_text(line.answer)
    if line.state is UNSET or line.effects is UNSET:
        raise ValueError(f"line {line.sequence} leaves its state or its effects out")
    reason = "" if line.refusal is UNSET or line.refusal is None else line.refusal
    return observation_text(line.state, reason, line.effects)


def _text(value: object, **more: str) -> str:
    """A value as TLA+; a mapping with string keys becomes a record, one with integer keys a function."""
    if not isinstance(value, Mapping):
        return tla_text(value)
    entries = [(key, _text(entry)) for key, entry in value.items()]
    if all(isinstance(key, int) for key in value):
        return f"({' @@ '.join(f'{key} :> {entry}' for key, entry in entries)})"
    return f"[{', '.join(f'{key} |-> {entry}' for key, entry in (*entries, *more.items()))}]"
