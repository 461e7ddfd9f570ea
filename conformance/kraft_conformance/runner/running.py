"""One vector on one adapter."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, json
from msgspec.structs import replace

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.protocol.features import shows
from kraft_conformance.protocol.messages import (
    Crash,
    CrashReply,
    HelloReply,
    Observe,
    ObserveReply,
    Reset,
    ResetReply,
    Restart,
    RestartReply,
    Step,
    StepReply,
)
from kraft_conformance.runner.correlations import Correlations
from kraft_conformance.runner.courses import FollowedCourse, Shown, followed_courses
from kraft_conformance.runner.faults import AdapterFault, Unsupported
from kraft_conformance.runner.fetch_answers import FetchAnswers
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.runner.partition_running import run_partition_vector
from kraft_conformance.runner.plain import Difference
from kraft_conformance.runner.requests_ahead import RequestsAhead
from kraft_conformance.runner.session import Session
from kraft_conformance.runner.writes import Synced
from kraft_conformance.vectors.catalogue import AnyVector
from kraft_conformance.vectors.format import Vector, VectorEvent
from kraft_conformance.vectors.partitions.format import PartitionVector
from kraft_conformance.vectors.profiles import shown_profile
from kraft_conformance.vectors.requirements import about
from kraft_traces.state_types import TracedState

CORE = ("role", "epoch", "leader_id", "voted_key", "log_end_offset", "high_watermark")
"""Fields of the state without which a vector of the level `state` says nothing."""


class NotAsked(Exception):  # noqa: N818 - a decision, not an error
    """The vector is not for this implementation."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason


class _Failed(Exception):  # noqa: N818 - carried to `run_vector`
    def __init__(
        self, step: int, event: str | None, differences: tuple[Difference, ...], reply: StepReply | RestartReply | None
    ) -> None:
        super().__init__(step, event, differences)
        self.step = step
        self.event = event
        self.differences = differences
        self.effects = None if reply is None else tuple(json.decode(json.encode(reply.effects)))


def applies(vector: Vector, hello: HelloReply, profile: str) -> None:
    """Return if an implementation can be asked this vector.

    Raises:
        NotAsked: it cannot, and why.
    """
    requires = vector.requires
    if "replica" not in hello.subjects:
        raise NotAsked(Status.UNSUPPORTED, "needs the subject replica")
    missing = [kip for kip in requires.kips if hello.kip_levels.get(kip, "none") == "none"]
    if missing:
        raise NotAsked(Status.UNSUPPORTED, f"needs {', '.join(missing)}")
    if requires.kraft_version not in hello.kraft_versions:
        raise NotAsked(Status.UNSUPPORTED, f"needs kraft.version {requires.kraft_version}")
    lacking = [feature for feature in requires.features if feature in hello.unsupported]
    if lacking:
        raise NotAsked(Status.UNSUPPORTED, f"needs {', '.join(lacking)}")
    if vector.history is None and not hello.state_injection:
        raise NotAsked(Status.UNSUPPORTED, "needs state_injection: no events lead to the state it begins in")
    if profile not in requires.profiles:
        named = " and ".join(map(shown_profile, requires.profiles))
        raise NotAsked(Status.SKIPPED, f"of the profile {named}, not {shown_profile(profile)}")


def run_vector(session: Session, vector: AnyVector, profile: str) -> Outcome:
    """Run a vector, of whichever subject.

    Raises:
        AdapterFault: the adapter does not answer as the protocol says; its process is to be ended.
    """
    if isinstance(vector, PartitionVector):
        return run_partition_vector(session, vector, profile)
    try:
        applies(vector, session.hello, profile)
        return _Run(session, vector, profile).outcome()
    except NotAsked as not_asked:
        return Outcome(vector.id, not_asked.status, not_asked.reason)
    except Unsupported as fault:
        return Outcome(vector.id, Status.UNSUPPORTED, f"the adapter says: {fault}")
    except _Failed as failed:
        where = "before the first step" if failed.step == 0 else f"step {failed.step} of {len(vector.steps)}"
        reason = f"{where}: {failed.differences[0]}"
        found, effects = failed.differences, failed.effects
        return Outcome(vector.id, Status.FAIL, reason, vector.rules, failed.step, failed.event, found, effects=effects)


def errored(vector_id: str, fault: AdapterFault) -> Outcome:
    """The outcome of a vector at which the adapter failed as a program."""
    return Outcome(vector_id, Status.ERROR, str(fault), fault=fault.kind, stderr=fault.stderr)


