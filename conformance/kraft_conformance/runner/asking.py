"""What of a vector is asked of an adapter, and where it was when the adapter failed."""

from typing import Any, NamedTuple

from msgspec import UNSET

from kraft_conformance.protocol.messages import Crash, HelloReply, Restart, Step
from kraft_conformance.runner.faults import AdapterFault
from kraft_conformance.runner.outcome import RULES_MAX, Status
from kraft_spec.action_rules import rules_of_event
from kraft_vectors.catalogue import AnyVector
from kraft_vectors.format import Vector, VectorEvent
from kraft_vectors.profiles import shown_profile


class NotAsked(Exception):  # noqa: N818 - a decision, not an error
    """The vector is not for this implementation."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason


def applies(vector: AnyVector, hello: HelloReply, profile: str) -> None:
    """Return if an implementation can be asked this vector, of whichever subject.

    Raises:
        NotAsked: it cannot, and why.
    """
    requires = vector.requires
    if vector.subject not in hello.subjects:
        raise NotAsked(Status.UNSUPPORTED, f"needs the subject {vector.subject}")
    missing = [kip for kip in requires.kips if hello.kip_levels.get(kip, "none") == "none"]
    if missing:
        raise NotAsked(Status.UNSUPPORTED, f"needs {', '.join(missing)}")
    if isinstance(vector, Vector) and vector.requires.kraft_version not in hello.kraft_versions:
        raise NotAsked(Status.UNSUPPORTED, f"needs kraft.version {vector.requires.kraft_version}")
    lacking = [feature for feature in requires.features if feature in hello.unsupported]
    if lacking:
        raise NotAsked(Status.UNSUPPORTED, f"needs {', '.join(lacking)}")
    if vector.history is None and not hello.injects(has_history=False):
        raise NotAsked(Status.UNSUPPORTED, "needs state_injection: no events lead to the state it begins in")
    if profile not in requires.profiles:
        named = " and ".join(map(shown_profile, requires.profiles))
        raise NotAsked(Status.SKIPPED, f"for profile {named}, not {shown_profile(profile)}")


class Asked(NamedTuple):
    """Where in a vector the runner is."""

    step: int
    """From 1; 0 before the first."""
    event: VectorEvent | None
    """None while the replica is set up."""
    words: str


def place_fault(fault: AdapterFault, position: Asked, vector: Vector) -> None:
    """Write into a fault where it happened, and the rules of what was asked for."""
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


def kept_by(event: VectorEvent) -> int:
    """How much of the log a crash leaves."""
    assert event.input is not UNSET, "a crash has an input"
    kept = event.input.log_end_offset
    assert isinstance(kept, int), "which says what is kept"
    return kept


def fields_of(event: VectorEvent) -> dict[str, Any]:
    """What the request carries that lets an event happen."""
    if event.event == "Crash":
        return {"log_end_offset": kept_by(event)}
    if event.event == "Restart":
        endpoint = None if event.input is UNSET or event.input.endpoint is UNSET else event.input.endpoint
        return {"endpoint": endpoint, "draw": event.draw}
    return {name: getattr(event, name) for name in VectorEvent.__struct_fields__}


def request_of_event(event: VectorEvent) -> Crash | Restart | Step:
    """The request that lets an event happen at the reference beside an adapter, whose requests have no numbers."""
    kinds: dict[str, type[Crash | Restart | Step]] = {"Crash": Crash, "Restart": Restart}
    return kinds.get(event.event, Step)(id=0, **fields_of(event))
