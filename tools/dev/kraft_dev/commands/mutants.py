"""`python -m kraft_dev mutants`: is every broken reference found out?"""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json, progress, shown, stdout, table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_dev.edges import EdgeFileError
from kraft_dev.grading.table import load_table
from kraft_dev.mutation import machine_made
from kraft_dev.mutation.campaign import AttackError
from kraft_dev.mutation.killers import KillersError, load_killers
from kraft_dev.mutation.record import recorded_result
from kraft_dev.mutation.results import MachineMadeOutcomes, Results
from kraft_dev.mutation.sighting import Attack, Outcome
from kraft_dev.mutation.suite import SuitePlan, suite_of, try_all
from kraft_dev.mutation.survivors import SurvivorError
from kraft_dev.mutation.tools import ALL_TOOLS, TOOLS, UNIT_TESTS, Tool
from kraft_dev.results import result_file
from kraft_spec.edits import EditError
from kraft_spec.mutants import Mutant, MutantError, load_catalogue, seeded
from kraft_traces.streams import whole_file

Names = Annotated[list[str] | None, typer.Argument(help="Seeded mutants; default: all of them.")]
ToolNames = Annotated[
    list[str] | None, typer.Option("--tool", help=f"Only this tool; repeatable. {', '.join(ALL_TOOLS)}.")
]
First = Annotated[bool, typer.Option("--first", help="Leave a mutant alone once a tool has killed it.")]
Seeded = Annotated[bool, typer.Option("--seeded/--no-seeded", help="Leave the seeded mutants out.")]
Machine = Annotated[int, typer.Option(min=0, help="Try so many machine-made mutants too, each up to its first kill.")]
Seed = Annotated[int, typer.Option(min=0, help="Of the sample of machine-made mutants.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Mutants at a time; default: the number of processors.")]
Edges = Annotated[
    Path | None,
    typer.Option(
        "--edges",
        help="Keep the model's edges in this file, or take them from it if they are of this very model; enumerating "
        "takes minutes.",
    ),
]
Record = Annotated[bool, typer.Option("--record", help="Keep the result for the site, with the commit.")]
List = Annotated[bool, typer.Option("--list", help="List the seeded mutants and the tools, and try none.")]


def mutants(
    names: Names = None,
    tool: ToolNames = None,
    first: First = False,
    use_seeded: Seeded = True,
    machine: Machine = 0,
    seed: Seed = 1,
    jobs: Jobs = None,
    edges: Edges = None,
    record: Record = False,
    list_only: List = False,
    as_json: Json = False,
) -> int:
    """Break the reference on purpose, rule by rule, and see which tools of the suite notice.

    A seeded mutant that no tool kills is a missing check: exit code 1. So is a kill rate of the machine-made mutants
    below its target. Nothing is said about mutants as long as a tool finds fault with the unbroken reference.
    """
    if edges is not None and not edges.resolve().parent.is_dir():
        raise CommandError(
            f"there is no folder {edges.resolve().parent} to write {edges.name} to", ExitCode.CANNOT_WRITE
        )
    if record and (names or tool):
        raise usage_error("what is recorded has all mutants and all tools: --record goes with no names and no --tool")
    chosen = _seeded_mutants(names or ()) if use_seeded or names else ()
    if list_only:
        return _list(chosen, as_json)
    tools = _tools(tool or (), machine)
    if not chosen and not machine:
        raise usage_error("nothing to try: no seeded mutants, and no --machine N")
    if machine and not machine_made.is_available():
        raise CommandError(
            "machine-made mutants need Cosmic Ray: install kraft-spec with the extra `mutation`", ExitCode.UNAVAILABLE
        )
    if chosen and not suite_of(tools):
        raise usage_error("the unit tests are for machine-made mutants; add --no-seeded")
    words = ["kraft-spec", "mutants", *(names or ()), *(word for name in tool or () for word in ("--tool", name))]
    words += (["--first"] if first else []) + ([] if use_seeded else ["--no-seeded"])
    words += ["--machine", str(machine), "--seed", str(seed)] if machine else []
    try:
        # A record says which tools kill what in their own order.
        begin_with = load_killers() if first and not record else {}
        several = jobs or os.cpu_count() or 1
        plan = SuitePlan(shlex.join(words), tools, chosen, edges, first, machine, seed, several, begin_with)
        results = _try_all(plan)
    except EdgeFileError as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error
    except ValueError as error:
        if isinstance(error, EditError | KillersError | MutantError | SurvivorError):
            raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
        raise usage_error(str(error)) from error
    except AttackError as error:
        raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
    if record:
        with whole_file(result_file("mutants")) as output:
            output.write(recorded_result(results))
    if as_json:
        print_json(results.as_dict())
    else:
        _show(results)
    return ExitCode.CONFORMANT if results.holds else ExitCode.VIOLATION


