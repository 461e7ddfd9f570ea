"""Each step of an adapter against the reference's in the same history: the comparison and the latitude of vectors."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.protocol.features import Level
from kraft_conformance.protocol.messages import TracedDraw
from kraft_conformance.random_runs.notes import FirstDifference, Notes
from kraft_conformance.random_runs.shown import masked
from kraft_conformance.random_runs.sight import Shown, Sight, kind_of
from kraft_conformance.runner.comparison import EffectComparison, compared_refusal, compared_state, effect_name
from kraft_conformance.runner.plain import Difference
from kraft_conformance.vectors.format import VectorStep
from kraft_conformance.vectors.ordering import happens_before
from kraft_conformance.vectors.state_changes import changed
from kraft_traces.effects import TracedEffect, TracedStartTimer
from kraft_traces.latitude.outputs import latitude_of
from kraft_traces.latitude.values import Latitude
from kraft_traces.lines import EventLine
from kraft_traces.state_types import TracedState


class Stepwise:
    """Compares the steps of one replica, in their order."""

    def __init__(self, replica_id: int, sight: Sight, notes: Notes) -> None:
        self._replica_id = replica_id
        self._sight = sight
        self._notes = notes
        self._open: frozenset[str] = frozenset()
        """Fields of the state with a value that a rule leaves open, which is not the reference's or not shown."""

    def beginning(self, expected: TracedState, observed: TracedState) -> None:
        """Compare the state in which the replica begins."""
        compared = compared_state("state", expected, observed)
        self._notes.left_out.update(dict.fromkeys(compared.left_out))
        if compared.differences:
            self._differ(0, None, None, compared.differences)

    def compared(
        self,
        sequence: int,
        before: TracedState,
        line: EventLine,
        expected: tuple[TracedEffect, ...],
        seen: Shown,
        synced_before: int,
    ) -> bool:
        """Compare a step; does it differ?

        Args:
            sequence: of the event.
            before: the state of the reference before it.
            line: what the reference does, its state after it among it.
            expected: its effects, without names of messages.
            seen: what the adapter shows.
            synced_before: up to where it had synced its log.
        """
        after = line.state
        assert after is not UNSET, "the reference shows its state"
        changes = changed(before, after)
        latitude = latitude_of(line.event, before, expected, changes)
        self._open -= {name for name in self._open if getattr(changes, name) is not UNSET}
        differences: tuple[Difference, ...] = ()
        if seen.effects != expected:
            differences = self._effects(line, changes, expected, seen, latitude, synced_before)
        if self._sight.sees_state:
            if line.event != "Crash":
                differences += compared_refusal(line.refusal or None, seen.refusal)
            differences += self._state(after, seen, latitude)
        was_open = self._open
        self._open_up(after, seen, latitude)
        if differences and was_open and self._notes.first is None:
            reasons = "; ".join(self._notes.latitude)
            self._notes.undecided = (
                f"event {sequence}, {line.event} at replica {self._replica_id}: {differences[0]}, "
                f"after a choice that is left open: {reasons}"
            )
            return True
        if differences:
            self._differ(sequence, line.event, str(before.role), differences)
        return bool(differences)

    def _effects(
        self,
        line: EventLine,
        changes: TracedState,
        expected: tuple[TracedEffect, ...],
        seen: Shown,
        latitude: tuple[Latitude, ...],
        synced_before: int,
    ) -> tuple[Difference, ...]:
        step = VectorStep(
            event=line.event,
            draw=TracedDraw(0, 0, 0),
            outputs=expected,
            before=happens_before(expected),
            refusal=None,
            state=changes,
            latitude=latitude,
        )
        hello, shown = self._sight.hello, seen.effects or ()
        after = line.state
        assert after is not UNSET, "the reference shows its state"
        assert after.log_end_offset is not UNSET, "all of it"
        comparison = EffectComparison(step, shown, hello.observability, hello.unobserved)
        compared = comparison.compared(synced_before, after.log_end_offset)
        self._notes.left_out.update(dict.fromkeys(compared.left_out))
        there = {effect_name(effect) for effect in shown}
        for one in latitude:
            place = one.path.removeprefix("outputs[").removesuffix("]")
            if not one.absent or not self._sight.shows(kind_of(expected[int(place)])):
                continue
            if effect_name(expected[int(place)]) not in there:
                self._notes.latitude[one.reason] = None
        return compared.differences

    def _state(self, after: TracedState, seen: Shown, latitude: tuple[Latitude, ...]) -> tuple[Difference, ...]:
        observed = seen.state
        assert observed is not UNSET, "the adapter shows it"
        if self._open:
            observed = replace(observed, **dict.fromkeys(self._open, UNSET))
        if observed == after:
            return ()
        compared = compared_state("state", after, observed, latitude)
        self._notes.left_out.update(dict.fromkeys(compared.left_out))
        return compared.differences

    def _open_up(self, after: TracedState, seen: Shown, latitude: tuple[Latitude, ...]) -> None:
        """From here on a field may have another value than the reference's."""
        for one in latitude:
            root, _, name = one.path.partition(".")
            given = UNSET if seen.state is UNSET else getattr(seen.state, name, UNSET)
            if root == "state" and given != getattr(after, name):
                self._open |= {name}
                self._notes.latitude[one.reason] = None
                self._notes.is_open = True

    def _differ(self, sequence: int, event: str | None, role: str | None, found: tuple[Difference, ...]) -> None:
        if self._notes.first is None:
            self._notes.first = FirstDifference(sequence, self._replica_id, event, role, found, _level(found))

    # -----------------------------------------------------------------------------------------------------
    # For the trace.
    # -----------------------------------------------------------------------------------------------------

    def in_the_models_words(self, line: EventLine, seen: Shown) -> Shown:
        """A step without differences as the model tells it, as far as it was shown.

        A write that is missing and may be is in the model all the same: it syncs at the latest moment.
        """
        sight = self._sight
        effects: tuple[TracedEffect, ...] | None = None
        if sight.sees_all_writes:
            theirs = {effect_name(effect): effect for effect in seen.effects or ()}
            effects = tuple(_as_shown(line.effects or (), theirs))
        if not sight.sees_state:
            return Shown(UNSET if effects is None else effects)
        assert line.state is not UNSET, "the reference shows its state"
        assert seen.state is not UNSET, "the adapter shows it"
        state = masked(line.state, seen.state)
        hidden = dict.fromkeys(self._open, UNSET)
        if seen.state.flushed_offset != line.state.flushed_offset:
            hidden["flushed_offset"] = UNSET
        refusal = UNSET if seen.refusal is UNSET and line.event != "Crash" else line.refusal
        return Shown(UNSET if effects is None else effects, refusal, replace(state, **hidden) if hidden else state)


def _as_shown(expected: Sequence[TracedEffect], actual: Mapping[str, TracedEffect]) -> Iterator[TracedEffect]:
    for effect in expected:
        shown = actual.get(effect_name(effect))
        if shown is not None:
            yield masked(effect, shown)
        elif not isinstance(effect, TracedStartTimer):
            yield effect


def _level(found: Sequence[Difference]) -> Level:
    """Of the differences, the lowest level at which one shows."""
    fields = [one.field for one in found]
    if any(part in name for name in fields for part in ("Send ", "Answer ")):
        return "wire"
    return "state" if all(name.startswith(("state", "refusal")) for name in fields) else "effects"
