"""Check that the model accepts the reference's own traces, for every workload, profile and number of voters."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kraft_simulation.plan import RunPlan
from kraft_traces.check import VerdictKind, check_occurrences

VOTERS = (3, 5, 7)
"""Numbers of voters. With three voters one other voter completes a majority, which hides some errors."""


@dataclass(frozen=True, slots=True)
class OwnTrace:
    """A run of the reference, and its verdict.

    Attributes:
        plan: The run.
        events: Events that the model accepted.
        problem: Reason why the model rejects the trace or an invariant of the simulator fails; empty if none.
    """

    plan: RunPlan
    events: int
    problem: str


def plans(
    workloads: Iterable[str], profiles: Iterable[str], voters: Iterable[int], seeds: Iterable[int], steps: int
) -> tuple[RunPlan, ...]:
    """Return the runs of a table, in its order."""
    workloads, voters, seeds = tuple(workloads), tuple(voters), tuple(seeds)
    return tuple(
        RunPlan(seed, replicas, steps, workload, profile)
        for profile in profiles
        for workload in workloads
        for replicas in voters
        for seed in seeds
    )


def check_own_traces(runs: Iterable[RunPlan]) -> Iterator[OwnTrace]:
    """Simulate each run and check its trace.

    Raises:
        CompiledModelError: The compiled model and TLC disagree.
    """
    for plan in runs:
        simulation = plan.simulation()
        verdict = check_occurrences(simulation.run(), simulation.configuration, plan.command_line())
        problem = "" if verdict.kind is VerdictKind.ACCEPTED else str(verdict.kind)
        if verdict.rejection is not None:
            problem = verdict.rejection.headline()
        elif simulation.violation is not None:
            problem = str(simulation.violation)
        yield OwnTrace(plan, verdict.events, problem)
