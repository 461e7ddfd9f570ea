"""Runs of plans and scenarios, whose replicas and controllers do without the rules that these name."""

from kraft_partitions.scenarios import PartitionScenario, PartitionScenarioRun, PartitionVariant
from kraft_partitions.scenarios import run as run_partitions
from kraft_simulation.failure import Failure, investigate
from kraft_simulation.plan import RunPlan
from kraft_simulation.scenarios import Scenario, ScenarioRun, Variant, run
from kraft_simulation.simulation import Simulation
from kraft_spec.experiments.replicas import controllers_without, replicas_without


def simulation_of(plan: RunPlan, *, seed: int | None = None) -> Simulation:
    """The run of a plan, whose replicas do without the rules that it names; see `RunPlan.simulation`.

    Raises:
        ExperimentError, EditError: these rules cannot be left out.
    """
    return plan.simulation(seed=seed, make_replica=replicas_without(plan.switched_off))


def failure_of(plan: RunPlan) -> Failure | None:
    """How the run of a plan fails, as short as it can be made; None if it does not.

    Raises:
        ExperimentError, EditError: these rules cannot be left out.
    """
    return investigate(plan, replicas_without(plan.switched_off))


def play_partitions(scenario: PartitionScenario, variant: PartitionVariant) -> PartitionScenarioRun:
    """Run one variant of a scenario of partitions, whose controllers do without the rules that it names.

    Raises:
        ScenarioFailure: they do something else than the scenario says.
    """
    return run_partitions(scenario, variant, controllers_without(variant.without))


def play(scenario: Scenario, variant: Variant) -> ScenarioRun:
    """Run one variant of a scenario, whose replicas do without the rules that it names.

    Raises:
        ScenarioFailure: they do something else than the scenario says.
    """
    return run(scenario, variant, replicas_without(variant.without))
