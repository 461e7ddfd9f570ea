"""Runs without a rule: the header says so and a property is violated, or it does not and the rule is named."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import product, zip_longest
from typing import Any, NamedTuple

import pytest

from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer
from kraft_reference.scenarios import SCENARIOS
from kraft_spec.experiments import switchable_rules
from kraft_spec.experiments.playing import play, simulation_of
from kraft_traces.check import TRACE_PROPERTIES, RejectionKind, VerdictKind, check_occurrences

# ---------------------------------------------------------------------------------------------------------
# PROPERTY: runs whose header says that a rule is switched off.
# ---------------------------------------------------------------------------------------------------------

VARIANTS = [(one, variant) for one in SCENARIOS for variant in one.variants]


@pytest.mark.parametrize(("scenario", "variant"), VARIANTS, ids=[f"{s.name}/{v.name}" for s, v in VARIANTS])
def test_scenarios_are_accepted_or_violate_what_they_say(scenario: Any, variant: Any) -> None:
    told = play(scenario, variant)
    verdict = check_occurrences(told.occurrences, told.configuration, variant.name, switched_off=variant.without)
    wanted = TRACE_PROPERTIES & set(variant.violates)
    if not wanted:
        assert verdict.kind is VerdictKind.ACCEPTED, verdict
        return
    assert verdict.rejection is not None
    assert verdict.rejection.kind is RejectionKind.PROPERTY
    assert set(verdict.rejection.properties) & wanted
    first = min(sequence for name, sequence in told.violated.items() if name in wanted and sequence is not None)
    assert verdict.rejection.sequence == first
    assert verdict.switched_off == tuple(sorted(variant.without))
    assert " violates " in verdict.rejection.headline()


def test_scenarios_show_several_properties() -> None:
    assert len({name for _, variant in VARIANTS for name in variant.violates} & TRACE_PROPERTIES) >= 4


# ---------------------------------------------------------------------------------------------------------
# Planted bugs: the reference leaves a rule out, the header does not say so.
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


class Planted(NamedTuple):
    """A run without a rule, up to the first line in which that makes a difference, and that line."""

    occurrences: tuple[Occurrence, ...]
    configuration: Configuration


def _seen_by_the_model(occurrence: Occurrence) -> tuple[object, ...]:
    """The model has no timers."""
    effects = tuple(effect for effect in occurrence.effects if not isinstance(effect, StartTimer))
    return occurrence.state, effects, occurrence.refusal


@cache
def _with_every_rule(plan: RunPlan) -> tuple[tuple[object, ...], ...]:
    """What the model sees of a run that keeps the rules: each missing rule is compared with the same runs."""
    return tuple(map(_seen_by_the_model, plan.simulation().run()))


def _to_first_difference(
    without: Iterable[Occurrence], with_rule: Iterable[tuple[object, ...]]
) -> tuple[Occurrence, ...]:
    """Empty if the rule makes no difference."""
    taken: list[Occurrence] = []
    for one, other in zip_longest(without, with_rule):
        if one is None:
            return ()
        taken.append(one)
        if other is None or _seen_by_the_model(one) != other:
            return tuple(taken)
    return ()


def _planted(rule: str) -> Planted:
    """The first run in which the missing rule shows; a scenario if no simulated run comes to it."""
    for seed, workload in product(range(_SEEDS), _WORKLOADS):
        plan = RunPlan(seed, steps=400, workload=workload, switched_off=(rule,))
        taken = _to_first_difference(simulation_of(plan).run(), _with_every_rule(replace(plan, switched_off=())))
        if taken:
            return Planted(taken, plan.configuration())
    for one, variant in VARIANTS:
        if variant.without == (rule,):
            told = play(one, variant)
            return Planted(told.occurrences, told.configuration)
    raise AssertionError(f"{rule} makes no difference in these runs")


@pytest.mark.slow
@pytest.mark.parametrize(
    "rule",
    # Each looks for a run in which it shows; one in four on a push. A vector about each rule notices it there, too.
    [
        pytest.param(rule, marks=() if number % 4 == 0 else pytest.mark.nightly)
        for number, rule in enumerate(switchable_rules())
    ],
)
def test_a_planted_bug_is_named_by_its_rule(rule: str) -> None:
    occurrences, configuration = _planted(rule)
    found = check_occurrences(occurrences, configuration, rule).rejection
    assert found is not None
    assert rule in found.explained_by
    assert rule in found.rules[:3]
    assert found.differences or found.conjunct is not None
    # At the first line that is wrong: up to there the run without the rule is one with it, too.
    before = [one for one in occurrences if one.sequence < found.sequence]
    for switched_off in ((), (rule,)):
        verdict = check_occurrences(before, configuration, "prefix", switched_off=switched_off)
        assert verdict.kind is VerdictKind.ACCEPTED


def test_there_are_planted_bugs() -> None:
    assert len(switchable_rules()) >= 20
