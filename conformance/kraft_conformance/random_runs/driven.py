"""A replica of a cluster that is played by an adapter.

Beside the adapter stands the reference in the same history.
What the adapter shows is compared with what the reference does there; what it does not show is taken from there.
Where it shows all of its state it goes its own way after a difference, and the reference follows it;
an adapter that hides its state has parted from the reference then, and the run is over.
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
from kraft_conformance.random_runs.fetch_answers import as_answered, without_unnamed
from kraft_conformance.random_runs.notes import CountsOtherwiseError, Notes, is_of_timers
from kraft_conformance.random_runs.reference_steps import Happening, ReferenceStep, different, reference_steps
from kraft_conformance.random_runs.shown import STATE_OF_CLUSTERS, followed, hides, named, reference_effects
from kraft_conformance.random_runs.visibility import Visibility
from kraft_conformance.runner.attribution import StepComparison, rules_of_order, rules_of_writes
from kraft_conformance.runner.comparison import effect_name
from kraft_conformance.runner.fetch_answers import FetchAnswers
from kraft_conformance.runner.replica_session import ReplicaSession
from kraft_conformance.runner.session import Adapter
from kraft_conformance.runner.shown import Shown
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
    """Steps of an adapter, for the cluster of the reference."""

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
        """Have the adapter set up the replica that has been started with this state, or is stopped in it.

        `beside` makes the reference that stands beside it.

        Raises:
            AdapterFault: the adapter does not do it.
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
        """The states that the reference beside it may be in; several where it hides what it has answered."""
        self.shown = Shown()
        """What a trace says of the last step."""
        notes.asking = (self._id, "reset")
        # One that is stopped has got other software on its disk.
        before = traced_replica_state(state) if state.role is Role.STOPPED else UNSET
        session.ask(ResetReply, Reset, replica=self._id, cluster=cluster_of(configuration), before=before)
        observed = self._replica.observed()
        if observed is not UNSET:
            self._comparer.beginning(traced_state(state), observed)
            notes.is_over = notes.first is not None
        notes.limits.update(dict.fromkeys(self._visibility.limits()))
        self.state = self._with_synced(state)

    # -----------------------------------------------------------------------------------------------------
    # What a cluster asks.
    # -----------------------------------------------------------------------------------------------------

    def may_die_during(self, event: Event) -> bool:
        """Only where its syncing is shown and goes with the reference's, or the writes would be counted otherwise.

        The protocol has no death in a restart.
        """
        possible = self._dies_in_steps and not self._syncs_early and not isinstance(event, events.Restart)
        return possible and super().may_die_during(event)

    def step(self, event: Event, draw: Draw) -> Done:
        """Let an event happen.

        Raises:
            AdapterFault: the adapter does not answer as the protocol says.
        """
        return super().step(event, draw) if isinstance(event, ReplaceSoftware) else self._happen(event, draw, None)

    def crash_during(self, event: Event, draw: Draw, completed: int, log_end_offset: int) -> Done:
        """Let an event happen in which the replica dies.

        Raises:
            ValueError: `log_end_offset` is not what a crash at that point can leave.
            AdapterFault: the adapter does not answer as the protocol says.
            CountsOtherwiseError: it counts other writes.
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
        seen = self._asked(happened, first)
        shown, happening = seen.effects or (), Happening(self._id, event, draw, crash)
        steps = tuple([as_answered(self._answers, step, happening, shown) for step in steps])
        self._answers.follow(happened, first.expected, shown)
        sequence = draw.correlation_id
        judged = [self._comparer.judged(traced_state(step.before), step.line, step.expected, seen) for step in steps]
        agreeing = [place for place, one in enumerate(judged) if not one.differences]
        place = agreeing[0] if agreeing else 0
        step = steps[place]
        role = str(step.before.role)
        self._comparer.note(sequence, step.line.event, role, judged[place], *[one.reason for one in step.taken])
        if not agreeing:
            died = None if crash is None else (crash.completed, crash.log_end_offset)
            given = Given(step.before, self.configuration, event, draw, died)
            self._attribute(given, seen)
            known = bool(self._notes.passed) and self._notes.passed[-1].sequence == sequence
            goes_on = self._notes.passes_timers and is_of_timers(judged[place].differences)
            goes_on = goes_on or (known and self._visibility.sees_state)
            self._notes.is_over = self._notes.is_over or (self._stops and not goes_on)
            kept = crash.log_end_offset if crash is not None else getattr(event, "log_end_offset", None)
            begun = step.done.state if isinstance(event, events.ReplaceDisk) else step.before
            seen = self._with_early_sync(begun, seen)
            done = self._own_way(begun, step.done, step.expected, seen, kept)
            if known:
                # A leader that is known to answer too early would end every run here.
                writes_first = sorted(done.effects, key=lambda effect: not isinstance(effect, DurableEffect))
                done = done._replace(effects=tuple(writes_first))
            self.shown = named(sequence, seen if self._visibility.sees_all_writes else replaced(seen, effects=UNSET))
            if self._notes.explaining is None:
                hidden = [effect for effect in step.expected if not self._visibility.shows(effect)]
                self._notes.explaining = named(sequence, Shown((*hidden, *shown))).effects or ()
            self._references = (done.state,)
        else:
            self._durations.note_step(step.before, event, draw, step.done.effects, tuple(shown))
            done = step.done._replace(effects=self._kept(step.done.effects, seen.effects or ()))
            self.shown = named(sequence, self._comparer.in_the_models_words(step.line, seen))
            self._references = tuple(different([steps[one].done.state for one in agreeing]))
        self._follow(event, crash, done.state)
        effects, self.shown = without_unnamed(done.effects, self.shown)
        return done._replace(effects=effects)

    def _attribute(self, given: Given, seen: Shown) -> None:
        """Name the rules of the first step that differs."""
        first = self._notes.first
        if first is None or first.sequence != given.draw.correlation_id:
            return
        try:
            found = attributed(given, StepComparison(seen, self._visibility.hello).differences)
        except Exception as error:  # no defect of attribution costs the verdict
            self._notes.first = replaced(first, note=defect_line(error))
            return
        level = "MUST" if rules_of_order(first.differences) else found.level
        of_writes = () if found.is_exact else rules_of_writes(first.event, first.differences)
        self._notes.first = replaced(first, rules=tuple(dict.fromkeys((*of_writes, *found.rules))), rule_level=level)

    def _reference_steps(self, event: Event, draw: Draw, crash: CrashPoint | None) -> tuple[ReferenceStep, ...]:
        """What the reference does under each answer to the open decisions, from each state that it may be in.

        Nothing where it cannot follow the implementation any more, and the run is over.
        """
        self.shown = Shown()
        try:
            happening = Happening(self._id, event, draw, crash)
            return reference_steps(self._references, self.configuration, happening, self._beside)
        except DEFECTS:
            if self._notes.first is None and not self._notes.passed:
                raise
        except ValueError as error:
            if not isinstance(event, events.Crash):
                raise
            # It has synced, and so keeps, a part of what was appended together.
            self._notes.undecided = f"replica {self._id}: {error}"
        self._notes.is_over = True
        return ()

    def _asked(self, event: VectorEvent, first: ReferenceStep) -> Shown:
        """What it shows of the event, beside what the reference does of its own accord."""
        visibility, disk = self._visibility, self._disk
        self._answers.begin(event)
        reply = self._replica.happen(event, first.before, first.done.state)
        state = self._replica.observed(first.done.state, first.before)
        if reply is None:
            return Shown((), UNSET, state, disk)
        if event.crash is not UNSET and counts_otherwise(reply.effects, first.line.effects or (), disk):
            raise CountsOtherwiseError
        done = normal_form(reply.effects, disk)
        self._disk = disk.after(done)
        kept = self._answers.without_unheard(event, done)
        effects = tuple([without_id(one) for one in kept if visibility.shows(one)])
        self._notes.shown += len(effects)
        return Shown(effects, reply.refusal if visibility.sees_state else UNSET, state, disk, reply.died)

    def _kept(self, wanted: tuple[Effect, ...], actual: Sequence[TracedEffect]) -> tuple[Effect, ...]:
        """The reference's effects without the timers that may be missing and are."""
        there = {effect_name(effect) for effect in actual}

        def is_kept(effect: Effect) -> bool:
            traced = traced_effect(1, effect)
            is_timer = isinstance(effect, StartTimer)
            return not is_timer or effect_name(traced) in there or not self._visibility.shows(traced)

        return tuple(filter(is_kept, wanted))

    def _follow(self, event: Event, crash: CrashPoint | None, after: ReplicaState) -> None:
        """Take note of where the two have come to."""
        if isinstance(event, events.ReplaceDisk):
            self._disk = NEW_DISK
        elif crash is not None or isinstance(event, events.Crash):
            self._disk = self._disk._replace(synced=after.log.end_offset)
        self._syncs_early = self._syncs_early or self._disk.synced > after.log.flushed
        self.state = self._with_synced(after)

    def _with_synced(self, state: ReplicaState) -> ReplicaState:
        """The state with what is known to be synced; where that is not shown with all of the log, to lose nothing."""
        end, flushed = state.log.end_offset, state.log.flushed
        synced = max(flushed, min(self._disk.synced, end)) if self._visibility.sees_syncs else end
        return state if synced == flushed else state._replace(log=state.log._replace(flushed=synced))

    # -----------------------------------------------------------------------------------------------------
    # After a difference.
    # -----------------------------------------------------------------------------------------------------

    def _with_early_sync(self, before: ReplicaState, seen: Shown) -> Shown:
        """With what it had synced before and the reference had not, of which neither cluster nor model knows yet."""
        synced = seen.disk.synced
        early = self._visibility.sees_syncs and before.log.flushed < synced <= before.log.end_offset
        return replaced(seen, effects=(TracedFlushLog(synced), *(seen.effects or ()))) if early else seen

    def _own_way(
        self, before: ReplicaState, wanted: Done, expected: Sequence[TracedEffect], seen: Shown, kept: int | None
    ) -> Done:
        """What the implementation did, for the cluster to go on with."""
        if seen.state is UNSET or seen.effects is UNSET:
            return wanted
        hidden = [effect for effect in wanted.effects if not self._visibility.shows(traced_effect(1, effect))]
        try:
            made = reference_effects(seen.state, seen.effects, expected, hidden)
            # Nobody gets what is sent to who is not in the cluster.
            members = self.configuration.replicas
            made = tuple([one for one in made if not isinstance(one, Send) or one.message.destination in members])
            state = followed(before, made, wanted.state, seen.state, kept)
        except (CheckpointError, IncompleteLineError, *DEFECTS, ValueError, LookupError) as error:
            self._notes.is_over = True
            first = self._notes.first
            if first is not None and not self._notes.passed and isinstance(error, CheckpointError):
                told_twice = Difference(error.field.removeprefix("$."), "what follows from its effects", error.detail)
                self._notes.first = replaced(first, differences=(*first.differences, told_twice))
            return wanted
        # After a death nothing of it is shown, and nothing of it plays a part but the log.
        is_mixed = hides(seen.state, STATE_OF_CLUSTERS) and state.role is not Role.STOPPED
        self._notes.is_mixed = self._notes.is_mixed or is_mixed
        return Done(state, made, wanted.refusal if seen.refusal is UNSET else seen.refusal)
