"""Runs of plans and scenarios with their mutants."""

from kraft_mutants.replicas import mutated_controllers, mutated_replicas
from kraft_partitions.scenarios import PartitionScenario, PartitionScenarioRun, PartitionVariant
from kraft_partitions.scenarios import run as run_partitions
from kraft_simulation.failure import Failure, investigate
from kraft_simulation.plan import RunPlan
from kraft_simulation.scenarios import Scenario, ScenarioRun, Variant, run
from kraft_simulation.simulation import Simulation


def simulation_of(plan: RunPlan, *, seed: int | None = None) -> Simulation:
    """Return the run of a plan with its mutants; see `RunPlan.simulation`.

    Raises:
        MutantError, EditError: there is no such mutant, or these cannot be combined.
    """
    return plan.simulation(seed=seed, make_replica=mutated_replicas(plan.mutants))


def failure_of(plan: RunPlan) -> Failure | None:
    """Return the shortest failure of the run of a plan; None if it does not fail.

    Raises:
        MutantError, EditError: there is no such mutant, or these cannot be combined.
    """
    return investigate(plan, mutated_replicas(plan.mutants))


def play_partitions(scenario: PartitionScenario, variant: PartitionVariant) -> PartitionScenarioRun:
    """Run a variant of a partition scenario, with its mutants.

    Raises:
        ScenarioFailure: the run differs from the scenario.
    """
    return run_partitions(scenario, variant, mutated_controllers(variant.mutants))


def play(scenario: Scenario, variant: Variant) -> ScenarioRun:
    """Run a variant of a scenario, with its mutants.

    Raises:
        ScenarioFailure: the run differs from the scenario.
    """
    return run(scenario, variant, mutated_replicas(variant.mutants))