def _seeded_mutants(names: Sequence[str]) -> tuple[Mutant, ...]:
    try:
        catalogue = load_catalogue()
    except MutantError as error:
        raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
    try:
        return seeded(catalogue, names)
    except MutantError as error:
        raise usage_error(str(error)) from error


def _tools(names: Sequence[str], machine: int) -> tuple[Tool, ...]:
    for name in names:
        if name not in ALL_TOOLS:
            raise usage_error(f"no tool {name!r}; there are {', '.join(ALL_TOOLS)}")
    if not names:
        return (*TOOLS, UNIT_TESTS) if machine else TOOLS
    return tuple(tool for tool in ALL_TOOLS.values() if tool.name in names)


def _try_all(plan: SuitePlan) -> Results:
    with progress("mutants", len(plan.chosen) + plan.machine) as advance:
        return try_all(plan, lambda step: advance(0, step), lambda outcome: advance(say=_said(outcome)))


def _said(outcome: Outcome) -> str:
    return f"{outcome.name}: {'SURVIVES' if outcome.first is None else f'killed by {outcome.first.tool}'}"


def _list(chosen: tuple[Mutant, ...], as_json: bool) -> int:
    levels = {row.mutant: row.level or "" for row in load_table().seeded}
    if as_json:
        print_json(
            {
                "mutants": [
                    {"name": one.name, "rules": one.rules, "shown_at": levels.get(one.name) or None, "bug": one.bug}
                    for one in chosen
                ],
                "tools": [{"name": one.name, "does": one.does} for one in ALL_TOOLS.values()],
            }
        )
        return ExitCode.CONFORMANT
    drawn = table(f"{len(chosen)} seeded mutants of the reference", "mutant", "breaks", "shown at", "bug")
    for one in chosen:
        drawn.add_row(one.name, ", ".join(one.rules), levels.get(one.name, ""), shown(one.bug))
    stdout.print(drawn)
    drawn = table("Tools, from the cheapest to the dearest", "tool", "what it does")
    for tool in ALL_TOOLS.values():
        drawn.add_row(tool.name, tool.does)
    stdout.print(drawn)
    return ExitCode.CONFORMANT


def _show(results: Results) -> None:
    tools = [attack.tool for attack in results.baseline.attacks]
    for attack in results.baseline.attacks:
        if attack.skipped:
            stdout.print(f"{attack.tool} not used: {attack.skipped}", markup=False)
    if results.mutants:
        seeded_tools = [name for name in tools if name != UNIT_TESTS.name]
        drawn = table("Seeded mutants: how far each tool came, and seconds, until the kill", "mutant", *seeded_tools)
        for outcome in results.outcomes:
            drawn.add_row(outcome.name, *(_cell(outcome.by(name)) for name in seeded_tools))
        stdout.print(drawn)
        _show_unkilled(results)
    if results.machine is not None:
        _show_machine_made(results.machine)


def _cell(attack: Attack | None) -> str:
    if attack is None or attack.skipped:
        return ""
    return f"{attack.amount:,} {attack.seconds:.1f} s" if attack.killed else "-"


def _show_unkilled(results: Results) -> None:
    for mutant in results.mutants:
        if mutant.name in results.unkilled:
            stdout.print(shown(f"{mutant.name} survives every tool: {mutant.bug}"), style="red", soft_wrap=True)
            stdout.print(f"  a check is missing for {', '.join(mutant.rules)}", markup=False, soft_wrap=True)
    killed = len(results.mutants) - len(results.unkilled)
    stdout.print(f"{killed} of {len(results.mutants)} seeded mutants killed", markup=False)


def _show_machine_made(machine: MachineMadeOutcomes) -> None:
    rate = machine.rate
    unknown = [made for made, entry in machine.survivors if entry is None or not entry.equivalent]
    if unknown:
        drawn = table("Machine-made mutants that survive and are not equivalent", "where", "before", "after")
        for made in unknown:
            drawn.add_row(f"{made.key.file}:{made.line}", shown(made.key.before), shown(made.key.after or "deleted"))
        stdout.print(drawn)
    stdout.print(
        f"{len(machine.made)} machine-made mutants (seed {machine.seed}): {rate.by_tools} killed by the tools, "
        f"{rate.by_tests} by the unit tests alone, {rate.equivalent} equivalent, {rate.missing} without a check",
        markup=False,
        soft_wrap=True,
    )
    stdout.print(
        f"kill rate {rate.of_all:.1%}, without the unit tests {rate.of_tools:.1%}", markup=False, soft_wrap=True
    )
