"""Outcome of a vector without differences."""

from collections.abc import Sequence

from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.protocol.unobserved import names_of
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_vectors.catalogue import AnyVector
from kraft_vectors.features import shows
from kraft_vectors.format import Vector
from kraft_vectors.requirements import changed_state_fields

CORE = ("role", "epoch", "leader_id", "voted_key", "log_end_offset", "high_watermark")
"""Fields of the state that a vector of level `state` needs to pass."""


def conclude(
    vector: AnyVector, hello: HelloReply, wire_left_out: Sequence[str], state_left_out: Sequence[str]
) -> Outcome:
    """Return the outcome of a vector without differences: a pass if the adapter showed enough of it.

    Args:
        vector: of either subject.
        hello: of the adapter.
        wire_left_out: expected parts of effects that the adapter did not show.
        state_left_out: expected fields of the state that the adapter did not show.
    """
    level = vector.level
    reason = ""
    if not shows(hello.observability, level):
        reason = f"needs observability {level}, the adapter has {hello.observability}"
    elif missing := wire_left_out or (level == "effects" and _hidden(vector, hello)):
        reason = f"not shown: {', '.join(dict.fromkeys(missing))}"
    elif level == "state" and (missing := _missing(vector, state_left_out)):
        reason = f"not shown: {', '.join(missing)}"
    status = Status.UNOBSERVED if reason else Status.PASS
    return Outcome(vector.id, status, reason, left_out=tuple(dict.fromkeys((*wire_left_out, *state_left_out))))


def _hidden(vector: AnyVector, hello: HelloReply) -> tuple[str, ...]:
    names = {name for step in vector.steps for output in step.outputs for name in names_of(output)}
    return tuple([name for name in hello.unobserved if name in names])


def _missing(vector: AnyVector, left_out: Sequence[str]) -> tuple[str, ...]:
    """Return the missing fields of the state that matter: all for partitions, those of the steps for a replica."""
    if not isinstance(vector, Vector):
        return tuple(dict.fromkeys(left_out))
    paths = {path.partition(".")[2] for path in left_out}
    return tuple([name for name in dict.fromkeys((*CORE, *changed_state_fields(vector.steps))) if name in paths])
