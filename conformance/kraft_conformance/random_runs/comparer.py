"""Each step of an adapter against the reference's in the same history: the comparison and the latitude of vectors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kraft_conformance.random_runs.notes import FirstDifference, Notes, Passed, is_of_timers
from kraft_conformance.random_runs.plan import explanation
from kraft_conformance.random_runs.shown import masked
from kraft_conformance.random_runs.visibility import Visibility
from kraft_conformance.runner.comparison import EffectComparison, compared_refusal, compared_state, effect_name
from kraft_conformance.runner.plain import Compared
from kraft_conformance.runner.process_life import ended
from kraft_conformance.runner.shown import Shown
from kraft_spec.difference import Difference
from kraft_traces.effects import TracedEffect, TracedSend, TracedStartTimer
from kraft_traces.lines import EventLine
from kraft_traces.state_types import TracedState
from kraft_vectors.expecting import expected_of
from kraft_vectors.features import Level
from kraft_vectors.format import Expected


@dataclass(frozen=True, slots=True)
class Judged:
    """A step of an adapter beside one of the reference."""

    differences: tuple[Difference, ...]
    left_out: tuple[str, ...]
    """What was expected and not shown."""
    latitude: tuple[str, ...]
    """The reasons for which an output may be missing, and is."""


class StepComparer:
    """Compares the steps of one replica, in their order."""

    def __init__(self, replica_id: int, visibility: Visibility, notes: Notes) -> None:
        self._replica_id = replica_id
        self._visibility = visibility
        self._notes = notes

    def beginning(self, expected: TracedState, observed: TracedState) -> None:
        """Compare the state in which the replica begins."""
        compared = compared_state("state", expected, observed)
        self.note(0, None, None, Judged(compared.differences, compared.left_out, ()))

    def judged(
        self,
        before: TracedState,
        line: EventLine,
        expected: tuple[TracedEffect, ...],
        observation: Shown,
    ) -> Judged:
        """Compare a step."""
        after = line.state
        assert after is not UNSET, "the reference shows its state"
        wanted = expected_of(line.event, line.message, expected, before, after)
        differences, left_out = Compared((), ())
        if observation.effects != expected:
            assert after.log_end_offset is not UNSET, "all of it"
            hello = self._visibility.hello
            comparison = EffectComparison(wanted, observation.effects or (), hello.observability, hello.unobserved)
            differences, left_out = comparison.compared(observation.disk, after.log_end_offset)
        if self._visibility.sees_state:
            if line.event != "Crash":
                differences += compared_refusal(line.refusal or None, observation.refusal)
            assert observation.state is not UNSET, "the adapter shows it"
            if observation.state != after:
                state = compared_state("state", after, observation.state)
                differences, left_out = differences + state.differences, left_out + state.left_out
        return Judged((*ended(observation.died), *differences), left_out, tuple(self._missing(wanted, observation)))

    def note(self, sequence: int, event: str | None, role: str | None, judged: Judged, *reasons: str) -> None:
        """Take note of a comparison, with the reasons of the open answers that it took."""
        self._notes.left_out.update(dict.fromkeys(judged.left_out))
        self._notes.latitude.update(dict.fromkeys((*judged.latitude, *reasons)))
        differences, notes = judged.differences, self._notes
        if not differences:
            return
        explaining = explanation(notes.known, event, differences)
        if explaining:
            notes.passed.append(Passed(sequence, self._replica_id, explaining))
            notes.is_over = notes.is_over or any(difference.ends_run for difference in explaining)
            return
        if notes.first is None or (notes.first.is_of_timers and not is_of_timers(differences)):
            notes.first = FirstDifference(sequence, self._replica_id, event, role, differences, _level(differences))
        # The model has not followed after what is known: there no difference goes by.
        notes.is_over = notes.is_over or (bool(notes.passed) and not is_of_timers(differences))

    def _missing(self, wanted: Expected, observation: Shown) -> Iterator[str]:
        there = {effect_name(effect) for effect in observation.effects or ()}
        may_be_missing = {latitude.path: latitude.reason for latitude in wanted.latitude if latitude.absent}
        for place, effect in enumerate(wanted.outputs):
            reason = may_be_missing.get(f"outputs[{place}]")
            if reason is not None and self._visibility.shows(effect) and effect_name(effect) not in there:
                yield reason

    # -----------------------------------------------------------------------------------------------------
    # For the trace.
    # -----------------------------------------------------------------------------------------------------

    def in_the_models_words(self, line: EventLine, observation: Shown) -> Shown:
        """A step without differences as the model tells it, as far as it was shown.

        A write that is missing and may be is in the model all the same: it syncs at the latest moment.
        """
        visibility = self._visibility
        effects: tuple[TracedEffect, ...] | None = None
        # A step that only sends is seen whole at every level, and with it to whom a leader announces itself.
        if visibility.sees_all_writes or all(isinstance(effect, TracedSend) for effect in line.effects or ()):
            theirs = {effect_name(effect): effect for effect in observation.effects or ()}
            effects = tuple(_as_shown(line.effects or (), theirs))
        if not visibility.sees_state:
            return Shown(UNSET if effects is None else effects)
        assert line.state is not UNSET, "the reference shows its state"
        assert observation.state is not UNSET, "the adapter shows it"
        state = masked(line.state, observation.state)
        hidden: dict[str, UnsetType] = {}
        if observation.state.flushed_offset != line.state.flushed_offset:
            hidden["flushed_offset"] = UNSET
        refusal = UNSET if observation.refusal is UNSET and line.event != "Crash" else line.refusal
        return Shown(UNSET if effects is None else effects, refusal, replace(state, **hidden) if hidden else state)


def _as_shown(expected: Sequence[TracedEffect], actual: Mapping[str, TracedEffect]) -> Iterator[TracedEffect]:
    for effect in expected:
        actual_effect = actual.get(effect_name(effect))
        if actual_effect is not None:
            yield masked(effect, actual_effect)
        elif not isinstance(effect, TracedStartTimer):
            yield effect


def _level(differences: Sequence[Difference]) -> Level:
    """Of the differences, the lowest level at which one shows."""
    fields = [difference.field for difference in differences]
    if any(part in name for name in fields for part in ("Send ", "Answer ", "died")):
        return "wire"
    return "state" if all(name.startswith(("state", "refusal")) for name in fields) else "effects"
