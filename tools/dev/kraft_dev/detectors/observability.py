"""Each mutant, and who sees it: an implementation that shows how much, or another tool of the suite.

Unit tests do not help an implementer: a mutant that nothing else sees is a missing check.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kraft_conformance.protocol.features import LEVELS
from kraft_dev.grading.table import Row, Table
from kraft_dev.markdown import code, table
from kraft_spec.mutants import Catalogue, Covered, Mutant, reference_edits


@dataclass(frozen=True, slots=True)
class MutantRow:
    """A mutant.

    Attributes:
        mutant: Its name; of a machine-made one its place.
        rules: Those that it breaks; none of a machine-made one.
        level: The lowest level of observability at which a vector sees it; empty if none does.
        by: That vector, the run of the random mode, or another tool.
        reason: Why nothing can see it.
        problem: What is wrong; empty if nothing is.
    """

    mutant: str
    rules: tuple[str, ...]
    level: str
    by: str
    reason: str
    problem: str


ONLY_UNIT_TESTS = "nobody sees it, but for unit tests"


def mutant_rows(catalogue: Catalogue, grading: Table, killers: Mapping[str, str]) -> tuple[MutantRow, ...]:
    """The mutants of the catalogue, then the machine-made ones of the graded sample.

    Args:
        catalogue: The mutants.
        grading: What vectors and the random mode saw when they were graded last.
        killers: Mutant to the tool of `kraft_dev mutants` that kills it, for those that its first tool does not.
    """
    graded = {row.mutant: row for row in grading.seeded}
    named = [_named(mutant, graded.get(mutant.name), killers.get(mutant.name)) for mutant in catalogue.mutants]
    made = () if grading.machine is None else grading.machine.rows
    return (*named, *[_graded(row) for row in made])


def _named(mutant: Mutant, row: Row | None, killer: str | None) -> MutantRow:
    if row is not None and (row.caught or row.excluded or killer is None):
        return _graded(row)
    if killer is not None:
        return MutantRow(mutant.name, mutant.rules, "", f"the tool {killer}", "", "")
    evidence = mutant.evidence
    if reference_edits(mutant):
        # `python -m kraft_dev grade --check` reports it.
        return MutantRow(mutant.name, mutant.rules, "", "not graded yet", "", "")
    if evidence is None or isinstance(evidence, Covered):
        return MutantRow(mutant.name, mutant.rules, "", "", "changes nothing: other rules do the same work", "")
    return MutantRow(mutant.name, mutant.rules, "", f"TLC: {evidence.property}", "", "")


def _graded(row: Row) -> MutantRow:
    name = f"{row.mutant}: {row.line}" if row.line else row.mutant
    if row.level is not None:
        return MutantRow(name, row.rules, row.level, row.first or "", "", "")
    if row.random is not None:
        by = f"random mode, {row.random.workload}, seed {row.random.seed}"
        return MutantRow(name, row.rules, "", by, "", "")
    return MutantRow(name, row.rules, "", "", row.excluded, "" if row.excluded else ONLY_UNIT_TESTS)


def mutants_section(rows: Sequence[MutantRow]) -> Iterator[str]:
    """The lines of the page about them; of the machine-made ones only those that no vector sees."""
    named = [row for row in rows if row.rules]
    made = [row for row in rows if not row.rules]
    yield "## Mutants"
    yield ""
    yield (
        "The lowest level of observability at which a conformance vector sees each, and that vector: an implementation "
        "that shows more is seen there too. Where no vector does, the run of the random mode that does, or the tool of "
        "`python -m kraft_dev mutants`, or TLC. Nothing counts here that only the unit tests of the reference see. "
        "From [the grading](grading.md), which says when it was made."
    )
    yield ""
    yield from table(
        ("", "wire", "effects", "state", "random mode", "another tool", "nothing can", "only unit tests"),
        ((f"{len(rows)} {kind}", *_counts(rows)) for kind, rows in (("named", named), ("machine-made", made))),
    )
    yield ""
    yield from table(
        ("mutant", "breaks", "seen at", "by"),
        (
            (row.mutant, code(row.rules[0] if row.rules else ""), row.level, row.problem or row.by or row.reason)
            for row in (*named, *[one for one in made if not one.level and not one.reason])
        ),
    )


def _counts(rows: Sequence[MutantRow]) -> Iterator[str]:
    for level in LEVELS:
        yield str(sum(row.level == level for row in rows))
    others = [row for row in rows if not row.level]
    yield str(sum(row.by.startswith("random mode") for row in others))
    yield str(sum(row.by.startswith(("TLC", "the tool")) for row in others))
    yield str(sum(bool(row.reason) and not row.by for row in others))
    yield str(sum(bool(row.problem) for row in others))
