"""Fill a matrix of mutants, and judge it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kraft_dev.matrix import machine_made
from kraft_dev.matrix.runner import runner
from kraft_dev.matrix.subjects import Subject
from kraft_dev.matrix.tool import Tool
from kraft_dev.matrix.tools import KINDS, RANDOM, tool_of
from kraft_dev.results import SCHEMA, Matrix, Row, load_result, measured_now, share, undetected


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured.

    Attributes:
        name: One of `KINDS`.
        command: What repeats it.
        seeded: The seeded mutants.
        tools: Instead of the kind's, for seeded and machine-made mutants.
        machine: How many machine-made mutants, each up to the first tool that detects it.
        seed: Of their sample.
        first: Leave a seeded mutant, too, alone once a tool detects it.
        in_order: With `first`: ask the tools in their order, and not first the one that the recorded result names.
        edges: File that keeps the model's edges; a temporary one if None.
        jobs: Mutants at a time.
    """

    name: str
    command: str
    seeded: tuple[Subject, ...]
    tools: tuple[Tool, ...] = ()
    machine: int = 0
    seed: int = 1
    first: bool = False
    in_order: bool = False
    edges: Path | None = None
    jobs: int = 1


def measure(plan: Plan, on_step: Callable[[str], None], on_row: Callable[[Row], None]) -> Matrix:
    """Fill the matrix.

    Raises:
        EditError, UndetectableError: A mutant does not fit, or the list of what nothing can detect is wrong.
        ToolError: A tool finds fault with the unbroken reference, or cannot be used.
        ChildError: The model's edges cannot be enumerated.
        ValueError: There are not so many machine-made mutants.
    """
    kind = KINDS[plan.name]
    made: tuple[Subject, ...] = ()
    population = 0
    if plan.machine:
        on_step("drawing machine-made mutants")
        made, population = machine_made.sample(plan.machine, plan.seed)
    tools = plan.tools or kind.tools
    of_drawn = plan.tools or (*kind.tools, *kind.of_drawn)
    usual = {} if plan.in_order else _usual(plan.name)
    with runner(plan.edges, on_step) as asked:
        rows = asked.rows(
            plan.seeded,
            tools,
            jobs=plan.jobs,
            first=plan.first,
            begin_with=usual,
            behind_adapter=kind.behind_adapter,
            on_row=on_row,
        )
        drawn = asked.rows(
            made, of_drawn, jobs=plan.jobs, first=True, behind_adapter=kind.behind_adapter, on_row=on_row
        )
        unbroken = [cell for tool in of_drawn for cell in asked.unbroken.get(tool.name, ())]
    return Matrix(
        schema=SCHEMA,
        name=plan.name,
        command=plan.command,
        measured=measured_now(plan.name),
        seed=plan.seed if plan.machine else 0,
        population=population,
        unbroken=tuple(unbroken),
        rows=rows,
        drawn=drawn,
    )


def _usual(name: str) -> dict[str, str]:
    """Mutant to the tool that detected it when the result was recorded: asked first, it spares the others.

    What only random runs detected in the grading meets them first.
    """
    graded = [row for row in _recorded("grading") if row.first is not None and row.first.detector == RANDOM.name]
    rows = (*graded, *_recorded(name))
    tools = {row.name: tool_of(row.first.detector) for row in rows if row.first is not None}
    return {mutant: tool.name for mutant, tool in tools.items() if tool is not None}


def _recorded(name: str) -> tuple[Row, ...]:
    result = load_result(name)
    return () if result is None else result.rows


def problems(matrix: Matrix) -> tuple[str, ...]:
    """What is wrong with the suite by a matrix, in sentences: mutants that nothing detects, or too few that are."""
    kind = KINDS[matrix.name]
    if kind.target is None:
        return ()
    found = [
        f"nothing detects {row.name}: {row.change}; a check is missing for {', '.join(row.breaks)}"
        for row in undetected(matrix.rows)
    ]
    for words, rows in (("seeded", matrix.rows), ("machine-made", matrix.drawn)):
        if rows and share(rows, kind.without) < kind.target and (words == "machine-made" or kind.without):
            found.append(f"{share(rows, kind.without):.1%} of the {words} mutants, less than {kind.target:.0%}")
    return tuple(found)
