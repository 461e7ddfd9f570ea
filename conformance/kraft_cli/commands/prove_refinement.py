"""`kraft-spec prove refinement`: a check that the replicas' steps are steps of the inductive proof."""

from collections.abc import Sequence
from time import perf_counter
from typing import Annotated

import typer

from kraft_cli.commands.options import Json, OmittedRules, Profile, Replicas, known_mutants, one_of, seeds_of
from kraft_conformance.console import print_json, progress, say, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_reference.profile import PROFILES
from kraft_simulation.plan import RunPlan
from kraft_simulation.scenarios import SCENARIOS, Scenario, Variant
from kraft_simulation.scenarios import scenario as find_scenario
from kraft_simulation.workload import WORKLOADS

Names = Annotated[list[str] | None, typer.Option("--workload", help="Only this; repeatable.")]
ScenarioNames = Annotated[
    list[str] | None,
    typer.Option("--scenario", help="Instead of runs, the variants of a scenario without a broken rule, or of `all`."),
]
Seeds = Annotated[str, typer.Option("--seeds", metavar="A:B", help="Of the runs of each workload, without B.")]
Steps = Annotated[int, typer.Option(min=1, help="Events of the safety phase of a run.")]
Every = Annotated[
    int, typer.Option("--invariants-every", min=0, help="Evaluate the invariants after each so many events; 0: never.")
]


def refinement(
    workload: Names = None,
    scenario: ScenarioNames = None,
    seeds: Seeds = "0:5",
    steps: Steps = 400,
    replicas: Replicas = 3,
    profile: Profile = "kip",
    mutant: OmittedRules = None,
    invariants_every: Every = 0,
    as_json: Json = False,
) -> int:
    """Run the reference, and show that each of its steps is a sequence of steps of the inductive proof.

    Exit code 1 at the first step of a run that is none, with the states of both sides, or in whose state an invariant
    fails; of scenarios the first such step of each is shown.
    """
    # Imported here, because importing the solver takes longer than most commands.
    from kraft_proofs.induction.explaining import explain, of_plan, of_variant

    chosen = workload or list(WORKLOADS)
    for name in sorted(chosen):
        one_of("workload", name, WORKLOADS)
    one_of("profile", profile, PROFILES)
    numbers = seeds_of(seeds, "--seeds")
    omitted = known_mutants(mutant, in_trace=True)
    plans = [RunPlan(seed, replicas, steps, name, profile, omitted) for name in chosen for seed in numbers]
    variants = _list_variants(scenario or ())
    plays = map(of_variant, *zip(*variants, strict=True)) if variants else map(of_plan, plans)
    number, started = len(variants or plans), perf_counter()
    with progress("explaining", number) as advance:
        result = explain(
            plays,
            lambda name: advance(1, name),
            profile=PROFILES[profile],
            invariants_every=invariants_every,
            stops=not variants,
        )
    seconds = perf_counter() - started
    if as_json:
        document = {"runs": number, "events": dict(result.events), "steps": dict(result.steps)}
        unexplained = "\n".join(result.problems) or None
        more = {"states_evaluated": result.states, "unexplained": unexplained, "seconds": round(seconds, 1)}
        print_json({**document, **more})
    else:
        noun = "scenario variants" if variants else "runs"
        say(f"{result.events.total():,} events of {number} {noun}, {seconds:.0f} s", "bold")
        say(f"{result.states:,} states with every invariant evaluated")
        show_table("", ("step of the proof", "times"), [(step, f"{times:,}") for step, times in result.steps.items()])
        for problem in result.problems or ("Each is a sequence of the proof's steps.",):
            say(problem, "red" if result.problems else "green")
    return ExitCode.VIOLATION if result.problems else ExitCode.CONFORMANT


def _list_variants(names: Sequence[str]) -> list[tuple[Scenario, Variant]]:
    try:
        scenarios = SCENARIOS if "all" in names else [find_scenario(name) for name in names]
    except KeyError as error:
        raise usage_error(str(error.args[0])) from error
    return [(scenario, variant) for scenario in scenarios for variant in scenario.variants if not variant.mutants]
