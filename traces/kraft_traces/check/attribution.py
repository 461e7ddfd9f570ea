"""The rules behind what a line shows and the reference would not do."""

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


def attributed_line(
    line: EventLine, event: Event, before: ReplicaState, configuration: Configuration, stated: Sequence[str]
) -> Attribution:
    """The rules behind what differs in a line at a replica, the likeliest first.

    Args:
        line: the line; what it leaves out is not compared.
        event: what happens in it.
        before: the state of its replica before it.
        configuration: that of its trace.
        stated: the rules that its action states, to fall back on.
    """
    died = crash_point_of(line)
    crash = None if died is None else (died.completed, died.log_end_offset)
    # The model has no clock: durations are not compared.
    given = Given(before, configuration, event, Draw(line.sequence, 0, 0), crash)

    return attributed(given, partial(line_differences, line), stated)


def rules_left_out(suspects: Sequence[str]) -> tuple[str, ...]:
    """The rules without any one of which the reference does just what a line shows.

    Args:
        suspects: mutants that do, by name.
    """
    catalogue = load_catalogue()
    omitted = [omitted_rule(catalogue[name]) for name in suspects]
    return tuple(dict.fromkeys(rule for rule in omitted if rule is not None))


def line_differences(line: EventLine, step: Step) -> tuple[Difference, ...]:
    """Where a line differs from a step of the reference; what it leaves out agrees with everything."""
    found: list[Difference] = []
    if line.state is not UNSET:
        wanted, shown = canonical_state(traced_state(step.state)), canonical_state(line.state)
        found += field_differences("state.", STATE_FIELDS, wanted, shown, complete=False)
    if line.refusal not in (UNSET, step.refusal):
        found.append(Difference("refusal", _worded(step.refusal), _worded(line.refusal)))
    if line.effects is not UNSET:
        effects = tuple([traced_effect(line.sequence, effect) for effect in step.effects])
        expected = [effect for _, effect in canonical_effects(effects)]
        found += effect_differences(expected, canonical_effects(line.effects), complete=False)
    return tuple(found)


def _worded(refusal: Refusal | None) -> str:
    return str(refusal)
