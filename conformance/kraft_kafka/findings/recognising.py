"""Is a failing run an instance of a finding?

A finding that comes from an answer of a profile is put to the test: the shortest failing schedule is made again with
its answer and with the other. A replay is a function of schedule, chances and answers, so where the first breaks the
property and the second keeps them all, the run failed because of that answer.
"""

from dataclasses import replace
from typing import Any

from kraft_kafka.findings.finding import Finding, load_findings
from kraft_mutants.replicas import mutated_replicas
from kraft_reference.configuration import Configuration
from kraft_simulation.failure import Failure
from kraft_simulation.liveness.watch import LIVENESS_PROPERTIES
from kraft_simulation.shrink import replay_checked

_WAITS = 5
"""A wait that happens to go well says little, so several have to go well with the other answer."""


def findings_in(failure: Failure) -> tuple[Finding, ...]:
    """The findings that the run is an instance of, in the order of the table; none if it is another defect."""
    configuration = failure.plan.configuration()
    return tuple(finding for finding in load_findings() if _is_instance(failure, configuration, finding))


def _is_instance(failure: Failure, configuration: Configuration, finding: Finding) -> bool:
    decision = finding.decision
    _, variant = finding.variant()
    if decision is None or failure.violation.property_name not in variant.violates:
        return False
    if getattr(configuration.profile, decision.name) != decision.answer:
        return False
    answer: dict[str, Any] = {decision.name: decision.safe}
    otherwise = replace(configuration, profile=replace(configuration.profile, **answer))
    waits = range(failure.plan.seed, failure.plan.seed + _WAITS)
    if failure.violation.property_name not in LIVENESS_PROPERTIES:
        waits = range(1)
    with_it = [_violated(failure, configuration, seed) for seed in waits]
    without = [_violated(failure, otherwise, seed) for seed in waits]
    return failure.violation.property_name in with_it and not any(without)


def _violated(failure: Failure, configuration: Configuration, seed: int) -> str:
    """The property that the schedule breaks, or the wait after it with these chances; empty if none."""
    make_replica = mutated_replicas(failure.plan.mutants)
    if failure.violation.property_name not in LIVENESS_PROPERTIES:
        violation = replay_checked(configuration, failure.schedule, make_replica).violation
    else:
        simulation = failure.plan.simulation(seed=seed, configuration=configuration, make_replica=make_replica)
        for _ in simulation.run(prefix=failure.schedule):
            pass
        violation = simulation.violation
    return "" if violation is None else violation.property_name
