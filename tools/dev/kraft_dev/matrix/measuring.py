"""Fill a matrix of mutants, and judge it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kraft_dev.matrix import machine_made
from kraft_dev.matrix.runner import runner
from kraft_dev.matrix.subjects import Subject
from kraft_dev.matrix.tool import Tool
from kraft_dev.matrix.tools import ALL, KINDS
from kraft_dev.results import SCHEMA, Matrix, Row, measured_now, share, undetected


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured.

    Attributes:
        name: One of `KINDS`.
        command: What repeats it.
        seeded: The seeded mutants.
        tools: Instead of the kind's, for seeded and machine-made mutants.
        machine: How many machine-made mutants.
        seed: Of their sample.
        edges: File that keeps the model's edges; a temporary one if None.
        jobs: Mutants at a time.
    """

    name: str
    command: str
    seeded: tuple[Subject, ...]
    tools: tuple[Tool, ...] = ()
    machine: int = 0
    seed: int = 1
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
    with runner(plan.edges, on_step, one_vector=kind.one_vector) as asked:
        rows, drawn = (
            asked.rows(subjects, tools, jobs=plan.jobs, behind_adapter=kind.behind_adapter, on_row=on_row)
            for subjects in (plan.seeded, made)
        )
        unbroken = [cell for tool in tools for cell in asked.unbroken.get(tool.name, ())]
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


def problems(matrix: Matrix) -> tuple[str, ...]:
    """What is wrong with the suite by a matrix, in sentences: mutants that nothing detects, or too few that are."""
    kind = KINDS[matrix.name]
    found = [
        f"nothing detects {row.name}: {row.change}; a check is missing for {', '.join(row.breaks)}"
        for row in undetected(matrix.rows)
        if kind.target == ALL
    ]
    for words, rows, target in (
        ("seeded", matrix.rows, kind.target),
        ("machine-made", matrix.drawn, kind.target_drawn),
    ):
        if rows and share(rows) < target < ALL:
            found.append(f"{share(rows):.1%} of the {words} mutants, less than {target:.0%}")
    return tuple(found)
