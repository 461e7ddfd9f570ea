"""`kraft-spec prove mutants`, `simulate` and `premises`: why to believe the inductive proof."""

from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json, progress, say, show_table, shown, stderr, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error

if TYPE_CHECKING:
    from kraft_spec.proofs.induction.mutants import Exhibit, Rejection
    from kraft_spec.proofs.induction.simulator import Simulated
    from kraft_spec.proofs.induction.theory import Theory

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Which mutants; without one: all.")]
States = Annotated[int, typer.Option("--states", min=1, help="How many different states to reach.")]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same runs.")]


# The solver is imported by the commands that ask it, so that the others start without it.


def mutants(names: Names = None, as_json: Json = False) -> int:
    """Break the inductive proof on purpose: each mutant must be rejected, and a run must show what is wrong.

    Exit code 1 when one is not rejected at the obligation that is expected, or its run breaks another invariant.
    """
    from kraft_spec.proofs.induction.mutants import MUTANTS, MutantError, exhibit, mutant, reject

    try:
        chosen = [mutant(name) for name in dict.fromkeys(names)] if names else list(MUTANTS)
    except MutantError as error:
        raise usage_error(str(error)) from error
    found = []
    with progress("breaking the proof", len(chosen)) as advance:
        for one in chosen:
            advance(0, one.name)
            found.append((reject(one), exhibit(one)))
            advance()
    if as_json:
        print_json([_mutant_document(rejection, run) for rejection, run in found])
    else:
        _show_mutants(found)
    return _verdict(all(rejection.as_expected and run.as_expected for rejection, run in found))


def _show_mutants(found: "list[tuple[Rejection, Exhibit]]") -> None:
    rejected = sum(rejection.as_expected and run.as_expected for rejection, run in found)
    title = f"{rejected} of {len(found)} mutants rejected where they should be"
    rows = []
    for rejection, run in found:
        breach = "NONE FOUND" if run.breach is None else f"{run.breach.step}: {', '.join(run.breach.names)}"
        one, first = rejection.mutant, rejection.first or "NOT REJECTED"
        rows.append((one.name, one.sentence, first, breach, run.steps))
    show_table(title, ("mutant", "what is broken", "not proved", "a step that breaks an invariant", "steps"), rows)
    for rejection, run in found:
        one = rejection.mutant
        if not rejection.as_expected:
            stderr.print(shown(f"{one.name}: {rejection.first} is not proved, expected {one.fails}"), style="red")
        if not run.as_expected:
            stderr.print(shown(f"{one.name}: a run breaks {run.found}, expected {one.breaks}"), style="red")


def _mutant_document(rejection: "Rejection", run: "Exhibit") -> dict[str, Any]:
    one = rejection.mutant
    return {
        "mutant": one.name,
        "sentence": one.sentence,
        "rules": one.rules,
        "not_proved": rejection.first,
        "expected_not_proved": one.fails,
        "breaks": run.found,
        "expected_breaks": one.breaks,
        "step": None if run.breach is None else str(run.breach.step),
        "steps": run.steps,
        "rejected": rejection.as_expected and run.as_expected,
    }


def simulate(states: States = 50_000, seed: Seed = 0, as_json: Json = False) -> int:
    """Run small clusters at random through the actions of the inductive proof, with every invariant evaluated.

    Exit code 1 when an invariant or an axiom does not hold, or when something that should happen never did.
    """
    from kraft_spec.proofs.induction.interpreter import Interpreter
    from kraft_spec.proofs.induction.simulator import simulate as run
    from kraft_spec.proofs.induction.theory import theory

    started = perf_counter()
    about = theory()
    interpreter = Interpreter(about)
    with progress("reaching states", states) as advance:
        found = run(interpreter, states, seed, advance=advance)
    seconds = perf_counter() - started
    if as_json:
        print_json(_simulated_document(found, about, seconds))
    else:
        _show_simulated(found, states, about, seconds)
    return _verdict(found.broken is None and found.states == states and not found.idle)


