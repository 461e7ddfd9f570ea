"""`python -m kraft_dev starts`: check that every start in the middle is reachable from the initial state."""

from typing import Annotated

import typer

from kraft_conformance.console import progress, say, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_dev.starts import first_checks, goals, path_length

Names = Annotated[list[str] | None, typer.Argument(help="Model checks that start there; all if none is named.")]


def starts(names: Names = None) -> int:
    """Search a path from the initial state to the start of each model check that starts in the middle (minutes)."""
    checks = first_checks()
    unknown = sorted(set(names or ()) - set(checks))
    if unknown:
        raise usage_error(f"no start of {unknown[0]}; there are {', '.join(checks)}")
    rows = []
    reached = set[tuple[str, ...]]()
    with progress("starts", len(names or checks)) as advance:
        for name in names or checks:
            advance(1, name)
            for goal in goals(checks[name]):
                key = tuple(goal.values())
                if key not in reached:
                    reached.add(key)
                    steps = path_length(goal)
                    rows.append((name, checks[name].configuration.module, "no way" if steps is None else str(steps)))
    show_table("Starts of the model checks", ("first in", "module", "steps from the initial state"), rows)
    lost = [row[0] for row in rows if row[2] == "no way"]
    say(
        f"no path to the start of {', '.join(lost)}" if lost else "all are reached",
        "bold red" if lost else "bold green",
    )
    return ExitCode.VIOLATION if lost else ExitCode.CONFORMANT
