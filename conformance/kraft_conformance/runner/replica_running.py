"""Run of a vector of the subject `replica` on an adapter."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace as replaced

from msgspec import UNSET, UnsetType, json
from msgspec.structs import replace

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.protocol.messages import HelloReply, Reset, ResetReply, RestartReply, StepReply
from kraft_conformance.runner.asking import NotApplicable, Position, log_end_after_crash, place_fault, request_of_event
from kraft_conformance.runner.attribution import attribute_step, rules_of_order, rules_of_writes, steps_of
from kraft_conformance.runner.concluding import conclude
from kraft_conformance.runner.courses import FollowedCourse, followed_courses
from kraft_conformance.runner.faults import AdapterFault, WrongState
from kraft_conformance.runner.fetch_answers import FetchAnswers
from kraft_conformance.runner.history import HistoryWatch, as_step
from kraft_conformance.runner.outcome import RULES_MAX, Failed, Outcome, Status
from kraft_conformance.runner.process_life import death_differences, idle_loop_differences
from kraft_conformance.runner.replica_session import ReplicaSession
from kraft_conformance.runner.requests_ahead import RequestsAhead
from kraft_conformance.runner.session import Adapter
from kraft_conformance.runner.shown import Observation
from kraft_conformance.runner.vector_run import VectorRun
from kraft_conformance.runner.without_pre_vote import without_pre_votes
from kraft_mutants.attribution import Attribution, Given
from kraft_reference.effects import StartTimer
from kraft_reference.replica import Replica, Step
from kraft_reference.state import ReplicaState
from kraft_spec.difference import Difference
from kraft_traces.alternatives.high_watermarks import as_unknown, is_first_of_all, published_as_unknown
from kraft_traces.alternatives.ordering import OUTBOUND
from kraft_traces.alternatives.writes import NEW_DISK, counts_otherwise, disk_of
from kraft_traces.effects import TracedEffect, traced_effect
from kraft_traces.states import traced_state
from kraft_vectors.cluster import Cluster, configuration_from
from kraft_vectors.features import Level
from kraft_vectors.format import Vector, VectorEvent


class ReplicaRun(VectorRun[Vector]):
    """Run of a vector on the adapter."""

    def __init__(self, session: Adapter, vector: Vector, profile: str) -> None:
        super().__init__(session, vector, profile)
        self._replica = ReplicaSession(session)
        self._injects = self.hello.injects(has_history=vector.history is not None)
        self._disk = disk_of(vector.before.state)
        self._ahead = RequestsAhead()
        self._reference = ReferenceAdapter()
        self._history: HistoryWatch | None = None
        self._asked = Position(0, None, "at reset")
        """Current position."""
        self._shown: Observation | None = None
        """Observation of the last step."""

    def outcome(self) -> Outcome:
        """See `VectorRun.outcome`."""
        self._set_up()
        courses = followed_courses(self.vector, self.hello, self._ahead)
        observed = self._replica.observed(self._after())
        if observed is not UNSET:
            begins = [(course, course.begins(observed)) for course in courses]
            if self._injects and begins[0][1]:
                raise WrongState(f"the injected state is not the requested one: {begins[0][1][0]}")
            courses = _remaining(begins, 0, None, UNSET)
        for number, step in enumerate(self.vector.steps, 1):
            self._asked = Position(number, step, f"step {number} of {len(self.vector.steps)}")
            before = self._after()
            self._reference.answer(request_of_event(step))
            observation = self._happen(courses[0].addressed(step), before)
            done = observation.effects
            if step.crash is not UNSET and done is not UNSET and counts_otherwise(done, step.outputs, observation.disk):
                detail = f"the adapter splits its writes differently, so the crash of step {number} has no such point"
                raise NotApplicable(Status.SKIPPED, detail)
            observation = self._with_state(observation)
            died, idle = death_differences(observation.died), idle_loop_differences(observation, observed)
            observed = observation.state
            judged = [
                (course, (*died, *course.step(observation, self._answers, self._after()), *idle)) for course in courses
            ]
            if done is not UNSET:
                self._answers.follow(step, step.outputs, done)
            self._shown = observation
            courses = _remaining(judged, number, step.event, done)
        return conclude(self.vector, self.hello, courses[0].wire_left_out, courses[0].state_left_out)

    def attributed(self, outcome: Outcome, left_out: frozenset[str]) -> Outcome:
        """Return a failure with the rules behind the differences.

        Without state injection the history runs again, to find its first difference; that difference is attributed if
        the failing step has no exact explanation of its own.
        """
        vector, cluster, hello = self.vector, self._cluster(), self.hello
        attribution = Attribution(vector.rules, False)
        if self._shown is not None and outcome.step is not None:
            attribution = attribute_step(vector, cluster, outcome.step, self._shown, hello, left_out)
        of_order = () if attribution.suspects else rules_of_order(outcome.differences)
        of_writes = () if attribution.is_exact else rules_of_writes(outcome.event, outcome.differences)
        rules: tuple[str, ...] = (*of_order, *of_writes, *attribution.rules)
        words = ""
        if not self._injects:
            again = ReplicaRun(self.session, vector, self.profile)
            history = again._history = HistoryWatch(vector, configuration_from(cluster), hello)
            # A fault in the second run is ignored: the first run had none.
            with suppress(AdapterFault, NotApplicable):
                again._set_up()
            words, rules = history.words, rules if attribution.is_exact else (*history.rules, *rules)
        named = tuple(dict.fromkeys(rules))[:RULES_MAX]
        level = "MUST" if rules_of_order(outcome.differences) else attribution.level
        why = attribution.why if attribution.suspects and named[:1] == attribution.rules[:1] else ""
        return replace(outcome, rules=named, remark=words, rule_level=level, why=why, suspects=attribution.suspects)

    def place(self, fault: AdapterFault) -> None:
        """Record in a fault its position and the rules of the event."""
        place_fault(fault, self._asked, self.vector)

    @staticmethod
    def as_asked(vector: Vector, hello: HelloReply) -> Vector:
        """Return the vector without Pre-Votes if the software has none."""
        return without_pre_votes(vector, hello)

    @staticmethod
    def steps(vector: Vector) -> Sequence[Given]:
        """See `VectorRun.steps`."""
        return () if vector.courses else tuple(steps_of(vector, vector.cluster))

    @staticmethod
    def shown(step: Step, level: Level) -> object:
        """See `VectorRun.shown`; without timers, because a mutant may start others and pass."""
        traced = [traced_effect(1, effect) for effect in step.effects if not isinstance(effect, StartTimer)]
        effects = published_as_unknown(traced, lambda: is_first_of_all(step.state))
        if level == "wire":
            return [effect for effect in effects if isinstance(effect, OUTBOUND)]
        return (effects, step.refusal, as_unknown(traced_state(step.state))) if level == "state" else effects

    def _cluster(self) -> Cluster:
        cluster = self.vector.cluster
        if self.profile != cluster.profile and cluster.decisions is UNSET:
            return replace(cluster, profile=self.profile)
        return cluster

    def _set_up(self) -> None:
        vector, cluster = self.vector, self._cluster()
        if self._injects:
            self.session.ask(ResetReply, Reset, replica=vector.replica, cluster=cluster, before=vector.before)
            self._reference.answer(Reset(id=0, replica=vector.replica, cluster=cluster, before=vector.before))
            self._answers = FetchAnswers(self._reference.replica().configuration)
            return
        self.session.ask(ResetReply, Reset, replica=vector.replica, cluster=cluster)
        assert vector.history is not None, "only implementations with state_injection run such vectors"
        # The history is not judged, but additional requests that it sends are still in flight when the steps begin, and
        # Fetches that it leaves open are still to be answered.
        self._reference.answer(Reset(id=0, replica=vector.replica, cluster=cluster))
        self._answers = FetchAnswers(self._reference.replica().configuration)
        self._disk = disk_of(self._reference.state())
        for number, event in enumerate(vector.history, 1):
            self._asked = Position(0, event, f"event {number} of {len(vector.history)} of the history")
            before = self._after()
            awaited = self._reference.state().awaiting or ()
            expected = self._reference.answer(request_of_event(event))
            observation = self._happen(self._ahead.addressed(event), before)
            outputs = expected.effects if isinstance(expected, StepReply | RestartReply) else ()
            effects = observation.effects or ()
            if self._history is not None:
                step = as_step(event, Replica(before, self._reference.replica().configuration), outputs, self._after())
                if observation.effects is not UNSET:
                    step = self._answers.as_chosen(step, effects, self._after())
                self._history.look(number, step, before, self._with_state(observation), self._after(), self._ahead)
            self._ahead.follow(event, awaited, outputs, effects)
            self._answers.follow(event, outputs, effects)

    def _after(self) -> ReplicaState:
        return self._reference.replica().state

    def _happen(self, event: VectorEvent, before: ReplicaState) -> Observation:
        """Send an event; the state is not observed yet.

        Args:
            event: event as the adapter receives it.
            before: the reference's state before it; the reference has already made the step.
        """
        self._answers.begin(event)
        disk = self._disk
        if event.event == "Crash" and disk.synced > (kept := log_end_after_crash(event)):
            detail = f"the crash leaves {kept} records, but the implementation has synced {disk.synced}"
            raise NotApplicable(Status.SKIPPED, detail)
        reply = self._replica.happen(event, before, self._after())
        if reply is None:
            self._disk = disk._replace(synced=log_end_after_crash(event))
            return Observation(disk=disk)
        effects = self._answers.without_unheard(event, reply.effects)
        self._disk = disk.after(effects)
        if event.event == "ReplaceDisk":
            self._disk = NEW_DISK
        elif event.crash is not UNSET:
            self._disk = self._disk._replace(synced=event.crash.log_end_offset)
        return Observation(effects, reply.refusal, UNSET, disk, reply.died, reply.poll_again_ms)

    def _with_state(self, observation: Observation) -> Observation:
        return replaced(observation, state=self._replica.observed(self._after()))


def _remaining(
    judged: Sequence[tuple[FollowedCourse, tuple[Difference, ...]]],
    step: int,
    event: str | None,
    effects: tuple[TracedEffect, ...] | UnsetType,
) -> tuple[FollowedCourse, ...]:
    """Return the courses without a difference.

    Raises:
        Failed: there is none; the error has the differences from the first course.
    """
    if all(differences for _, differences in judged):
        raise Failed(step, event, judged[0][1], None if effects is UNSET else tuple(json.decode(json.encode(effects))))
    return tuple([course for course, differences in judged if not differences])
