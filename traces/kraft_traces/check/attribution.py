"""Attribution of a line that differs from the reference to the rules that it may break."""

from collections.abc import Sequence
from functools import partial

from msgspec import UNSET

from kraft_mutants import load_catalogue, omitted_rule
from kraft_mutants.attribution import Attribution, Given, attributed
from kraft_reference.configuration import Configuration
from kraft_reference.events import Draw, Event
from kraft_reference.outcome import Refusal
from kraft_reference.replica import Step
from kraft_reference.state import ReplicaState
from kraft_spec.difference import Difference
from kraft_traces.check.differences import effect_differences, field_differences
from kraft_traces.check.observation import STATE_FIELDS, canonical_effects, canonical_state
from kraft_traces.effects import traced_effect
from kraft_traces.lines import EventLine
from kraft_traces.restore import crash_point_of
from kraft_traces.states import traced_state


def attribute_line(
    line: EventLine, event: Event, before: ReplicaState, configuration: Configuration, stated: Sequence[str]
) -> Attribution:
    """Return the rules behind the differences of a line at a replica, the likeliest first.

    Args:
        line: the line; missing fields are not compared.
        event: its event.
        before: the state of its replica before it.
        configuration: the configuration of the trace.
        stated: the rules that its action cites, as a fallback.
    """
    point = crash_point_of(line)
    crash = None if point is None else (point.completed, point.log_end_offset)
    # The model has no clock: durations are not compared.
    circumstances = Given(before, configuration, event, Draw(line.sequence, 0, 0), crash)

    return attributed(circumstances, partial(line_differences, line), stated)


def explaining_rules(suspects: Sequence[str]) -> tuple[str, ...]:
    """Return the rules that explain a line: without that one rule the reference gives the recorded outcome.

    Args:
        suspects: names of the mutants that give it.
    """
    catalogue = load_catalogue()
    omitted = [omitted_rule(catalogue[name]) for name in suspects]
    return tuple(dict.fromkeys(rule for rule in omitted if rule is not None))


def line_differences(line: EventLine, step: Step) -> tuple[Difference, ...]:
    """Return the differences between a line and a step of the reference; a missing field agrees with any value."""
    differences: list[Difference] = []
    if line.state is not UNSET:
        wanted, recorded = canonical_state(traced_state(step.state)), canonical_state(line.state)
        differences += field_differences("state.", STATE_FIELDS, wanted, recorded, complete=False)
    if line.refusal not in (UNSET, step.refusal):
        differences.append(Difference("refusal", _reason_text(step.refusal), _reason_text(line.refusal)))
    if line.effects is not UNSET:
        effects = tuple([traced_effect(line.sequence, effect) for effect in step.effects])
        expected = [effect for _, effect in canonical_effects(effects)]
        differences += effect_differences(expected, canonical_effects(line.effects), complete=False)
    return tuple(differences)


def _reason_text(refusal: Refusal | None) -> str:
    return str(refusal)
