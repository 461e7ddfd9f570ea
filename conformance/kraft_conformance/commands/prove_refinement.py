"""`kraft-spec prove refinement`: the steps of the replicas are steps of the inductive proof."""

from collections import Counter
from time import perf_counter
from typing import Annotated

import typer

from kraft_conformance.commands.options import Json, Profile, Replicas, SwitchOff, known_rules, seeds_of
from kraft_conformance.console import print_json, progress, say, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.profile import PROFILES

Names = Annotated[list[str] | None, typer.Option("--workload", help="Only this; repeatable.")]
Seeds = Annotated[str, typer.Option("--seeds", metavar="A:B", help="Of the runs of each workload, without B.")]
Steps = Annotated[int, typer.Option(min=1, help="Events of the safety phase of a run.")]
Every = Annotated[
    int, typer.Option("--invariants-every", min=0, help="Evaluate the invariants after each so many events; 0: never.")
]


def refinement(
    workload: Names = None,
    seeds: Seeds = "0:5",
    steps: Steps = 400,
    replicas: Replicas = 3,
    profile: Profile = "kip",
    switch_off: SwitchOff = None,
    invariants_every: Every = 0,
    as_json: Json = False,
) -> int:
    """Run the reference, and show that each of its steps is a sequence of steps of the inductive proof.

    Exit code 1 at the first step that is none, with the states of both sides, or in whose state an invariant fails.
    """
    # Here, because importing the solver takes longer than most commands run.
    from kraft_spec.experiments.playing import simulation_of
    from kraft_spec.proofs.induction.interpreter import Interpreter
    from kraft_spec.proofs.induction.refinement import Refinement, UnexplainedStepError
    from kraft_spec.proofs.induction.theory import theory

    chosen = workload or list(WORKLOADS)
    if unknown := sorted(set(chosen) - set(WORKLOADS)):
        raise usage_error(f"no workload {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    numbers = seeds_of(seeds, "--seeds")
    if profile not in PROFILES:
        raise usage_error(f"no profile {profile!r}; there are {', '.join(PROFILES)}")
    interpreter = Interpreter(theory())
    events: Counter[str] = Counter()
    taken: Counter[str] = Counter({action.name: 0 for action in interpreter.theory.actions})
    evaluated, problem, started = 0, "", perf_counter()
    plans = [
        RunPlan(seed, replicas, steps, name, profile, known_rules(switch_off)) for name in chosen for seed in numbers
    ]
    with progress("explaining runs", len(plans)) as advance:
        for plan in plans:
            advance(0, f"{plan.workload}, seed {plan.seed}")
            simulation = simulation_of(plan)
            states = {number: replica.state for number, replica in simulation.world.replicas.items()}
            followed = Refinement(interpreter, simulation.configuration, states)
            for occurrence in simulation.run():
                try:
                    explained = followed.explain(occurrence)
                except UnexplainedStepError as error:
                    problem = str(error)
                    break
                events[plan.workload] += 1
                taken.update(step.action for step in explained)
                if invariants_every and occurrence.sequence % invariants_every == 0:
                    evaluated += 1
                    if broken := interpreter.broken(followed.world):
                        problem = f"event {occurrence.sequence}: {', '.join(broken)} does not hold in the proof's state"
                        break
            if problem:
                problem = f"{plan.command_line()}\n{problem}"
                break
            advance()
    seconds = perf_counter() - started
    if as_json:
        document = {"runs": len(plans), "events": dict(events), "steps": dict(taken), "states_evaluated": evaluated}
        print_json({**document, "unexplained": problem or None, "seconds": round(seconds, 1)})
    else:
        total = f"{events.total():,} events of {len(plans)} runs, {evaluated:,} states with every invariant evaluated"
        show_table(
            f"{total}, {seconds:.0f} s", ("step of the proof", "times"), [(one, f"{taken[one]:,}") for one in taken]
        )
        say(problem or "Each is a sequence of the proof's steps.", "red" if problem else "green")
    return ExitCode.VIOLATION if problem else ExitCode.CONFORMANT
