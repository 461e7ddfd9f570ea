"""Outputs that an adapter's hello declares hidden: a kind of effects, a timer, a field of a message or of the state."""

from collections.abc import Iterator, Sequence
from typing import TypeVar, get_args

from msgspec import UNSET, Struct
from msgspec.structs import replace

from kraft_conformance.protocol.messages import ObserveReply, Reply, RestartReply, StepReply
from kraft_traces.effects import TracedEffect, TracedSend, TracedStartTimer
from kraft_vectors.features import WriteOrTimer

_Reply = TypeVar("_Reply", bound=Reply)
_Part = TypeVar("_Part", bound=Struct)


def names_of(effect: Struct) -> tuple[str, ...]:
    """Return the names in hello that hide an effect, of either subject."""
    return effect_names(_tag(effect), effect.timer if isinstance(effect, TracedStartTimer) else None)


def effect_names(kind: str, timer: str | None) -> tuple[str, ...]:
    """Return the names in hello that hide an effect: its kind, and the kind with the timer's name."""
    return (kind,) if timer is None else (kind, f"{kind}.{timer}")


def is_write(name: str) -> bool:
    """True if the name hides a write, not a timer or a field."""
    return name in get_args(WriteOrTimer) and name != "StartTimer"


def hide_unobserved(reply: _Reply, unobserved: frozenset[str]) -> _Reply:
    """Return a reply without the hidden parts; an adapter that shows some of them anyway is not judged by them."""
    if not unobserved:
        return reply
    if isinstance(reply, ObserveReply):
        return replace(reply, state=_without(reply.state, "state", unobserved))
    if isinstance(reply, StepReply | RestartReply):
        return replace(reply, effects=tuple(_observed(reply.effects, unobserved)))
    return reply


def _observed(effects: Sequence[TracedEffect], unobserved: frozenset[str]) -> Iterator[TracedEffect]:
    for effect in effects:
        if isinstance(effect, TracedSend):
            yield TracedSend(_without(effect.message, _tag(effect.message), unobserved))
        elif unobserved.isdisjoint(names_of(effect)):
            yield effect


def _without(part: _Part, name: str, unobserved: frozenset[str]) -> _Part:
    hidden = {field: UNSET for field in part.__struct_fields__ if f"{name}.{field}" in unobserved}
    return replace(part, **hidden) if hidden else part


def _tag(part: Struct) -> str:
    return str(part.__struct_config__.tag)
