"""The whole suite against mutants of the reference: seeded ones, and a sample of machine-made ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kraft_dev.mutation import machine_made
from kraft_dev.mutation.campaign import UNBROKEN, prepared, subject_of
from kraft_dev.mutation.results import MachineMadeOutcomes, Results
from kraft_dev.mutation.sighting import Attack, Outcome
from kraft_dev.mutation.survivors import load_survivors
from kraft_dev.mutation.tools import UNIT_TESTS, Tool
from kraft_spec.mutants import Mutant


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """What is tried.

    Attributes:
        command: The line that repeats it.
        tools: Cheapest first.
        chosen: The seeded mutants.
        edges: File that keeps the model's edges; a temporary one if None.
        first: Leave a seeded mutant alone once a tool has killed it.
        machine: How many machine-made mutants, each up to its first kill.
        seed: Of their sample.
        jobs: Mutants at a time.
        begin_with: Seeded mutant to the tool that comes first, with `first`.
    """

    command: str
    tools: tuple[Tool, ...]
    chosen: tuple[Mutant, ...]
    edges: Path | None = None
    first: bool = False
    machine: int = 0
    seed: int = 1
    jobs: int = 1
    begin_with: Mapping[str, str] = field(default_factory=dict)


def suite_of(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """What must kill the seeded mutants: without the unit tests, the last resort for machine-made ones."""
    return tuple(tool for tool in tools if tool is not UNIT_TESTS)


def try_all(plan: SuitePlan, on_step: Callable[[str], None], on_outcome: Callable[[Outcome], None]) -> Results:
    """Try every tool on the unbroken reference, then on the mutants.

    Where one kill is enough, a tool that no mutant needs is not tried, on the unbroken reference neither.

    Raises:
        EditError, SurvivorError: A mutant does not fit, or the list of survivors is wrong.
        AttackError: A tool finds fault with the unbroken reference, or cannot be used.
        ChildError: The model's edges cannot be enumerated.
        ValueError: There are not so many machine-made mutants.
    """
    known = load_survivors()
    made: tuple[machine_made.MachineMade, ...] = ()
    population = 0
    if plan.machine:
        on_step("drawing machine-made mutants")
        made, population = machine_made.sample(plan.machine, plan.seed)
    if plan.first and not plan.machine:
        return _up_to_the_first_kill(plan, on_step, on_outcome)
    with prepared(plan.tools, edges=plan.edges, on_step=on_step) as (campaign, baseline):
        seeded = replace(campaign, tools=suite_of(plan.tools), stop_at_first=plan.first, begin_with=plan.begin_with)
        outcomes = seeded.run([subject_of(mutant) for mutant in plan.chosen], plan.jobs, on_outcome)
        machine = replace(campaign, stop_at_first=True)
        machine_outcomes = machine.run([one.subject for one in made], plan.jobs, on_outcome)
    sampled = MachineMadeOutcomes(plan.seed, population, made, machine_outcomes, known) if plan.machine else None
    return Results(plan.command, baseline, plan.chosen, outcomes, sampled)


def _up_to_the_first_kill(
    plan: SuitePlan, on_step: Callable[[str], None], on_outcome: Callable[[Outcome], None]
) -> Results:
    """First the tools that are the first of some mutant, then the others, on what survives those."""
    tools = suite_of(plan.tools)
    begins = {plan.begin_with.get(mutant.name, tools[0].name) for mutant in plan.chosen} | {tools[0].name}
    usual = tuple(tool for tool in tools if tool.name in begins)
    others = tuple(tool for tool in tools if tool.name not in begins)
    unbroken: list[Attack] = []
    attacks: dict[str, tuple[Attack, ...]] = {mutant.name: () for mutant in plan.chosen}
    left = plan.chosen
    for now, then in ((usual, others), (others, ())):
        if not now or not left:
            break
        with prepared(now, edges=plan.edges, on_step=on_step) as (campaign, baseline):
            unbroken += baseline.attacks
            seeded = replace(campaign, stop_at_first=True, begin_with=plan.begin_with)

            def said(outcome: Outcome, is_last: bool = not then) -> None:
                if is_last or outcome.first is not None:
                    on_outcome(outcome)

            outcomes = seeded.run([subject_of(mutant) for mutant in left], plan.jobs, said)
        for outcome in outcomes:
            attacks[outcome.name] += outcome.attacks
        survivors = {outcome.name for outcome in outcomes if outcome.first is None}
        left = tuple(mutant for mutant in left if mutant.name in survivors)
    unbroken.sort(key=lambda attack: [tool.name for tool in tools].index(attack.tool))
    found = tuple(Outcome(name, of_mutant) for name, of_mutant in attacks.items())
    return Results(plan.command, Outcome(UNBROKEN.name, tuple(unbroken)), plan.chosen, found, None)
