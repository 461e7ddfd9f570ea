"""Scenarios of partitions, and a function that runs partition."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.controller import REFERENCE, Controllers
from kraft_partitions.decisions import KIP, ReassignmentProfile
from kraft_partitions.occurrence import PartitionOccurrence
from kraft_partitions.partition import Assignment, Partition, TopicPartition
from kraft_partitions.scenarios.stage import A0, PartitionStage
from kraft_simulation.scenarios.schedule import AnyScenario, AnyVariant, AnyVariants, ScriptT

PartitionVariant: TypeAlias = AnyVariant[PartitionConfiguration, PartitionStage]
"""One way to run a scenario of partitions."""


class PartitionVariants(AnyVariants[PartitionConfiguration, PartitionStage]):
    """Those of a scenario of partitions."""

    def without(self, rule: str, *violates: str, size: int = 4) -> Callable[[ScriptT], ScriptT]:
        """The script below it is that of a variant without one rule of partition-reassign."""
        return self.variant(f"wrong-{rule}", cluster(size), *violates, mutants=(f"partition-reassign.{rule}",))


@dataclass(frozen=True, slots=True)
class PartitionScenario(AnyScenario[str, PartitionVariant]):
    """A table of KIP-455."""


@dataclass(frozen=True, slots=True)
class PartitionScenarioRun:
    """Run of one variant of a scenario."""

    scenario: PartitionScenario
    variant: PartitionVariant
    configuration: PartitionConfiguration
    occurrences: tuple[PartitionOccurrence, ...]
    violated: Mapping[str, int | None]
    """Violated properties; the sequence of the first violating occurrence for safety, None for liveness."""

    def summary(self) -> str:
        """The last state of each partition, `A-0 R [4,3,2] I [2,3,4] leader 4`."""
        partitions = self.occurrences[-1].state.partitions
        return "; ".join(f"{name} {_summary(partition)}" for name, partition in sorted(partitions.items()))


def _summary(partition: Partition) -> str:
    lists = f"R {list(partition.replicas)} I {sorted(partition.in_sync)}"
    moves = f"AR {list(partition.adding)} RR {list(partition.removing)}"
    return f"{lists} {moves} leader {'none' if partition.leader is None else partition.leader}"


def run(
    scenario: PartitionScenario, variant: PartitionVariant, controllers: Controllers = REFERENCE
) -> PartitionScenarioRun:
    """Run one variant with such controllers; every assertion of its script held if this returns.

    Raises:
        ScenarioFailure: the reference does something else than the scenario says.
        ValueError: the variant is one without rules, and the controllers of the reference have them.
    """
    if variant.mutants and controllers is REFERENCE:
        raise ValueError(f"the reference keeps {', '.join(variant.mutants)}, expected other controllers")
    stage = PartitionStage(f"{scenario.name}/{variant.name}", variant.configuration, controllers)
    variant.script(stage)
    violated: dict[str, int | None] = {**stage.watch.violated, **dict.fromkeys(stage.shown)}
    stage.step("the end")
    stage.check("the violated properties", tuple(sorted(violated)), variant.violates)
    return PartitionScenarioRun(scenario, variant, variant.configuration, tuple(stage.occurrences), violated)


def cluster(
    size: int,
    *,
    profile: ReassignmentProfile = KIP,
    unclean: bool = False,
    assignments: Mapping[TopicPartition, Assignment] | None = None,
) -> PartitionConfiguration:
    """Brokers 1 to `size`, the nodes 1 and 2 as controllers, and A-0 at [1,2,3] unless `assignments` says more.

    Args:
        size: how many brokers there are.
        profile: the answers to the open points.
        unclean: whether topic A allows unclean leader election.
        assignments: the partitions.
    """
    return PartitionConfiguration(
        brokers=frozenset(range(1, size + 1)),
        assignments=assignments or {A0: (1, 2, 3)},
        controllers=(1, 2),
        unclean_topics=frozenset({"A"}) if unclean else frozenset(),
        profile=profile,
    )
