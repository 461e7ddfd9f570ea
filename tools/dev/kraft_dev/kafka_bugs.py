"""Mutants of Apache Kafka's own classes: the vector that detects each, and the rule that the suite names."""

from collections.abc import Callable, Iterable
from functools import cache

from kraft_conformance.runner.campaign import Campaign, Plan
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.selection import select_vectors
from kraft_dev.markdown import Section, page
from kraft_dev.results import SCHEMA, Cell, Result, Row, measured_now, not_recorded, origin
from kraft_kafka.adapter import command_line
from kraft_kafka.jars import Kafka, released
from kraft_kafka.patching.patches import Patch, patched
from kraft_kafka.releases import releases
from kraft_vectors.catalogue import Catalogue

REPLY_S = 30.0
"""Timeout of a reply, which may have to wait for a JVM."""
FIRST = 3
"""Number of a failure's named rules that are considered."""
VECTORS = "vectors"
"""Detector for any vector: `where` is the first failing vector in the order of a run, `names` its named rules.
A vector in error counts only if none fails.
"""
NAMED = "named"
"""Detector for a vector that names the mutant's rule among its first: `where` is one of these vectors."""
HEADS = ("bug", "what Kafka does", "breaks", "vectors that fail", "of these name it early", "the first of them")


def bugs_of(version: str, on_row: Callable[[Row], None], bugs: Iterable[Patch]) -> Result:
    """Run the vectors on a release, and those that pass on each mutant of the release.

    Raises:
        KafkaUnavailableError: The release cannot run here, or a patch does not fit it.
        AdapterFault: the adapter cannot be started.
    """
    kafka, passing = released(releases()[version]), _passing(version)
    rows: list[Row] = []
    for bug in bugs:
        failing = [outcome for outcome in _outcomes(patched(kafka, bug), passing) if outcome.status in FAILING]
        rows.append(Row(bug.name, bug.rules, bug.what, (_first(failing), _first_that_names(failing, bug.rules[0]))))
        on_row(rows[-1])
    return Result(
        schema=SCHEMA,
        name="kafka-bugs",
        command=f"python -m kraft_dev kafka-bugs --version {version}",
        how=f"Apache Kafka {version}, the {len(passing)} vectors that pass on it as it is",
        measured=measured_now("kafka-bugs"),
        rows=tuple(rows),
    )


def _first(failing: list[Outcome]) -> Cell:
    if not failing:
        return Cell(VECTORS)
    # An error says which state the replica was in, a failure what it did.
    first = next((outcome for outcome in failing if outcome.status is Status.FAIL), failing[0])
    return Cell(VECTORS, True, where=first.id, amount=len(failing), names=first.rules[:FIRST])


def _first_that_names(failing: list[Outcome], rule: str) -> Cell:
    naming = [outcome for outcome in failing if rule in outcome.rules[:FIRST]]
    return Cell(NAMED, True, where=naming[0].id, amount=len(naming)) if naming else Cell(NAMED)


@cache
def _passing(version: str) -> tuple[str, ...]:
    """Return the vectors that pass on an unpatched release."""
    everything = tuple(entry.id for entry in select_vectors(Catalogue(), ()))
    outcomes = _outcomes(released(releases()[version]), everything)
    return tuple(outcome.id for outcome in outcomes if outcome.status is Status.PASS)


def _outcomes(kafka: Kafka, ids: tuple[str, ...]) -> tuple[Outcome, ...]:
    return Campaign(Plan(command_line(kafka, "state"), ids, REPLY_S), Catalogue()).run()


def markdown(result: Result | None) -> str:
    """Return the page of the recorded result."""
    words = [
        "A suite that passes on Kafka is only meaningful if it fails on a faulty Kafka. "
        "Each mutant changes one place in the bytecode of a release: "
        "`kraft-spec kafka mutants` lists them, and `kraft-spec kafka run --mutant NAME` runs Kafka with one.",
        "",
        not_recorded("python -m kraft_dev kafka-bugs --record")
        if result is None
        else f"{result.how}, by `{result.command}`: {origin(result)}",
    ]
    sections = () if result is None else (section_of(result),)
    return page("Mutants of Apache Kafka", words, sections)


def section_of(result: Result) -> Section:
    """Return the table, for the site and for a terminal."""
    cells = [{cell.detector: cell for cell in row.cells} for row in result.rows]
    detected = sum(of[VECTORS].detects for of in cells)
    named = sum(of[NAMED].detects for of in cells)
    early = sum(row.breaks[0] in of[VECTORS].names for row, of in zip(result.rows, cells, strict=True))
    words = (
        f"{detected} of {len(cells)} mutants make vectors fail. The broken rule is among the first {FIRST} rules of "
        f"some failure for {named} of them, and among those of the first failure for {early}, so read more than one "
        "failure.",
    )
    rows = tuple(
        (
            row.name,
            row.change,
            ", ".join(row.breaks),
            str(of[VECTORS].amount),
            f"{of[NAMED].amount}: {of[NAMED].where}" if of[NAMED].detects else "none",
            f"{of[VECTORS].where}: {', '.join(of[VECTORS].names)}" if of[VECTORS].detects else "",
        )
        for row, of in zip(result.rows, cells, strict=True)
    )
    return Section("Detection by the vectors", words, HEADS, rows)
