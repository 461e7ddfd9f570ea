"""The mutants that no vector notices, in clusters of the random mode: each of their replicas is the mutant.

Each step is compared with the reference's, with the latitude that vectors have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from kraft_conformance.runner.outcome import FAILING
from kraft_dev.grading.grader import PROFILE, REPLY_TIMEOUT_S, broken_adapter
from kraft_dev.grading.table import RandomCatch
from kraft_dev.mutation.campaign import Subject
from kraft_reference.cluster.workload import WORKLOADS

_SAID_MAX = 160


@dataclass(frozen=True, slots=True)
class RandomRuns:
    """What is run until something is noticed: of each seed all workloads, one after the other."""

    seeds: int = 1
    steps: int = 300
    replicas: Sequence[int] = (4, 3, 5)
    """How many; a seed takes the next number each time."""

    def __str__(self) -> str:
        sizes = " or ".join(map(str, self.replicas[: self.seeds]))
        seeds = "1 seed" if self.seeds == 1 else f"{self.seeds} seeds"
        return f"{seeds} of each of the {len(WORKLOADS)} workloads, {self.steps} steps, {sizes} replicas"

    def catch(self, subject: Subject) -> RandomCatch | None:
        """The first run that notices a mutant."""
        # Late: who grades with vectors alone needs neither the simulator nor its workloads.
        from kraft_conformance.random_runs.campaign import RandomPlan, random_campaign
        from kraft_conformance.random_runs.seats import Command

        with broken_adapter(subject) as command:
            for number, (seed, workload) in enumerate(product(range(self.seeds), WORKLOADS), 1):
                plan = RandomPlan(
                    seats=(Command(command),),
                    seeds=range(seed, seed + 1),
                    workloads=(workload,),
                    steps=self.steps,
                    replicas=self.replicas[seed % len(self.replicas)],
                    profile=PROFILE,
                    differential=True,
                    checks_model=False,
                    shrinks=False,
                    stops_at_first=True,
                    reply_timeout_s=REPLY_TIMEOUT_S,
                    old_software_everywhere=True,
                )
                for one in random_campaign(plan):
                    if one.outcome.status in FAILING:
                        return RandomCatch(workload, seed, number, " ".join(one.outcome.reason.split())[:_SAID_MAX])
        return None
