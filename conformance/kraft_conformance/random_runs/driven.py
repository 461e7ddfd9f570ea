"""A replica of a simulated cluster that an adapter runs.

The reference runs beside the adapter in the same history.  Observations of the adapter are compared with its steps,
and hidden parts are taken from it.
After a difference, the reference follows an adapter that shows all of its state; the run of an adapter that hides its
state is over.
"""

from collections.abc import Sequence
from dataclasses import replace as replaced

from msgspec import UNSET

from kraft_conformance.protocol.messages import (
    Reset,
    ResetReply,
)
from kraft_conformance.random_runs.comparer import StepComparer
from kraft_conformance.random_runs.durations import Durations
from kraft_conformance.random_runs.fetch_answers import with_actual_responses, without_late_responses
from kraft_conformance.random_runs.notes import CountsOtherwiseError, Notes, is_of_timers
from kraft_conformance.random_runs.reference_steps import ReferenceStep, ReplicaEvent, distinct, reference_steps
from kraft_conformance.random_runs.shown import STATE_OF_CLUSTERS, follow_state, hides, name_messages, reference_effects
from kraft_conformance.random_runs.visibility import Visibility
from kraft_conformance.runner.attribution import StepComparison, rules_of_order, rules_of_writes
from kraft_conformance.runner.comparison import effect_name
from kraft_conformance.runner.fetch_answers import FetchAnswers
from kraft_conformance.runner.replica_session import ReplicaSession
from kraft_conformance.runner.session import Adapter
from kraft_conformance.runner.shown import Observation
from kraft_mutants.attribution import Given, attributed, defect_line
from kraft_reference import events
from kraft_reference.configuration import Configuration
from kraft_reference.effects import DurableEffect, Effect, Send, StartTimer
from kraft_reference.events import Draw, Event, ReplaceSoftware
from kraft_reference.replica import Replica
from kraft_reference.replica import Step as Done
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import CrashPoint
from kraft_simulation.schedule import DEFECTS
from kraft_simulation.world import MakeReplica
from kraft_spec.difference import Difference
from kraft_traces.alternatives.writes import NEW_DISK, counts_otherwise, disk_of, normal_form
from kraft_traces.checkpoints import CheckpointError, traced_replica_state
from kraft_traces.effects import TracedEffect, TracedFlushLog, traced_effect
from kraft_traces.errors import IncompleteLineError
from kraft_traces.states import traced_state
from kraft_vectors.cluster import cluster_of
from kraft_vectors.expecting import event_of_line, without_id
from kraft_vectors.format import VectorEvent


