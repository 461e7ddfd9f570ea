"""Runs without a rule: the header says so and a property is violated, or it does not and the rule is named."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import pytest

from kraft_mutants import omittable_rules
from kraft_mutants.playing import play, simulation_of
from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.plan import RunPlan
from kraft_simulation.scenarios import SCENARIOS
from kraft_traces.check import TRACE_PROPERTIES, RejectionKind, VerdictKind, check_occurrences
from kraft_traces.encode import event_line

# ---------------------------------------------------------------------------------------------------------
# PROPERTY: runs whose header says that a rule is switched off.
# ---------------------------------------------------------------------------------------------------------

VARIANTS = [(scenario, variant) for scenario in SCENARIOS for variant in scenario.variants]


@pytest.mark.parametrize(("scenario", "variant"), VARIANTS, ids=[f"{s.name}/{v.name}" for s, v in VARIANTS])
def test_scenarios_are_accepted_or_violate_what_they_say(scenario: Any, variant: Any) -> None:
    outcome = play(scenario, variant)
    verdict = check_occurrences(outcome.occurrences, outcome.configuration, variant.name, switched_off=variant.mutants)
    wanted = TRACE_PROPERTIES & set(variant.violates)
    if not wanted:
        assert verdict.kind is VerdictKind.ACCEPTED, verdict
        return
    assert verdict.rejection is not None
    assert verdict.rejection.kind is RejectionKind.PROPERTY
    assert set(verdict.rejection.properties) & wanted
    first = min(sequence for name, sequence in outcome.violated.items() if name in wanted and sequence is not None)
    assert verdict.rejection.sequence == first
    assert verdict.switched_off == tuple(sorted(variant.mutants))
    assert ": the step violates " in verdict.rejection.headline()


def test_scenarios_show_several_properties() -> None:
    assert len({name for _, variant in VARIANTS for name in variant.violates} & TRACE_PROPERTIES) >= 4


# ---------------------------------------------------------------------------------------------------------
# Mutants: the reference leaves a rule out, the header does not say so.
# ---------------------------------------------------------------------------------------------------------

_WORKLOADS = (
    "chaos",
    "elections",
    "observers",
    "mixed-versions",
    "voter-changes",
    "hasty-changes",
    "auto-join",
    "snapshots",
    "storm",
)
_SEEDS = 12
_BEGINS_EARLIER = {"voters.set-from-snapshot-and-log": "voters.effective-on-append"}
"""What no single step explains, because it begins at a line that shows nothing of it: how far a log has been read is
in no trace. Named is the rule that such a step breaks, as it is seen by itself."""


class Planted(NamedTuple):
    """A run without a rule, up to the first line in which that makes a difference, and that line."""

    occurrences: tuple[Occurrence, ...]
    configuration: Configuration


def _judged(occurrence: Occurrence) -> tuple[object, ...]:
    """Return the part of an occurrence that the model sees, which has no timers."""
    effects = tuple(effect for effect in occurrence.effects if not isinstance(effect, StartTimer))
    line = event_line(occurrence._replace(effects=effects))
    return line.state, line.effects, line.refusal


@cache
def _with_every_rule(plan: RunPlan) -> tuple[Occurrence, ...]:
    """A run that keeps the rules: each missing rule is compared with the same runs."""
    return tuple(plan.simulation().run())


def _to_first_difference(without: Iterable[Occurrence], with_rule: Iterable[Occurrence]) -> tuple[Occurrence, ...]:
    """Empty if the rule makes no difference, or one that first shows in what happens next: in timers alone."""
    taken: list[Occurrence] = []
    for occurrence, other in zip(without, with_rule, strict=False):
        taken.append(occurrence)
        if (occurrence.replica_id, occurrence.event) != (other.replica_id, other.event):
            return ()
        if _judged(occurrence) != _judged(other):
            return tuple(taken)
    return ()


def _planted(rule: str) -> Planted:
    """The first run in which the missing rule shows; a scenario if no simulated run comes to it."""
    for seed, workload in product(range(_SEEDS), _WORKLOADS):
        plan = RunPlan(seed, steps=400, workload=workload, mutants=(rule,))
        taken = _to_first_difference(simulation_of(plan).run(), _with_every_rule(replace(plan, mutants=())))
        if taken:
            return Planted(taken, plan.configuration())
    for scenario, variant in VARIANTS:
        if variant.mutants == (rule,):
            outcome = play(scenario, variant)
            return Planted(outcome.occurrences, outcome.configuration)
    raise AssertionError(f"{rule} makes no difference in these runs")


@pytest.mark.slow
@pytest.mark.parametrize(
    "rule",
    # Each looks for a run in which it shows; one in sixteen on a push. A vector about each rule notices it there, too.
    [
        pytest.param(rule, marks=() if number % 16 == 0 else pytest.mark.nightly)
        for number, rule in enumerate(omittable_rules())
    ],
)
def test_a_mutant_is_named_by_its_rule(rule: str) -> None:
    occurrences, configuration = _planted(rule)
    rejection = check_occurrences(occurrences, configuration, rule).rejection
    assert rejection is not None
    named = _BEGINS_EARLIER.get(rule, rule)
    assert rule in _BEGINS_EARLIER or rule in rejection.explained_by
    assert named in rejection.rules[:3]
    assert rejection.differences or rejection.conjunct is not None
    # At the first line that is wrong: up to there the run without the rule is one with it, too.
    before = [occurrence for occurrence in occurrences if occurrence.sequence < rejection.sequence]
    for switched_off in ((), (rule,)):
        verdict = check_occurrences(before, configuration, "prefix", switched_off=switched_off)
        assert verdict.kind is VerdictKind.ACCEPTED


def test_there_are_mutants() -> None:
    assert len(omittable_rules()) >= 20
