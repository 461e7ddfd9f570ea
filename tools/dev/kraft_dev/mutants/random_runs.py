"""Random runs as a tool: clusters in which every replica is the mutant, for mutants that no vector detects.

Each step is compared with the reference's, with the alternatives that vectors allow.
"""

from collections.abc import Iterator
from itertools import product

from kraft_conformance.runner.outcome import FAILING
from kraft_dev.mutants.adapter import PROFILE, REPLY_TIMEOUT_S, broken_adapter
from kraft_dev.mutants.subjects import Subject
from kraft_dev.mutants.tool import Means
from kraft_dev.results import Cell, single_line
from kraft_simulation.workload import WORKLOADS

SEEDS = 1
"""Seeds; each runs all workloads in turn, up to the first difference."""
STEPS = 300
REPLICAS = (4, 3, 5)
"""Numbers of replicas, used in turn by the seeds."""


def run_random(subject: Subject, _means: Means) -> Iterator[Cell]:
    """Yield the first run that detects a mutant."""
    # Imported late: vectors need neither the simulator nor its workloads.
    from kraft_conformance.random_runs.campaign import RandomPlan, random_campaign
    from kraft_conformance.random_runs.seats import Command

    number = 0
    with broken_adapter(subject) as command:
        for number, (seed, workload) in enumerate(product(range(SEEDS), WORKLOADS), 1):
            plan = RandomPlan(
                seats=(Command(command),),
                seeds=range(seed, seed + 1),
                workloads=(workload,),
                steps=STEPS,
                replicas=REPLICAS[seed % len(REPLICAS)],
                profile=PROFILE,
                differential=True,
                checks_model=False,
                shrinks=False,
                stops_at_first=True,
                reply_timeout_s=REPLY_TIMEOUT_S,
                old_software_everywhere=True,
            )
            for outcome in random_campaign(plan):
                if outcome.outcome.status in FAILING:
                    yield Cell("random", True, single_line(outcome.outcome.reason), f"{workload}, seed {seed}", number)
                    return
    yield Cell("random", amount=number)
