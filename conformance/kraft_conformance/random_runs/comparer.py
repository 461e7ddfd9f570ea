"""Comparison of each step of an adapter with the reference's in the same history, as in vectors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kraft_conformance.random_runs.notes import FirstDifference, KnownStep, Notes, is_of_timers
from kraft_conformance.random_runs.plan import explain_differences
from kraft_conformance.random_runs.shown import mask
from kraft_conformance.random_runs.visibility import Visibility
from kraft_conformance.runner.comparison import EffectComparison, compare_refusals, compare_states, effect_name
from kraft_conformance.runner.plain import Comparison
from kraft_conformance.runner.process_life import death_differences
from kraft_conformance.runner.shown import Observation
from kraft_spec.difference import Difference
from kraft_traces.effects import TracedEffect, TracedSend, TracedStartTimer
from kraft_traces.lines import EventLine
from kraft_traces.state_types import TracedState
from kraft_vectors.expecting import expected_of
from kraft_vectors.features import Level
from kraft_vectors.format import Expected


@dataclass(frozen=True, slots=True)
class ComparedStep:
    """Comparison of an adapter's step with the reference's."""

    differences: tuple[Difference, ...]
    left_out: tuple[str, ...]
    """Expected parts that were not shown."""
    latitude: tuple[str, ...]
    """Reasons why missing outputs may be missing."""


class StepComparer:
    """Compares the steps of a replica, in their order."""

    def __init__(self, replica_id: int, visibility: Visibility, notes: Notes) -> None:
        self._replica_id = replica_id
        self._visibility = visibility
        self._notes = notes

    def beginning(self, expected: TracedState, observed: TracedState) -> None:
        """Compare the initial state of the replica."""
        compared = compare_states("state", expected, observed)
        self.note(0, None, None, ComparedStep(compared.differences, compared.left_out, ()))

    def judged(
        self,
        before: TracedState,
        line: EventLine,
        expected: tuple[TracedEffect, ...],
        observation: Observation,
    ) -> ComparedStep:
        """Compare a step."""
        after = line.state
        assert after is not UNSET, "the reference shows its state"
        wanted = expected_of(line.event, line.message, expected, before, after)
        differences, left_out = Comparison((), ())
        if observation.effects != expected:
            assert after.log_end_offset is not UNSET, "all of it"
            hello = self._visibility.hello
            comparison = EffectComparison(wanted, observation.effects or (), hello.observability, hello.unobserved)
            differences, left_out = comparison.compared(observation.disk, after.log_end_offset)
        if self._visibility.sees_state:
            if line.event != "Crash":
                differences += compare_refusals(line.refusal or None, observation.refusal)
            assert observation.state is not UNSET, "the adapter shows it"
            if observation.state != after:
                state = compare_states("state", after, observation.state)
                differences, left_out = differences + state.differences, left_out + state.left_out
        return ComparedStep(
            (*death_differences(observation.died), *differences), left_out, tuple(self._missing(wanted, observation))
        )

    def note(self, sequence: int, event: str | None, role: str | None, judged: ComparedStep, *reasons: str) -> None:
        """Record a comparison, with the reasons of the open decisions that it used."""
        self._notes.left_out.update(dict.fromkeys(judged.left_out))
        self._notes.latitude.update(dict.fromkeys((*judged.latitude, *reasons)))
        differences, notes = judged.differences, self._notes
        if not differences:
            return
        explaining = explain_differences(notes.known, event, differences)
        if explaining:
            notes.passed.append(KnownStep(sequence, self._replica_id, explaining))
            notes.is_over = notes.is_over or any(difference.ends_run for difference in explaining)
            return
        if notes.first is None or (notes.first.is_of_timers and not is_of_timers(differences)):
            notes.first = FirstDifference(sequence, self._replica_id, event, role, differences, _level(differences))
        # After a known difference the model does not check the run, so any further difference ends it.
        notes.is_over = notes.is_over or (bool(notes.passed) and not is_of_timers(differences))

    def _missing(self, wanted: Expected, observation: Observation) -> Iterator[str]:
        there = {effect_name(effect) for effect in observation.effects or ()}
        may_be_missing = {latitude.path: latitude.reason for latitude in wanted.latitude if latitude.absent}
        for place, effect in enumerate(wanted.outputs):
            reason = may_be_missing.get(f"outputs[{place}]")
            if reason is not None and self._visibility.shows(effect) and effect_name(effect) not in there:
                yield reason

    # -----------------------------------------------------------------------------------------------------
    # For the trace.
    # -----------------------------------------------------------------------------------------------------

    def in_the_models_words(self, line: EventLine, observation: Observation) -> Observation:
        """Return a step without differences as the model records it, limited to the observable parts.

        A write that may be missing is included, because the model syncs as late as possible.
        """
        visibility = self._visibility
        effects: tuple[TracedEffect, ...] | None = None
        # A step that only sends is completely observable at every level, including the recipients of BeginQuorumEpoch.
        if visibility.sees_all_writes or all(isinstance(effect, TracedSend) for effect in line.effects or ()):
            theirs = {effect_name(effect): effect for effect in observation.effects or ()}
            effects = tuple(_as_shown(line.effects or (), theirs))
        if not visibility.sees_state:
            return Observation(UNSET if effects is None else effects)
        assert line.state is not UNSET, "the reference shows its state"
        assert observation.state is not UNSET, "the adapter shows it"
        state = mask(line.state, observation.state)
        hidden: dict[str, UnsetType] = {}
        if observation.state.flushed_offset != line.state.flushed_offset:
            hidden["flushed_offset"] = UNSET
        refusal = UNSET if observation.refusal is UNSET and line.event != "Crash" else line.refusal
        return Observation(
            UNSET if effects is None else effects, refusal, replace(state, **hidden) if hidden else state
        )


def _as_shown(expected: Sequence[TracedEffect], actual: Mapping[str, TracedEffect]) -> Iterator[TracedEffect]:
    for effect in expected:
        actual_effect = actual.get(effect_name(effect))
        if actual_effect is not None:
            yield mask(effect, actual_effect)
        elif not isinstance(effect, TracedStartTimer):
            yield effect


def _level(differences: Sequence[Difference]) -> Level:
    """Return the lowest observability at which one of the differences shows."""
    fields = [difference.field for difference in differences]
    if any(part in name for name in fields for part in ("Send ", "Answer ", "died")):
        return "wire"
    return "state" if all(name.startswith(("state", "refusal")) for name in fields) else "effects"
