"""`kraft-spec prove mutants` and `premises`: evidence for the inductive proof."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kraft_cli.commands.options import Json
from kraft_conformance.console import print_json, printable, progress, show_table, stderr, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error

if TYPE_CHECKING:
    from kraft_proofs.induction.mutants import Exhibit, Rejection

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Which mutants; without one: all.")]


# Commands import the solver themselves, so that other commands start without it.


def mutants(names: Names = None, as_json: Json = False) -> int:
    """Break the inductive proof on purpose: each mutant must be rejected, and a run must show what is wrong.

    Exit code 1 when one is not rejected at the obligation that is expected, or its run breaks another invariant.
    """
    from kraft_proofs.induction.mutants import MUTANTS, MutantError, exhibit, mutant, reject

    try:
        chosen = [mutant(name) for name in dict.fromkeys(names)] if names else list(MUTANTS)
    except MutantError as error:
        raise usage_error(str(error)) from error
    results = []
    with progress("breaking the proof", len(chosen)) as advance:
        for chosen_mutant in chosen:
            advance(0, chosen_mutant.name)
            results.append((reject(chosen_mutant), exhibit(chosen_mutant)))
            advance()
    if as_json:
        print_json([_mutant_document(rejection, run) for rejection, run in results])
    else:
        _show_mutants(results)
    return _exit_code(all(rejection.as_expected and run.as_expected for rejection, run in results))


def _show_mutants(results: "list[tuple[Rejection, Exhibit]]") -> None:
    rejected = sum(rejection.as_expected and run.as_expected for rejection, run in results)
    title = f"{rejected} of {len(results)} mutants rejected where they should be"
    rows = []
    for rejection, run in results:
        breach = "NONE FOUND" if run.breach is None else f"{run.breach.step}: {', '.join(run.breach.names)}"
        mutant, first = rejection.mutant, rejection.first or "NOT REJECTED"
        steps = 0 if run.breach is None else run.breach.number
        rows.append((mutant.name, mutant.sentence, first, breach, steps))
    show_table(title, ("mutant", "what is broken", "not proved", "a step that breaks an invariant", "steps"), rows)
    for rejection, run in results:
        mutant = rejection.mutant
        if not rejection.as_expected:
            stderr.print(
                printable(f"{mutant.name}: {rejection.first} is not proved, expected {mutant.fails}"), style="red"
            )
        if not run.as_expected:
            stderr.print(printable(f"{mutant.name}: a run breaks {run.found}, expected {mutant.breaks}"), style="red")


def _mutant_document(rejection: "Rejection", run: "Exhibit") -> dict[str, Any]:
    mutant = rejection.mutant
    return {
        "mutant": mutant.name,
        "sentence": mutant.sentence,
        "rules": mutant.rules,
        "not_proved": rejection.first,
        "expected_not_proved": mutant.fails,
        "breaks": run.found,
        "expected_breaks": mutant.breaks,
        "step": None if run.breach is None else str(run.breach.step),
        "steps": None if run.breach is None else run.breach.number,
        "rejected": rejection.as_expected and run.as_expected,
    }


def premises(as_json: Json = False) -> int:
    """Show that the premises of the inductive proof do not contradict each other: a world for each action.

    Exit code 1 when an action has no such world, or when the solver refutes the premises of a proof without its goal.
    """
    from kraft_proofs.induction.interpreter import Interpreter
    from kraft_proofs.induction.obligations import obligations
    from kraft_proofs.induction.theory import theory
    from kraft_proofs.induction.vacuity import refuted_premises, witnesses

    interpreter = Interpreter(theory())
    worlds = witnesses(interpreter)
    listed = obligations()
    with progress("asking without the goal", len(listed)) as advance:
        refuted = refuted_premises(listed, advance)
    wrong = {
        name: (*interpreter.broken(witness.world), *interpreter.broken_axioms(witness.world))
        for name, witness in worlds.items()
    }
    missing = tuple(action.name for action in theory().actions if action.name not in worlds)
    if as_json:
        print_json(
            {
                "worlds": {name: str(witness.step) for name, witness in worlds.items()},
                "without_a_world": missing,
                "untrue_in_its_world": {name: broken for name, broken in wrong.items() if broken},
                "asked": len(listed),
                "refuted": refuted,
            }
        )
    else:
        title = f"{len(worlds)} actions with a world in which all premises are true"
        show_table(title, ("action", "possible step"), [(name, witness.step) for name, witness in worlds.items()])
        stdout.print(f"{len(listed)} obligations asked without their goals: {len(refuted)} refuted")
        for text in (*(f"{name}: no world" for name in missing), *(f"{name}: contradictory" for name in refuted)):
            stderr.print(printable(text), style="red")
    return _exit_code(not missing and not refuted and not any(wrong.values()))


def _exit_code(holds: bool) -> int:
    return ExitCode.CONFORMANT if holds else ExitCode.VIOLATION