class _Run:
    def __init__(self, session: Session, vector: Vector, profile: str) -> None:
        self._session = session
        self._vector = vector
        self._hello = session.hello
        self._profile = profile
        self._sees_state = self._hello.observability == "state"
        self._synced = Synced(0)
        self._ahead = RequestsAhead()
        self._correlations = Correlations()
        self._reference = ReferenceAdapter()

    def outcome(self) -> Outcome:
        self._set_up()
        courses = followed_courses(self._vector, self._hello, self._ahead)
        observed = self._observed()
        if observed is not None:
            courses = _remaining([(one, one.begins(observed)) for one in courses], 0, None)
        for number, step in enumerate(self._vector.steps, 1):
            synced_before = self._synced.offset
            self._reference.answer(_request(step, 0))
            reply = self._happen(courses[0].addressed(step))
            observed = self._observed()
            shown = Shown(reply, synced_before, observed, self._answers, self._reference.replica().state)
            judged = [(one, one.step(shown)) for one in courses]
            if reply is not None:
                self._answers.follow(step, step.outputs, reply.effects)
            courses = _remaining(judged, number, step.event, reply)
        return self._concluded(courses[0])

    def _set_up(self) -> None:
        vector = self._vector
        cluster = vector.cluster
        if self._profile != cluster.profile and cluster.decisions is UNSET:
            cluster = replace(cluster, profile=self._profile)
        if self._hello.state_injection:
            self._session.ask(ResetReply, Reset, replica=vector.replica, cluster=cluster, before=vector.before)
            self._reference.answer(Reset(id=0, replica=vector.replica, cluster=cluster, before=vector.before))
            self._answers = FetchAnswers(self._reference.replica().configuration)
            self._synced = Synced(vector.before.state.flushed_offset or 0)
            return
        self._session.ask(ResetReply, Reset, replica=vector.replica, cluster=cluster)
        assert vector.history is not None, "asked of implementations with state_injection alone"
        # The history is not judged, but what is sent in it beyond the reference is still out when the steps begin, and
        # what is not answered in it is still owed.
        self._reference.answer(Reset(id=0, replica=vector.replica, cluster=cluster))
        self._answers = FetchAnswers(self._reference.replica().configuration)
        for event in vector.history:
            awaited = self._reference.state().awaiting or ()
            expected = self._reference.answer(_request(event, 0))
            reply = self._happen(self._ahead.addressed(event))
            outputs = expected.effects if isinstance(expected, StepReply | RestartReply) else ()
            shown = () if reply is None else reply.effects
            self._ahead.follow(event, awaited, outputs, shown)
            self._answers.follow(event, outputs, shown)

    def _happen(self, event: VectorEvent) -> StepReply | RestartReply | None:
        """Let an event happen; None for a crash between steps, which shows nothing."""
        self._answers.begin(event)
        event = replace(event, message=self._correlations.addressed(event.event, event.message))
        if event.event == "Crash":
            kept = _kept(event)
            if self._synced.offset > kept:
                detail = f"a crash leaves {kept} records, and the implementation has synced {self._synced.offset}"
                raise NotAsked(Status.SKIPPED, detail)
            self._session.ask(CrashReply, Crash, log_end_offset=kept)
            self._synced = Synced(kept)
            return None
        reply: StepReply | RestartReply
        if event.event == "Restart":
            reply = self._session.ask(RestartReply, Restart, **_fields(event))
        else:
            reply = self._session.ask(StepReply, Step, **_fields(event))
        effects = self._answers.heard(event, self._correlations.drawn(event.draw, reply.effects))
        reply = replace(reply, effects=effects)
        self._synced.follow(reply.effects)
        if event.event == "ReplaceDisk":
            self._synced = Synced(0)
        elif event.crash is not UNSET:
            self._synced = Synced(event.crash.log_end_offset)
        return reply

    def _observed(self) -> TracedState | None:
        if not self._sees_state:
            return None
        return self._correlations.observed(self._session.ask(ObserveReply, Observe).state)

    def _concluded(self, course: FollowedCourse) -> Outcome:
        vector, level, hello = self._vector, self._vector.level, self._hello
        left_out = tuple(dict.fromkeys((*course.wire_left_out, *course.state_left_out)))
        reason = ""
        if not shows(hello.observability, level):
            reason = f"it needs the level {level}, the adapter shows {hello.observability}"
        elif course.wire_left_out:
            reason = f"not shown: {', '.join(dict.fromkeys(course.wire_left_out))}"
        elif level == "effects" and (hidden := self._hidden(vector)):
            reason = f"not shown: {', '.join(hidden)}"
        elif level == "state" and (missing := _missing(vector, course)):
            reason = f"not shown: {', '.join(missing)}"
        status = Status.UNOBSERVED if reason else Status.PASS
        return Outcome(vector.id, status, reason, left_out=left_out)

    def _hidden(self, vector: Vector) -> tuple[str, ...]:
        kinds = [type(output).__struct_config__.tag for step in vector.steps for output in step.outputs]
        return tuple([kind for kind in self._hello.unobserved if kind in kinds])


def _remaining(
    judged: Sequence[tuple[FollowedCourse, tuple[Difference, ...]]],
    step: int,
    event: str | None,
    reply: StepReply | RestartReply | None = None,
) -> tuple[FollowedCourse, ...]:
    """The courses from which nothing differs.

    Raises:
        _Failed: there is none; with what differs from the first of them.
    """
    if all(differences for _, differences in judged):
        raise _Failed(step, event, judged[0][1], reply)
    return tuple([course for course, differences in judged if not differences])


def _missing(vector: Vector, course: FollowedCourse) -> tuple[str, ...]:
    paths = {path.partition(".")[2] for path in course.state_left_out}
    return tuple([name for name in dict.fromkeys((*CORE, *about(vector.steps))) if name in paths])


def _kept(event: VectorEvent) -> int:
    assert event.input is not UNSET, "a crash has an input"
    assert event.input.log_end_offset is not UNSET, "which says what is kept"
    return event.input.log_end_offset


def _fields(event: VectorEvent) -> dict[str, Any]:
    """What the request carries that lets an event happen."""
    if event.event == "Crash":
        return {"log_end_offset": _kept(event)}
    if event.event == "Restart":
        endpoint = None if event.input is UNSET or event.input.endpoint is UNSET else event.input.endpoint
        return {"endpoint": endpoint, "draw": event.draw}
    return {name: getattr(event, name) for name in VectorEvent.__struct_fields__}


def _request(event: VectorEvent, number: int) -> Crash | Restart | Step:
    kinds: dict[str, type[Crash | Restart | Step]] = {"Crash": Crash, "Restart": Restart}
    return kinds.get(event.event, Step)(id=number, **_fields(event))
