"""The grading as a page of the site."""

from collections.abc import Iterator

from kraft_dev.grading.naming import Naming, naming_page
from kraft_dev.grading.table import TARGET, Row, Score, Table, score
from kraft_dev.markdown import table
from kraft_dev.results import origin


def markdown(done: Table, naming: Naming) -> str:
    """The whole page."""
    return "\n".join(_page(done, naming)) + "\n"


def _page(done: Table, naming: Naming) -> Iterator[str]:
    seeded = score(done.seeded)
    yield "# What the conformance suite notices"
    yield ""
    yield origin("grading", done.measured)
    yield (
        "Each mutant of the reference ran behind its adapter, in a process of its own, against the runner that "
        "everybody uses."
    )
    yield ""
    yield (
        f"**{seeded.vectors} of {seeded.mutants} named mutants are caught by vectors ({seeded.share:.1%}; at least "
        f"{TARGET:.0%} is asked for), {seeded.together} by vectors and random mode together.**"
    )
    yield (
        f"An implementation that shows `wire` alone would be caught at {seeded.wire} of them, one that shows `effects` "
        f"at {seeded.effects}, one that shows its `state` at {seeded.state}; without `state_injection`, at the level "
        f"`state`, at {seeded.history}."
    )
    if done.machine is not None:
        made = score(done.machine.rows)
        yield (
            f"Of {made.mutants} machine-made ones, which nobody chose, vectors catch {made.vectors} "
            f"({made.share:.1%}), vectors and random mode {made.together}."
        )
    yield ""
    yield from _scores(done, seeded)
    yield ""
    if done.machine is not None:
        every = score((*done.seeded, *done.machine.rows))
        yield f"Of both together vectors catch {every.vectors} of {every.mutants} ({every.share:.1%})."
    yield (
        f"There were {done.vectors} vectors of a replica of the quorum and {done.partition_vectors} of controllers "
        f"of partitions, each mutant with those of its subject, asked under the profile `{done.profile}`, or "
        "under one of their own where that is none."
    )
    yield "Noticed at a level: by what an implementation shows there and below."
    if done.random:
        yield f"The random mode, for what no vector notices: {done.random}; up to the first difference."
        yield "It runs clusters of replicas of the quorum, so that no mutant of controllers of partitions comes to it."
    yield (
        "Machine-made mutants are of the quorum part alone; of controllers of partitions there are "
        f"{sum(row.subject == 'partitions' for row in done.seeded)} named ones, in the table under the rules "
        "`partition-reassign`."
    )
    yield ""
    yield from naming_page(naming)
    yield ""
    yield "## Named mutants"
    yield ""
    yield (
        "The columns: the rules it breaks; the lowest level at which a vector notices, and the first that does "
        "(those about its rules first, then by id); how many notice in all; whether one notices without state "
        "injection."
    )
    yield ""
    yield from table(
        ("mutant", "breaks", "level", "caught by", "vectors", "without injection"),
        (_cells(row) for row in done.seeded),
    )
    yield from _others("named", done.seeded)
    if done.machine is not None:
        yield ""
        yield "## Machine-made mutants"
        yield ""
        yield (
            f"{len(done.machine.rows)} drawn with seed {done.machine.seed} from {done.machine.population} changes "
            "that Cosmic Ray can make in the protocol's modules, the same as in [mutants](mutants.md); "
            "each up to the first vector that notices."
        )
        yield ""
        yield from table(
            ("where", "change", "level", "caught by"),
            ((row.mutant, f"`{row.line}`", row.level or "", _caught_by(row)) for row in done.machine.rows),
        )
        yield from _others("machine-made", done.machine.rows)


def _scores(done: Table, seeded: Score) -> Iterator[str]:
    columns = [("named", seeded)]
    if done.machine is not None:
        columns.append(("machine-made", score(done.machine.rows)))
    lines = (
        ("mutants that count", "mutants"),
        ("caught at `wire`", "wire"),
        ("caught at `effects`", "effects"),
        ("caught at `state`", "state"),
        ("caught without state injection", "history"),
        ("caught by vectors", "vectors"),
        ("of these: the adapter dies, hangs or cannot answer", "failures"),
        ("caught by vectors or random mode", "together"),
        ("excluded, with an argument", "excluded"),
    )
    yield from table(
        ("", *(name for name, _ in columns)),
        ((words, *(str(getattr(one, name)) for _, one in columns)) for words, name in lines),
    )


def _cells(row: Row) -> tuple[str, ...]:
    number = str(row.vectors) if row.counted else f"at least {row.vectors}"
    without = "" if row.history is None else "yes"
    return row.mutant, ", ".join(row.rules), row.level or "", _caught_by(row), number, without


def _caught_by(row: Row) -> str:
    if row.first is not None:
        return row.first
    if row.random is not None:
        return f"random mode: {row.random.workload}, seed {row.random.seed}, run {row.random.runs}"
    return "excluded" if row.excluded else "**nothing**"


def _others(kind: str, rows: tuple[Row, ...]) -> Iterator[str]:
    """What is not caught by vectors, with what is known about it."""
    excluded = [row for row in rows if row.excluded and not row.caught]
    by_random = [row for row in rows if not row.by_vectors and row.random is not None]
    if by_random:
        yield ""
        yield f"What the random mode says of the {kind} mutants that no vector notices."
        yield ""
        yield from table(("mutant", "said"), ((row.mutant, row.random.said if row.random else "") for row in by_random))
    missed = [row for row in rows if not row.caught and not row.excluded]
    if missed:
        yield ""
        yield f"The {kind} mutants that nothing notices: a vector is missing for each."
        yield ""
        yield from table(("mutant", "change"), ((row.mutant, f"`{row.line}`" if row.line else "") for row in missed))
    if excluded:
        yield ""
        yield f"The {kind} mutants that do not count, and why."
        yield ""
        yield from table(("mutant", "change", "why"), ((row.mutant, row.line, row.excluded) for row in excluded))
