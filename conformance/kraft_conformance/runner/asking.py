"""Selection of what an adapter is asked, requests of events, and the position at which an adapter failed."""

from typing import Any, NamedTuple

from msgspec import UNSET

from kraft_conformance.protocol.messages import Crash, HelloReply, Restart, Step
from kraft_conformance.runner.faults import AdapterFault
from kraft_conformance.runner.outcome import RULES_MAX, Status
from kraft_spec.action_rules import rules_of_event
from kraft_vectors.catalogue import AnyVector
from kraft_vectors.format import Vector, VectorEvent
from kraft_vectors.profiles import shown_profile


class NotApplicable(Exception):  # noqa: N818 - a decision, not an error
    """The vector does not apply to this implementation."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason


def check_applicable(vector: AnyVector, hello: HelloReply, profile: str) -> None:
    """Check that a vector of either subject applies to an implementation.

    Raises:
        NotApplicable: it does not, with the reason.
    """
    requires = vector.requires
    if vector.subject not in hello.subjects:
        raise NotApplicable(Status.UNSUPPORTED, f"needs the subject {vector.subject}")
    missing = [kip for kip in requires.kips if hello.kip_levels.get(kip, "none") == "none"]
    if missing:
        raise NotApplicable(Status.UNSUPPORTED, f"needs {', '.join(missing)}")
    if isinstance(vector, Vector) and vector.requires.kraft_version not in hello.kraft_versions:
        raise NotApplicable(Status.UNSUPPORTED, f"needs kraft.version {vector.requires.kraft_version}")
    lacking = [feature for feature in requires.features if feature in hello.unsupported]
    if lacking:
        raise NotApplicable(Status.UNSUPPORTED, f"needs {', '.join(lacking)}")
    if vector.history is None and not hello.injects(has_history=False):
        raise NotApplicable(Status.UNSUPPORTED, "needs state_injection: no events lead to the state it begins in")
    if profile not in requires.profiles:
        named = " and ".join(map(shown_profile, requires.profiles))
        raise NotApplicable(Status.SKIPPED, f"for profile {named}, not {shown_profile(profile)}")


class Position(NamedTuple):
    """Position of the runner in a vector."""

    step: int
    """Number of the step, from 1; 0 before the first."""
    event: VectorEvent | None
    """None while the replica is set up."""
    words: str


def place_fault(fault: AdapterFault, position: Position, vector: Vector) -> None:
    """Record in a fault its position and the rules of the event."""
    fault.step = position.step
    fault.where = position.words
    if position.event is None:
        return
    fault.event = position.event.event
    fault.where = f"{position.words}, {position.event.event}"
    pre_vote = UNSET if position.event.message is UNSET else getattr(position.event.message, "pre_vote", UNSET)
    stated = rules_of_event(fault.event, None, pre_vote if isinstance(pre_vote, bool) else None)
    of_the_vector = [rule for rule in vector.rules if rule in stated]
    fault.rules = tuple(dict.fromkeys((*of_the_vector, *stated)))[:RULES_MAX]


def log_end_after_crash(event: VectorEvent) -> int:
    """Return the end of the log after a crash event."""
    assert event.input is not UNSET, "a crash has an input"
    kept = event.input.log_end_offset
    assert isinstance(kept, int), "which has the end of the log"
    return kept


def fields_of(event: VectorEvent) -> dict[str, Any]:
    """Return the fields of the request for an event."""
    if event.event == "Crash":
        return {"log_end_offset": log_end_after_crash(event)}
    if event.event == "Restart":
        endpoint = None if event.input is UNSET or event.input.endpoint is UNSET else event.input.endpoint
        return {"endpoint": endpoint, "draw": event.draw}
    return {name: getattr(event, name) for name in VectorEvent.__struct_fields__}


def request_of_event(event: VectorEvent) -> Crash | Restart | Step:
    """Return the request for an event at the reference that runs beside an adapter; its requests have no numbers."""
    kinds: dict[str, type[Crash | Restart | Step]] = {"Crash": Crash, "Restart": Restart}
    return kinds.get(event.event, Step)(id=0, **fields_of(event))
