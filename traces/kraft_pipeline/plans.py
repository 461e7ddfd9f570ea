"""Plans of simulated runs: each combination of seed, workload and profile is a numbered run."""

from dataclasses import dataclass
from typing import Any

from kraft_pipeline.failures import InputError
from kraft_reference.profile import PROFILES
from kraft_simulation.plan import RunPlan
from kraft_simulation.workload import WORKLOADS

VOTERS = (3, 5, 4, 2)
"""Default numbers of voters, in turn by seed; even ones distinguish a half from a majority."""


@dataclass(frozen=True)
class Plans:
    """Runs of a sweep: each workload for each profile for each seed.

    Attributes:
        first_seed: the smallest seed.
        seeds: number of seeds.
        workloads: names of workloads.
        profiles: names of profiles.
        steps: events of each run before its faults stop.
        replicas: number of voters; None to vary it with the seed.
        count: number of runs; None for all.  The last seed may not get all workloads.
    """

    first_seed: int
    seeds: int
    workloads: tuple[str, ...]
    profiles: tuple[str, ...] = ("kip",)
    steps: int = 500
    replicas: int | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        for kind, names, existing in (
            ("workload", self.workloads, tuple(WORKLOADS)),
            ("profile", self.profiles, tuple(PROFILES)),
        ):
            for name in names:
                if name not in existing:
                    raise InputError(f"no {kind} {name!r}; there are {', '.join(existing)}")
                if names.count(name) > 1:
                    raise InputError(f"{kind} {name!r} is named twice")
        if self.first_seed < 0 or self.seeds < 1 or not self.workloads or not self.profiles or self.steps < 1:
            raise InputError("nothing to simulate: expected seeds from 0 on, a workload, a profile, and steps")

    def __len__(self) -> int:
        every = self.seeds * len(self.workloads) * len(self.profiles)
        return every if self.count is None else min(every, self.count)

    def plan(self, index: int) -> RunPlan:
        """Return the plan of the run with this number, from 0."""
        combination, workload = divmod(index, len(self.workloads))
        offset, profile = divmod(combination, len(self.profiles))
        seed = self.first_seed + offset
        return RunPlan(
            seed=seed,
            replicas=VOTERS[seed % len(VOTERS)] if self.replicas is None else self.replicas,
            steps=self.steps,
            workload=self.workloads[workload],
            profile=self.profiles[profile],
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters that determine the tables, for JSON."""
        return {
            "seeds": f"{self.first_seed}:{self.first_seed + self.seeds}",
            "workloads": list(self.workloads),
            "profiles": list(self.profiles),
            "steps": self.steps,
            "replicas": self.replicas,
            "count": len(self),
        }


def source_of(plan: RunPlan) -> str:
    """Return the name of a run in the tables."""
    return f"{plan.workload}/{plan.profile}/{plan.replicas}/{plan.steps}/seed-{plan.seed}"
