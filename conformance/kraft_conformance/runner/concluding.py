"""What a vector comes to in which nothing differs."""

from kraft_conformance.protocol.features import shows
from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.runner.courses import FollowedCourse
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.vectors.format import Vector
from kraft_conformance.vectors.requirements import about

CORE = ("role", "epoch", "leader_id", "voted_key", "log_end_offset", "high_watermark")
"""Fields of the state without which a vector of the level `state` says nothing."""


def concluded(vector: Vector, hello: HelloReply, course: FollowedCourse) -> Outcome:
    """The outcome of a vector in which nothing differs: a pass, if enough of it was seen."""
    level = vector.level
    left_out = tuple(dict.fromkeys((*course.wire_left_out, *course.state_left_out)))
    reason = ""
    if not shows(hello.observability, level):
        reason = f"it needs the level {level}, the adapter shows {hello.observability}"
    elif course.wire_left_out:
        reason = f"not shown: {', '.join(dict.fromkeys(course.wire_left_out))}"
    elif level == "effects" and (hidden := _hidden(vector, hello)):
        reason = f"not shown: {', '.join(hidden)}"
    elif level == "state" and (missing := _missing(vector, course)):
        reason = f"not shown: {', '.join(missing)}"
    status = Status.UNOBSERVED if reason else Status.PASS
    return Outcome(vector.id, status, reason, left_out=left_out)


def _hidden(vector: Vector, hello: HelloReply) -> tuple[str, ...]:
    kinds = [type(output).__struct_config__.tag for step in vector.steps for output in step.outputs]
    return tuple([kind for kind in hello.unobserved if kind in kinds])


def _missing(vector: Vector, course: FollowedCourse) -> tuple[str, ...]:
    paths = {path.partition(".")[2] for path in course.state_left_out}
    return tuple([name for name in dict.fromkeys((*CORE, *about(vector.steps))) if name in paths])