class AdapterReplica(Replica):
    """Replica whose steps an adapter makes."""

    def __init__(
        self,
        state: ReplicaState,
        configuration: Configuration,
        session: Adapter,
        notes: Notes,
        *,
        stops_at_difference: bool,
        dies_in_steps: bool,
        beside: MakeReplica = Replica,
    ) -> None:
        """Reset the adapter to this replica, which has been started with this state or is stopped in it.

        `beside` makes the reference that runs beside it.

        Raises:
            AdapterFault: the adapter violates the protocol.
        """
        super().__init__(state, configuration)
        self._id = state.key.id
        self._replica = ReplicaSession(session)
        self._notes = notes
        self._beside = beside
        self._visibility = Visibility(session.hello)
        self._stops = stops_at_difference or not self._visibility.sees_state
        in_steps = "crash-in-step" not in session.hello.unsupported
        self._dies_in_steps = dies_in_steps and in_steps and self._visibility.sees_syncs
        self._disk = disk_of(traced_state(state))
        self._syncs_early = False
        self._answers = FetchAnswers(configuration)
        self._comparer = StepComparer(self._id, self._visibility, notes)
        who = session.hello.implementation
        self._durations = notes.durations.setdefault((who.name, who.version), Durations(configuration))
        self._references: tuple[ReplicaState, ...] = (state,)
        """Possible states of the reference; several if the adapter hides its decisions."""
        self.shown = Observation()
        """The last step, as the trace records it."""
        notes.asking = (self._id, "reset")
        # A stopped replica starts on the disk of other software.
        before = traced_replica_state(state) if state.role is Role.STOPPED else UNSET
        session.ask(ResetReply, Reset, replica=self._id, cluster=cluster_of(configuration), before=before)
        observed = self._replica.observed()
        if observed is not UNSET:
            self._comparer.beginning(traced_state(state), observed)
            notes.is_over = notes.first is not None
        notes.limits.update(dict.fromkeys(self._visibility.limits()))
        self.state = self._with_synced(state)

    # -----------------------------------------------------------------------------------------------------
    # Interface of `Replica`.
    # -----------------------------------------------------------------------------------------------------

    def may_die_during(self, event: Event) -> bool:
        """True if the adapter can crash in this step.

        Its syncs have to be observable and match the reference's, else it would count writes differently.  The protocol
        has no crash during a restart.
        """
        possible = self._dies_in_steps and not self._syncs_early and not isinstance(event, events.Restart)
        return possible and super().may_die_during(event)

    def step(self, event: Event, draw: Draw) -> Done:
        """Make a step.

        Raises:
            AdapterFault: the adapter violates the protocol.
        """
        return super().step(event, draw) if isinstance(event, ReplaceSoftware) else self._happen(event, draw, None)

    def crash_during(self, event: Event, draw: Draw, completed: int, log_end_offset: int) -> Done:
        """Make a step in which the replica crashes.

        Raises:
            ValueError: a crash at that point cannot leave a log up to `log_end_offset`.
            AdapterFault: the adapter violates the protocol.
            CountsOtherwiseError: it counts writes differently.
        """
        return self._happen(event, draw, CrashPoint(completed, log_end_offset))

    # -----------------------------------------------------------------------------------------------------
    # Inside.
    # -----------------------------------------------------------------------------------------------------

    def _happen(self, event: Event, draw: Draw, crash: CrashPoint | None) -> Done:
        steps = self._reference_steps(event, draw, crash)
        if not steps:
            return Done(self._references[0], (), None)
        first = steps[0]
        self._notes.asking = (self._id, f"event {draw.correlation_id}, {first.line.event}")
        happened = event_of_line(first.line, draw)
        observation = self._asked(happened, first)
        traced, happening = observation.effects or (), ReplicaEvent(self._id, event, draw, crash)
        steps = tuple([with_actual_responses(self._answers, step, happening, traced) for step in steps])
        self._answers.follow(happened, first.expected, traced)
        sequence = draw.correlation_id
        judged = [
            self._comparer.judged(traced_state(step.before), step.line, step.expected, observation) for step in steps
        ]
        agreeing = [place for place, compared in enumerate(judged) if not compared.differences]
        place = agreeing[0] if agreeing else 0
        step = steps[place]
        role = str(step.before.role)
        self._comparer.note(sequence, step.line.event, role, judged[place], *[answer.reason for answer in step.taken])
        if not agreeing:
            died = None if crash is None else (crash.completed, crash.log_end_offset)
            inputs = Given(step.before, self.configuration, event, draw, died)
            self._attribute(inputs, observation)
            is_known = bool(self._notes.passed) and self._notes.passed[-1].sequence == sequence
            goes_on = self._notes.passes_timers and is_of_timers(judged[place].differences)
            goes_on = goes_on or (is_known and self._visibility.sees_state)
            self._notes.is_over = self._notes.is_over or (self._stops and not goes_on)
            kept = crash.log_end_offset if crash is not None else getattr(event, "log_end_offset", None)
            begun = step.done.state if isinstance(event, events.ReplaceDisk) else step.before
            observation = self._with_early_sync(begun, observation)
            done = self._own_way(begun, step.done, step.expected, observation, kept)
            if is_known:
                # A leader that is known to respond before it writes would end every run here.
                writes_first = sorted(done.effects, key=lambda effect: not isinstance(effect, DurableEffect))
                done = done._replace(effects=tuple(writes_first))
            self.shown = name_messages(
                sequence, observation if self._visibility.sees_all_writes else replaced(observation, effects=UNSET)
            )
            if self._notes.explaining is None:
                hidden = [effect for effect in step.expected if not self._visibility.shows(effect)]
                self._notes.explaining = name_messages(sequence, Observation((*hidden, *traced))).effects or ()
            self._references = (done.state,)
        else:
            self._durations.note_step(step.before, event, draw, step.done.effects, tuple(traced))
            done = step.done._replace(effects=self._kept(step.done.effects, observation.effects or ()))
            self.shown = name_messages(sequence, self._comparer.in_the_models_words(step.line, observation))
            self._references = tuple(distinct([steps[place].done.state for place in agreeing]))
        self._follow(event, crash, done.state)
        effects, self.shown = without_late_responses(done.effects, self.shown)
        return done._replace(effects=effects)

    def _attribute(self, inputs: Given, observation: Observation) -> None:
        """Record the rules of the first step that differs."""
        first = self._notes.first
        if first is None or first.sequence != inputs.draw.correlation_id:
            return
        try:
            attribution = attributed(inputs, StepComparison(observation, self._visibility.hello).differences)
        except Exception as error:  # a defect of attribution must not change the verdict
            self._notes.first = replaced(first, note=defect_line(error))
            return
        level = "MUST" if rules_of_order(first.differences) else attribution.level
        of_writes = () if attribution.is_exact else rules_of_writes(first.event, first.differences)
        self._notes.first = replaced(
            first, rules=tuple(dict.fromkeys((*of_writes, *attribution.rules))), rule_level=level
        )

    def _reference_steps(self, event: Event, draw: Draw, crash: CrashPoint | None) -> tuple[ReferenceStep, ...]:
        """Return the reference's steps from each possible state, for each setting of the open decisions.

        Return none, and end the run, if the reference cannot follow the implementation any more.
        """
        self.shown = Observation()
        try:
            happening = ReplicaEvent(self._id, event, draw, crash)
            return reference_steps(self._references, self.configuration, happening, self._beside)
        except DEFECTS:
            if self._notes.first is None and not self._notes.passed:
                raise
        except ValueError as error:
            if not isinstance(event, events.Crash):
                raise
            # The adapter has synced, and so keeps, a part of a batch.
            self._notes.undecided = f"replica {self._id}: {error}"
        self._notes.is_over = True
        return ()

    def _asked(self, event: VectorEvent, first: ReferenceStep) -> Observation:
        """Send the event to the adapter and return the observation."""
        visibility, disk = self._visibility, self._disk
        self._answers.begin(event)
        reply = self._replica.happen(event, first.before, first.done.state)
        state = self._replica.observed(first.done.state, first.before)
        if reply is None:
            return Observation((), UNSET, state, disk)
        if event.crash is not UNSET and counts_otherwise(reply.effects, first.line.effects or (), disk):
            raise CountsOtherwiseError
        done = normal_form(reply.effects, disk)
        self._disk = disk.after(done)
        kept = self._answers.without_unheard(event, done)
        effects = tuple([without_id(effect) for effect in kept if visibility.shows(effect)])
        self._notes.shown += len(effects)
        return Observation(effects, reply.refusal if visibility.sees_state else UNSET, state, disk, reply.died)

    def _kept(self, wanted: tuple[Effect, ...], actual: Sequence[TracedEffect]) -> tuple[Effect, ...]:
        """Return the reference's effects without timers that the adapter did not start."""
        there = {effect_name(effect) for effect in actual}

        def is_kept(effect: Effect) -> bool:
            traced = traced_effect(1, effect)
            is_timer = isinstance(effect, StartTimer)
            return not is_timer or effect_name(traced) in there or not self._visibility.shows(traced)

        return tuple(filter(is_kept, wanted))

    def _follow(self, event: Event, crash: CrashPoint | None, after: ReplicaState) -> None:
        """Record the states of adapter and reference after the step."""
        if isinstance(event, events.ReplaceDisk):
            self._disk = NEW_DISK
        elif crash is not None or isinstance(event, events.Crash):
            self._disk = self._disk._replace(synced=after.log.end_offset)
        self._syncs_early = self._syncs_early or self._disk.synced > after.log.flushed
        self.state = self._with_synced(after)

    def _with_synced(self, state: ReplicaState) -> ReplicaState:
        """Return the state with the synced end of the log; if syncs are hidden, all of it, so that nothing is lost."""
        end, flushed = state.log.end_offset, state.log.flushed
        synced = max(flushed, min(self._disk.synced, end)) if self._visibility.sees_syncs else end
        return state if synced == flushed else state._replace(log=state.log._replace(flushed=synced))

    # -----------------------------------------------------------------------------------------------------
    # After a difference.
    # -----------------------------------------------------------------------------------------------------

    def _with_early_sync(self, before: ReplicaState, observation: Observation) -> Observation:
        """Return the observation with an earlier sync that the cluster and the model do not know yet."""
        synced = observation.disk.synced
        early = self._visibility.sees_syncs and before.log.flushed < synced <= before.log.end_offset
        return (
            replaced(observation, effects=(TracedFlushLog(synced), *(observation.effects or ())))
            if early
            else observation
        )

    def _own_way(
        self,
        before: ReplicaState,
        wanted: Done,
        expected: Sequence[TracedEffect],
        observation: Observation,
        kept: int | None,
    ) -> Done:
        """Return the implementation's own step, from which the cluster continues."""
        if observation.state is UNSET or observation.effects is UNSET:
            return wanted
        hidden = [effect for effect in wanted.effects if not self._visibility.shows(traced_effect(1, effect))]
        try:
            made = reference_effects(observation.state, observation.effects, expected, hidden)
            # Messages to replicas outside of the cluster are dropped.
            members = self.configuration.replicas
            made = tuple(
                [effect for effect in made if not isinstance(effect, Send) or effect.message.destination in members]
            )
            state = follow_state(before, made, wanted.state, observation.state, kept)
        except (CheckpointError, IncompleteLineError, *DEFECTS, ValueError, LookupError) as error:
            self._notes.is_over = True
            first = self._notes.first
            if first is not None and not self._notes.passed and isinstance(error, CheckpointError):
                told_twice = Difference(error.field.removeprefix("$."), "what follows from its effects", error.detail)
                self._notes.first = replaced(first, differences=(*first.differences, told_twice))
            return wanted
        # After a crash only the log matters, and nothing else is shown.
        is_mixed = hides(observation.state, STATE_OF_CLUSTERS) and state.role is not Role.STOPPED
        self._notes.is_mixed = self._notes.is_mixed or is_mixed
        return Done(state, made, wanted.refusal if observation.refusal is UNSET else observation.refusal)
