"""Expected outcome of an event, from the reference's step."""

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace

from kraft_reference.events import Draw
from kraft_reference.outcome import Refusal
from kraft_traces.alternatives.ordering import happens_before
from kraft_traces.alternatives.timers import may_start, timer_alternatives
from kraft_traces.alternatives.values import MaySend
from kraft_traces.effects import TracedEffect, TracedSend
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage
from kraft_traces.state_types import TracedState
from kraft_vectors.draw import traced_draw
from kraft_vectors.format import Expected, VectorEvent, VectorStep
from kraft_vectors.state_changes import changes_between


def expected_of(
    event: str,
    message: TracedMessage | UnsetType,
    outputs: tuple[TracedEffect, ...],
    before: TracedState,
    after: TracedState,
    refusal: Refusal | None = None,
    besides: tuple[MaySend, ...] = (),
) -> Expected:
    """Return the expected outcome of an event, with the allowed alternatives.

    Args:
        event: its name.
        message: the received message.
        outputs: the reference's effects, without message ids.
        before: the state before it.
        after: the state after it.
        refusal: reason for doing nothing.
        besides: allowed additional requests.
    """
    changes = changes_between(before, after)
    return Expected(
        outputs=outputs,
        before=happens_before(outputs),
        refusal=refusal,
        state=changes,
        latitude=timer_alternatives(event, message, before, outputs, changes),
        may_send=besides or UNSET,
        may_start=may_start(before, outputs, changes) or UNSET,
    )


def event_of_line(line: EventLine, draw: Draw) -> VectorEvent:
    """Return the event of a trace line for a vector, without the message id of the run."""
    message = UNSET if line.message is UNSET else replace(line.message, id=UNSET)
    return VectorEvent(event=line.event, message=message, input=line.input, draw=traced_draw(draw), crash=line.crash)


def without_id(effect: TracedEffect) -> TracedEffect:
    """Return an effect without the message id of the run."""
    return TracedSend(replace(effect.message, id=UNSET)) if isinstance(effect, TracedSend) else effect


def step_of(event: VectorEvent, expected: Expected) -> VectorStep:
    """Return the step of an event and its expected outcome."""
    happening = {name: getattr(event, name) for name in VectorEvent.__struct_fields__}
    return VectorStep(**happening, **asdict(expected))
