"""Runs without a rule: the header says so and a property is violated, or it does not and the rule is named."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from kraft_reference.cluster.plan import RunPlan
from kraft_reference.scenarios import SCENARIOS, run
from kraft_spec.action_rules import switchable_rules
from kraft_traces.check import TRACE_PROPERTIES, Rejection, RejectionKind, VerdictKind, check_occurrences

# ---------------------------------------------------------------------------------------------------------
# PROPERTY: runs whose header says that a rule is switched off.
# ---------------------------------------------------------------------------------------------------------

VARIANTS = [(one, variant) for one in SCENARIOS for variant in one.variants]


@pytest.mark.parametrize(("scenario", "variant"), VARIANTS, ids=[f"{s.name}/{v.name}" for s, v in VARIANTS])
def test_scenarios_are_accepted_or_violate_what_they_say(scenario: Any, variant: Any) -> None:
    told = run(scenario, variant)
    verdict = check_occurrences(told.occurrences, told.configuration, variant.name)
    wanted = TRACE_PROPERTIES & set(variant.violates)
    if not wanted:
        assert verdict.kind is VerdictKind.ACCEPTED, verdict
        return
    assert verdict.rejection is not None
    assert verdict.rejection.kind is RejectionKind.PROPERTY
    assert set(verdict.rejection.properties) & wanted
    first = min(sequence for name, sequence in told.violated.items() if name in wanted and sequence is not None)
    assert verdict.rejection.sequence == first
    assert verdict.switched_off == tuple(sorted(told.configuration.switched_off))
    assert " violates " in verdict.rejection.headline()


def test_scenarios_show_several_properties() -> None:
    assert len({name for _, variant in VARIANTS for name in variant.violates} & TRACE_PROPERTIES) >= 4


# ---------------------------------------------------------------------------------------------------------
# Planted bugs: the reference leaves a rule out, the header does not say so.
# ---------------------------------------------------------------------------------------------------------

HARMLESS = frozenset(("hw.leader-excluded", "vote.membership-not-checked"))
"""Rules that matter only where voters sets change, which no workload does."""

PLANTED = [rule for rule in switchable_rules() if rule not in HARMLESS]
_WORKLOADS = ("chaos", "elections", "observers", "mixed-versions")


def _planted(rule: str) -> tuple[Rejection, RunPlan]:
    """The rejection of the first run in which the missing rule shows."""
    for workload, seed in product(_WORKLOADS, range(8)):
        plan = RunPlan(seed, steps=400, workload=workload, switched_off=(rule,))
        simulation = plan.simulation()
        configuration = replace(simulation.configuration, switched_off=frozenset())
        verdict = check_occurrences(simulation.run(), configuration, workload)
        if verdict.rejection is not None:
            return verdict.rejection, plan
    raise AssertionError(f"{rule} makes no difference in these runs")


@pytest.mark.slow
@pytest.mark.parametrize("rule", PLANTED)
def test_a_planted_bug_is_named_by_its_rule(rule: str) -> None:
    found, plan = _planted(rule)
    assert rule in found.explained_by
    assert rule in found.rules[:3]
    assert found.differences or found.conjunct is not None
    # At the first line that is wrong: up to there the run without the rule is one with it, too.
    with_rule = check_occurrences(
        (one for one in plan.simulation().run() if one.sequence < found.sequence), plan.configuration(), "prefix"
    )
    assert with_rule.kind is VerdictKind.ACCEPTED
    configuration = replace(plan.configuration(), switched_off=frozenset())
    prefix = check_occurrences(
        (one for one in plan.simulation().run() if one.sequence < found.sequence), configuration, "prefix"
    )
    assert prefix.kind is VerdictKind.ACCEPTED


def test_there_are_planted_bugs() -> None:
    assert len(PLANTED) >= 8
    assert set(switchable_rules()) > HARMLESS
