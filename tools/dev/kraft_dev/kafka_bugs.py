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
"""A reply may have to wait for a JVM."""
FIRST = 3
"""So many of the rules that a failure names are looked at."""
VECTORS = "vectors"
"""The detector that is any vector: `where` is the first that fails in the order of a run, `names` what it names; one in
error where no other fails."""
NAMED = "named"
"""The detector that is a vector which names the rule that the bug is about among its first: `where` is one of them."""
HEADS = ("bug", "what Kafka does", "breaks", "vectors that fail", "of these name it early", "the first of them")


def bugs_of(version: str, on_row: Callable[[Row], None], asked: Iterable[Patch]) -> Result:
    """Run the vectors on a release, and those that pass on the release with each of these bugs.

    Raises:
        KafkaUnavailableError: it cannot be run here, or a bug does not fit it.
        AdapterFault: the adapter cannot be started.
    """
    kafka, passing = released(releases()[version]), _passing(version)
    rows: list[Row] = []
    for bug in asked:
        failing = [one for one in _outcomes(patched(kafka, bug), passing) if one.status in FAILING]
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
    # An error says where a replica was, a failure what it did.
    first = next((one for one in failing if one.status is Status.FAIL), failing[0])
    return Cell(VECTORS, True, where=first.id, amount=len(failing), names=first.rules[:FIRST])


def _first_that_names(failing: list[Outcome], rule: str) -> Cell:
    naming = [one for one in failing if rule in one.rules[:FIRST]]
    return Cell(NAMED, True, where=naming[0].id, amount=len(naming)) if naming else Cell(NAMED)


@cache
def _passing(version: str) -> tuple[str, ...]:
    """The vectors that pass on a release as it is."""
    everything = tuple(entry.id for entry in select_vectors(Catalogue(), ()))
    outcomes = _outcomes(released(releases()[version]), everything)
    return tuple(one.id for one in outcomes if one.status is Status.PASS)


def _outcomes(kafka: Kafka, ids: tuple[str, ...]) -> tuple[Outcome, ...]:
    return Campaign(Plan(command_line(kafka, "state"), ids, REPLY_S), Catalogue()).run()


def markdown(found: Result | None) -> str:
    """The whole page, of the recorded result."""
    words = [
        "A suite that passes on Kafka says something only if it fails on a Kafka that is wrong. "
        "Each of these bugs is a change of one place in the classes of a release, made in their bytes: "
        "`kraft-spec kafka mutants` lists them, and `kraft-spec kafka run --mutant NAME` runs Kafka with one.",
        "",
        not_recorded("python -m kraft_dev kafka-bugs --record")
        if found is None
        else f"{found.how}, by `{found.command}`: {origin(found)}",
    ]
    sections = () if found is None else (section_of(found),)
    return page("Mutants of Apache Kafka", words, sections)


def section_of(found: Result) -> Section:
    """The table, for the site and for a terminal."""
    cells = [{cell.detector: cell for cell in row.cells} for row in found.rows]
    seen = sum(of[VECTORS].detects for of in cells)
    named = sum(of[NAMED].detects for of in cells)
    early = sum(row.breaks[0] in of[VECTORS].names for row, of in zip(found.rows, cells, strict=True))
    words = (
        f"Of {len(cells)} bugs {seen} make vectors fail. The rule that a bug is about is among the first {FIRST} "
        f"that some failure names for {named} of them, and that the first failure of the run names for {early}: "
        "read more than one failure.",
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
        for row, of in zip(found.rows, cells, strict=True)
    )
    return Section("What the vectors see", words, HEADS, rows)
