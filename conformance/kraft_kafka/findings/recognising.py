"""Attribution of a failing run to a finding.

For a finding caused by a profile's decision, the shortest failing schedule is replayed with this decision and with the
safe one.  A replay depends on schedule, random choices and decisions only.  If the first replay violates the property
and the second violates none, the decision caused the failure.
"""

from dataclasses import replace

from kraft_kafka.findings.finding import Finding, load_findings
from kraft_mutants.replicas import mutated_replicas
from kraft_reference.configuration import Configuration
from kraft_reference.profile import settings, with_settings
from kraft_simulation.failure import Failure
from kraft_simulation.liveness.watch import LIVENESS_PROPERTIES
from kraft_simulation.shrink import replay_checked

_WAITS = 5
"""One wait may succeed by chance, so several must succeed with the safe decision."""


def findings_in(failure: Failure) -> tuple[Finding, ...]:
    """Return the findings that the run is an instance of, in the order of the table; none for another defect."""
    configuration = failure.plan.configuration()
    return tuple(finding for finding in load_findings() if _is_instance(failure, configuration, finding))


def _is_instance(failure: Failure, configuration: Configuration, finding: Finding) -> bool:
    decision = finding.decision
    _, variant = finding.variant()
    if decision is None or failure.violation.property_name not in variant.violates:
        return False
    if settings(configuration.profile)[decision.name] != decision.answer:
        return False
    safe = with_settings(configuration.profile, **{decision.name: decision.safe})
    safe_configuration = replace(configuration, profile=safe)
    waits = range(failure.plan.seed, failure.plan.seed + _WAITS)
    if failure.violation.property_name not in LIVENESS_PROPERTIES:
        waits = range(1)
    with_decision = [_find_violated(failure, configuration, seed) for seed in waits]
    with_safe_decision = [_find_violated(failure, safe_configuration, seed) for seed in waits]
    return failure.violation.property_name in with_decision and not any(with_safe_decision)


def _find_violated(failure: Failure, configuration: Configuration, seed: int) -> str:
    """Return the property that the schedule, or the wait after it with this seed, violates; empty if none."""
    make_replica = mutated_replicas(failure.plan.mutants)
    if failure.violation.property_name not in LIVENESS_PROPERTIES:
        violation = replay_checked(configuration, failure.schedule, make_replica).violation
    else:
        simulation = failure.plan.simulation(seed=seed, configuration=configuration, make_replica=make_replica)
        for _ in simulation.run(prefix=failure.schedule):
            pass
        violation = simulation.violation
    return "" if violation is None else violation.property_name
