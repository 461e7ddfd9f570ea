"""Which runs to simulate: seeds, workloads and profiles, each combination a run with a number."""

from dataclasses import dataclass
from typing import Any

from kraft_pipeline.failures import InputError
from kraft_reference.profile import PROFILES
from kraft_simulation.plan import RunPlan
from kraft_simulation.workload import WORKLOADS

VOTERS = (3, 5, 4, 2)
"""Numbers of voters, taken in turn by seed where none is asked for; even ones tell a half from a majority."""


@dataclass(frozen=True)
class Plans:
    """The runs: for each seed each profile, and for each of these each workload.

    Attributes:
        first_seed: the smallest seed.
        seeds: how many.
        workloads: names of mixes.
        profiles: names of answers to the open points of the KIPs.
        steps: events of each run before its faults stop.
        replicas: number of voters; None to vary it with the seed.
        count: how many runs; None for all.  The last seed need not get all workloads.
    """

    first_seed: int
    seeds: int
    workloads: tuple[str, ...]
    profiles: tuple[str, ...] = ("kip",)
    steps: int = 500
    replicas: int | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        for kind, names, known in (
            ("workload", self.workloads, tuple(WORKLOADS)),
            ("profile", self.profiles, tuple(PROFILES)),
        ):
            for name in names:
                if name not in known:
                    raise InputError(f"no {kind} {name!r}; there are {', '.join(known)}")
                if names.count(name) > 1:
                    raise InputError(f"{kind} {name!r} is named twice")
        if self.first_seed < 0 or self.seeds < 1 or not self.workloads or not self.profiles or self.steps < 1:
            raise InputError("nothing to simulate: expected seeds from 0 on, a workload, a profile, and steps")

    def __len__(self) -> int:
        every = self.seeds * len(self.workloads) * len(self.profiles)
        return every if self.count is None else min(every, self.count)

    def plan(self, index: int) -> RunPlan:
        """The run of this number, counted from 0."""
        rest, workload = divmod(index, len(self.workloads))
        offset, profile = divmod(rest, len(self.profiles))
        seed = self.first_seed + offset
        return RunPlan(
            seed=seed,
            replicas=VOTERS[seed % len(VOTERS)] if self.replicas is None else self.replicas,
            steps=self.steps,
            workload=self.workloads[workload],
            profile=self.profiles[profile],
        )

    def as_dict(self) -> dict[str, Any]:
        """What decides the tables, as JSON has it."""
        return {
            "seeds": f"{self.first_seed}:{self.first_seed + self.seeds}",
            "workloads": list(self.workloads),
            "profiles": list(self.profiles),
            "steps": self.steps,
            "replicas": self.replicas,
            "count": len(self),
        }


def source_of(plan: RunPlan) -> str:
    """What the tables call a run."""
    return f"{plan.workload}/{plan.profile}/{plan.replicas}/{plan.steps}/seed-{plan.seed}"
