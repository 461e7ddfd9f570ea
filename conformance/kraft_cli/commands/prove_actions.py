"""`kraft-spec prove actions`: proof that the translated actions of KRaft.tla are steps of the inductive proof."""

from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from kraft_cli.commands.options import Json, Smt2, at_most_one
from kraft_cli.smt2_files import smt2_folder, write_smt2
from kraft_conformance.console import print_json, progress, say, show_table, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error

if TYPE_CHECKING:
    from kraft_proofs.translation.proving import Proved

Names = Annotated[list[str] | None, typer.Argument(metavar="[ACTION]...", help="Which; without a name: all.")]
List = Annotated[bool, typer.Option("--list", help="Only say which are proved so, which are executed only, and why.")]


def actions(names: Names = None, only_list: List = False, smt2: Smt2 = None, as_json: Json = False) -> int:
    """Prove that each step of an action of KRaft.tla, translated from its text, is a sequence of the proof's steps.

    For any number of replicas and logs of any length, under profile `kip`; all actions take minutes.
    Exit code 1 when an obligation is not proved; of the first of each action the fields are shown where it fails.
    """
    at_most_one(list=only_list, smt2=smt2)
    folder = smt2_folder(smt2)
    # Imported here, because importing the solver takes longer than most commands.
    from kraft_proofs.induction.smt2 import questions
    from kraft_proofs.translation.acting import ACTIONS, EXECUTED
    from kraft_proofs.translation.proving import OTHERS, prove_action, specification

    if unknown := [name for name in names or () if name not in (*ACTIONS, OTHERS)]:
        raise usage_error(f"no action {unknown[0]!r} is proved; there are {', '.join((*ACTIONS, OTHERS))}")
    if only_list:
        return _list(ACTIONS, EXECUTED, as_json)
    chosen = names or [*ACTIONS, OTHERS]
    spec, started = specification(), perf_counter()
    results: list[Proved] = []
    with progress("proving", len(chosen)) as advance:
        for name in chosen:
            results.append(prove_action(spec, name))
            advance(1, name)
    if folder is not None:
        write_smt2(folder, questions(tuple(answer for result in results for answer in result.answers)))
    if as_json:
        print_json(
            [
                {
                    "action": result.action,
                    "steps": result.steps,
                    "obligations": len(result.answers),
                    "not_proved": [answer.obligation.name for answer in result.failing],
                    "possible": result.is_possible,
                    "counterexample": result.counterexample,
                    "slowest_milliseconds": round(max(answer.milliseconds for answer in result.answers)),
                }
                for result in results
            ]
        )
    else:
        _show(results, perf_counter() - started)
    return ExitCode.CONFORMANT if all(result.holds for result in results) else ExitCode.VIOLATION


def _list(proved: Mapping[str, object], executed: Mapping[str, str], as_json: bool) -> int:
    if as_json:
        print_json({"proved": list(proved), "executed": dict(executed)})
    else:
        show_table("", ("action", "proved", "why not"), [(name, "yes", "") for name in proved])
        show_table(
            "", ("action", "proved", "why not"), [(name, "executed only", why) for name, why in executed.items()]
        )
    return ExitCode.CONFORMANT


def _show(results: "list[Proved]", seconds: float) -> None:
    number = sum(len(result.answers) for result in results)
    failing = sum(len(result.failing) for result in results)
    rows = []
    for result in results:
        slowest = max(answer.milliseconds for answer in result.answers)
        verdict = "proved" if result.holds else "NOT PROVED"
        rows.append((result.action, "; ".join(result.steps), len(result.answers), f"{slowest:.0f}", verdict))
    title = f"{number - failing} of {number} obligations proved, in {seconds:.0f} s"
    show_table(title, ("action of KRaft.tla", "steps of the proof", "obligations", "slowest, ms", "verdict"), rows)
    for result in results:
        for answer in result.failing:
            say(f"not proved: {answer.obligation.name}", "red", stderr)
        for line in result.counterexample:
            say(f"  {line}", console=stderr)
