"""`python -m kraft_dev naming`: how often the broken rule is named first."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from kraft_conformance.console import progress
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_dev.markdown import Section, show
from kraft_dev.matrix import machine_made
from kraft_dev.naming.bugs import load_bugs
from kraft_dev.naming.evidence import collect, read_evidence, write_evidence
from kraft_dev.naming.measuring import Named, Score, names, scores
from kraft_spec.edits import EditError

Share = Annotated[float, typer.Option(min=0, max=1, help="Fraction of the catalogue's mutants, drawn with --seed.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of that sample.")]
Machine = Annotated[int, typer.Option(min=0, help="Number of machine-made mutants.")]
EvidenceFile = Annotated[
    Path | None,
    typer.Option("--evidence", help="File of the failures: read if it is there, else written. Ranks them in seconds."),
]
Misses = Annotated[bool, typer.Option("--misses", help="List the bugs whose rule is not named first.")]


def naming(
    share: Share = 1.0, seed: Seed = 1, machine: Machine = 120, evidence: EvidenceFile = None, misses: Misses = False
) -> int:
    """Measure which rule a failure names first, for mutants and for bugs of other implementations.

    A ranking is chosen by the first half alone; the other half, and the bugs of other implementations, are held out.
    """
    if machine and not machine_made.is_available():
        reason = "machine-made mutants need Cosmic Ray: install the extra `mutation`, or ask for --machine 0"
        raise CommandError(reason, ExitCode.UNAVAILABLE)
    bugs = load_bugs(machine, share, seed)
    try:
        if evidence is not None and evidence.is_file():
            found = read_evidence(evidence)
        else:
            with progress("steps") as advance:
                found = collect(bugs, lambda step: advance(0, step))
    except msgspec.DecodeError as error:
        raise CommandError(f"{evidence}: {error}", ExitCode.BAD_INPUT) from error
    except EditError as error:
        raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
    if evidence is not None and not evidence.is_file():
        write_evidence(evidence, found)
    named = tuple(names(bugs, found))
    show([_section(tuple(scores(named))), *([_misses(named)] if misses else [])])
    return ExitCode.CONFORMANT


def _section(rows: tuple[Score, ...]) -> Section:
    header = ("bugs", "half", "with a failure", "named first", "a broken rule first", "among the first three")
    cells = tuple(
        (
            str(one.kind),
            "held out" if one.is_held_out else "training",
            str(one.bugs),
            *(f"{number} ({number / one.bugs:.0%})" for number in (one.first, one.broken, one.among)),
        )
        for one in rows
    )
    return Section("Which rule is named", (), header, cells)


def _misses(named: tuple[Named, ...]) -> Section:
    missed = [one for one in named if one.rules[:1] != one.bug.breaks[:1]]
    rows = tuple((str(one.kind), one.bug.name, ", ".join(one.bug.breaks), ", ".join(one.rules)) for one in missed)
    return Section("Not named first", (), ("bugs", "bug", "breaks", "named"), rows)
