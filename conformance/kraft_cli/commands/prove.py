"""`kraft-spec prove`: proofs about voter sets of any size.

Commands import the solver themselves, so that other commands start without it.
"""

from typing import Annotated

import typer

from kraft_cli.commands import prove_actions, prove_induction, prove_refinement, prove_theorems, prove_trust
from kraft_cli.commands.options import Json, Smt2
from kraft_cli.smt2_files import smt2_folder, write_smt2
from kraft_cli.voters_text import read_voters
from kraft_conformance.console import print_json
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_proofs.changes import in_order, listed
from kraft_reference.identity import ReplicaKey

app = typer.Typer(
    help="Prove that majorities intersect: of two voter sets, along a plan, of sets of any size.",
    no_args_is_help=True,
)

_FORMS = "1,2,3 or 1-U1,2-U2 with directory ids, or @FILE: a voter a line, or a JSON list."
From = Annotated[str, typer.Option("--from", help=f"The voters now: {_FORMS}")]
To = Annotated[str, typer.Option("--to", help=f"The voters then: {_FORMS}")]
Via = Annotated[
    list[str] | None,
    typer.Option("--via", help="A voter set on the way; repeatable, in order. Without one: KIP-642's plan."),
]
Leader = Annotated[
    str | None,
    typer.Option(
        "--leader",
        help="One of --from. KIP-642's plan removes it last; where a plan with --via removes it, a note says.",
    ),
]


@app.command("transition")
def transition(old: From, new: To, smt2: Smt2 = None, as_json: Json = False) -> int:
    """Decide whether all majorities of two voter sets intersect, and whether KIP-853 allows the step.

    Exit code 1 when two majorities can be disjoint, or when the step is forbidden.
    """
    from kraft_cli.commands.prove_shown import show_step, step_document
    from kraft_proofs.plans import prove_step

    folder = smt2_folder(smt2)
    step = prove_step(read_voters(old, "--from"), read_voters(new, "--to"))
    if folder is not None:
        write_smt2(folder, {"transition": step.answer.smt2()})
    if as_json:
        print_json(step_document(step))
    else:
        show_step(step)
    return ExitCode.CONFORMANT if step.passes else ExitCode.VIOLATION


@app.command("plan")
def plan(old: From, new: To, via: Via = None, leader: Leader = None, smt2: Smt2 = None, as_json: Json = False) -> int:
    """Print the VotersRecords that lead from one voter set to another, each with its proof.

    Exit code 1 when a step is not proved, or is forbidden; nothing else decides.

    A plan with --via may leave KIP-642's bounds, take detours, or remove the leader before others: notes say so.
    """
    from kraft_cli.commands.prove_shown import plan_document, show_plan
    from kraft_proofs.changes import change
    from kraft_proofs.kip642 import UnknownLeaderError, kip642_plan, leading_voter
    from kraft_proofs.plan_notes import plan_notes
    from kraft_proofs.plans import ProvedPlan, prove_plan

    folder = smt2_folder(smt2)
    current, target = read_voters(old, "--from"), read_voters(new, "--to")
    leading = None if leader is None else _one_voter(leader)
    try:
        if via:
            sets = (current, *(read_voters(text, "--via") for text in via), target)
            if leading is not None:
                leading_voter(change(current, target).old, leading)
        else:
            sets = kip642_plan(current, target, leading)
    except UnknownLeaderError as error:
        raise usage_error(f"--leader: {error}") from error
    proved = prove_plan(sets)
    notes = plan_notes(sets, proved, leading)
    if folder is not None:
        digits = len(str(len(proved.steps)))
        write_smt2(folder, {f"step-{n:0{digits}}": step.answer.smt2() for n, step in enumerate(proved.steps, start=1)})
    if as_json:
        print_json(plan_document(sets, proved, notes))
    else:
        show_plan(sets, proved, notes)
    return ExitCode.CONFORMANT if isinstance(proved, ProvedPlan) else ExitCode.VIOLATION


def _one_voter(text: str) -> ReplicaKey:
    voters = in_order(read_voters(text, "--leader"))
    if len(voters) != 1:
        raise usage_error(f"--leader: {listed(voters)}, expected one voter")
    return voters[0]


# After this module's commands, because help lists commands in this order.
app.command("theorems")(prove_theorems.theorems)
app.command("induction")(prove_induction.induction)
app.command("mutants")(prove_trust.mutants)
app.command("refinement")(prove_refinement.refinement)
app.command("actions")(prove_actions.actions)
app.command("premises")(prove_trust.premises)