def _show_simulated(found: "Simulated", states: int, about: "Theory", seconds: float) -> None:
    verdict = "each holds in all of them" if found.broken is None else f"BROKEN: {', '.join(found.broken.names)}"
    reached = f"{found.states:,} states reached in {found.runs:,} runs and {seconds:.0f} s"
    evaluated = f"{len(about.invariants)} invariants and {', '.join(one.name for one in about.safety)}"
    say(f"{reached}, {evaluated}: {verdict}")
    happened = {
        "elections": found.elections,
        "committed entries": found.commits,
        "committed voter changes": found.voter_changes,
        "epochs with a leader, at most": found.epochs,
        **{f"step {name}": number for name, number in found.steps.items()},
    }
    rows = [(name, f"{number:,}") for name, number in happened.items()]
    show_table("what happened", ("what", "times"), rows)
    if found.broken is not None:
        for number, step in enumerate(found.broken.steps, start=1):
            say(f"{number:4} {step}")
    if found.states < states:
        stderr.print(f"only {found.states:,} of {states:,} states were reached", style="red")
    if found.idle:
        stderr.print(shown(f"never happened: {', '.join(found.idle)}"), style="red")


def _simulated_document(found: "Simulated", about: "Theory", seconds: float) -> dict[str, Any]:
    return {
        "states": found.states,
        "runs": found.runs,
        "invariants": len(about.invariants),
        "results": [one.name for one in about.safety],
        "elections": found.elections,
        "commits": found.commits,
        "voter_changes": found.voter_changes,
        "epochs": found.epochs,
        "steps": dict(found.steps),
        "never_happened": found.idle,
        "broken": None
        if found.broken is None
        else {"names": found.broken.names, "steps": [str(step) for step in found.broken.steps]},
        "seconds": round(seconds, 3),
    }


def premises(as_json: Json = False) -> int:
    """Show that the premises of the inductive proof do not contradict each other: a world for each action.

    Exit code 1 when an action has no such world, or when the solver refutes the premises of a proof without its goal.
    """
    from kraft_spec.proofs.induction.interpreter import Interpreter
    from kraft_spec.proofs.induction.obligations import obligations
    from kraft_spec.proofs.induction.prover import prove
    from kraft_spec.proofs.induction.theory import theory
    from kraft_spec.proofs.induction.vacuity import is_reductio, refuted_premises, witnesses

    interpreter = Interpreter(theory())
    worlds = witnesses(interpreter)
    listed = [one for one in obligations() if not is_reductio(one)]
    with progress("asking without the goal", 2 * len(listed)) as advance:
        answers = []
        for one in listed:
            answers.append(prove(one))
            advance()
        refuted = refuted_premises(answers, advance)
    wrong = {
        name: (*interpreter.broken(found.world), *interpreter.broken_axioms(found.world))
        for name, found in worlds.items()
    }
    missing = tuple(action.name for action in theory().actions if action.name not in worlds)
    if as_json:
        print_json(
            {
                "worlds": {name: str(found.step) for name, found in worlds.items()},
                "without_a_world": missing,
                "untrue_in_its_world": {name: broken for name, broken in wrong.items() if broken},
                "asked": len(listed),
                "refuted": refuted,
            }
        )
    else:
        title = f"{len(worlds)} actions with a world in which all premises are true"
        show_table(title, ("action", "possible step"), [(name, found.step) for name, found in worlds.items()])
        stdout.print(f"{len(listed)} obligations asked without their goals: {len(refuted)} refuted")
        for text in (*(f"{name}: no world" for name in missing), *(f"{name}: contradictory" for name in refuted)):
            stderr.print(shown(text), style="red")
    return _verdict(not missing and not refuted and not any(wrong.values()))


def _verdict(good: bool) -> int:
    return ExitCode.CONFORMANT if good else ExitCode.VIOLATION
