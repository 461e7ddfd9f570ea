"""The matrix of mutants as tables: what each tool detects, and of each mutant what detects it and names its rule."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kraft_dev.markdown import Section, code, codes, page
from kraft_dev.matrix.naming import ATTRIBUTED_MAX, NAMED, UNKNOWN, score
from kraft_dev.matrix.subjects import Subject
from kraft_dev.matrix.tools import TOOLS, VECTORS, tool_of
from kraft_dev.results import Cell, Matrix, Row, joined, origin, share, undetected
from kraft_mutants import Catalogue, Covered
from kraft_vectors.features import LEVELS

_NAMING = (NAMED, UNKNOWN)
_NAMES_SHOWN = 3
_TLC = "TLC"
"""Of a mutant of the model, whose evidence is run by `python -m kraft_dev load-bearing`."""


def markdown(catalogue: Catalogue, matrices: Sequence[Matrix]) -> str:
    """The whole page, of the recorded results."""
    words = [
        "Each seeded mutant of the catalogue, every tool that was asked about it, and which of them detects it; "
        "[mutants](../checks.md#mutants) says what the tools are."
    ]
    words += [
        f"- **{one.name}**, by `{one.command}`{f' ({one.how})' if one.how else ''}: {origin(one.name, one.measured)}"
        for one in matrices
    ]
    rows = tuple(with_tlc(catalogue, joined(matrices)))
    sections = [_seeded(rows), *_naming(rows, [row for one in matrices for row in one.drawn])]
    sections += [_rows("Seeded mutants", rows)]
    sections += [section for one in matrices if one.name != "naming" for section in _drawn(one)]
    return page("Mutants: what detects them", words, sections)


def sections_of(matrix: Matrix) -> Iterator[Section]:
    """One matrix, for a terminal."""
    asked = _rows("Seeded mutants", matrix.rows)
    if matrix.rows:
        yield asked
        yield _seeded(matrix.rows)
    yield from _drawn(matrix)
    yield from _naming(matrix.rows, matrix.drawn)


_NOT_RECORDED = "newer than the recorded results; `make killed` asks about it on every push"


def with_tlc(catalogue: Catalogue, rows: Iterable[Row]) -> Iterator[Row]:
    """A row for each mutant of the catalogue: TLC detects those that are of the model alone."""
    known = {row.name: row for row in rows}
    for mutant in catalogue.mutants:
        row = known.get(mutant.name, Row(mutant.name))
        evidence = mutant.evidence
        cells, reason = row.cells, row.reason
        if evidence is not None and not isinstance(evidence, Covered):
            cells = (*cells, Cell(_TLC, True, f"violates {evidence.property}", "the broken model"))
        elif not cells and not mutant.reference and (evidence is None or isinstance(evidence, Covered)):
            reason = "changes nothing: other rules do the same work"
        elif mutant.name not in known:
            reason = _NOT_RECORDED
        yield Row(mutant.name, mutant.rules, mutant.bug, cells, reason)


def _seeded(rows: Sequence[Row]) -> Section:
    there = [row for row in rows if row.cells]
    words = (
        f"{len(there) - len(undetected(there))} of {len(there)} seeded mutants are detected, or cannot be. "
        f"Vectors detect {_number(there, LEVELS)}: {_number(there, LEVELS[:1])} where messages alone are shown "
        f"(`wire`), {_number(there, LEVELS[:2])} with what is written (`effects`), the others with the `state`.",
    )
    return Section("What each tool detects", words, _COUNT_HEADS, _count_rows(there))


def _number(rows: Iterable[Row], detectors: Iterable[str]) -> int:
    return sum(any((cell := row.by(one)) is not None and cell.detects for one in detectors) for row in rows)


_COUNT_HEADS = ("tool", "what it does", "asked about", "detects")


def _count_rows(rows: Sequence[Row]) -> tuple[tuple[str, ...], ...]:
    """By tool: one that has several detectors detects what any of them does."""
    by_tool: dict[str, str] = {}
    asked: Counter[str] = Counter()
    detects: Counter[str] = Counter()
    for row in rows:
        tools = {cell.detector: tool_of(cell.detector) for cell in row.cells if cell.detector not in (*_NAMING, _TLC)}
        names = {detector: detector if tool is None else tool.name for detector, tool in tools.items()}
        by_tool |= {names[one]: "" if tool is None else tool.does for one, tool in tools.items()}
        there = [cell for cell in row.cells if cell.detector in names and not cell.skipped]
        asked.update({names[cell.detector] for cell in there})
        detects.update({names[cell.detector] for cell in there if cell.detects})
    return tuple((name, does, str(asked[name]), str(detects[name])) for name, does in by_tool.items())


def _rows(title: str, rows: Iterable[Row]) -> Section:
    heads = ("mutant", "breaks", "what is wrong", "detected by", "first, and what it finds", "shown at", "named first")
    return Section(title, (), heads, tuple(_cells(row) for row in rows))


def _cells(row: Row) -> tuple[str, ...]:
    detecting = [cell for cell in row.cells if cell.detects and cell.detector not in _NAMING]
    level = next((cell for cell in detecting if cell.detector in VECTORS.detectors), None)
    return (
        row.name,
        code(row.breaks[0] if row.breaks else ""),
        row.change,
        ", ".join(cell.detector for cell in detecting) or _without_detector(row),
        ": ".join(filter(None, (detecting[0].where, detecting[0].what))) if detecting else row.reason,
        f"{level.detector}: {level.where}" if level is not None else "",
        codes(_first_names(row)),
    )


def _without_detector(row: Row) -> str:
    if row.reason == _NOT_RECORDED:
        return "not known"
    return "nothing can" if row.reason else "**nothing**"


def _first_names(row: Row) -> tuple[str, ...]:
    named = row.by(NAMED)
    return () if named is None else named.names[:_NAMES_SHOWN]


def _drawn(matrix: Matrix) -> Iterator[Section]:
    """The machine-made mutants: how many are detected, and those that nothing detects."""
    if not matrix.drawn:
        return
    words = [
        f"{len(matrix.drawn)} drawn with seed {matrix.seed} from {matrix.population} changes that Cosmic Ray can make "
        "in the protocol's modules, each up to the first tool that detects it; those that nothing can detect do not "
        "count."
    ]
    words += [f"Detected: {share(matrix.drawn):.1%}."]
    raised = sum(row.first is not None and row.first.what.startswith(("raises ", "hangs: ")) for row in matrix.drawn)
    words += [f"Of these detections {raised} are an exception or a hang, and no check."] if raised else []
    yield Section(f"Machine-made mutants: {matrix.name}", tuple(words), _COUNT_HEADS, _count_rows(matrix.drawn))
    left = [row for row in matrix.drawn if not row.is_detected]
    if left:
        heads = ("where", "change", "verdict")
        cells = tuple((row.name, code(row.change), row.reason or "a check is missing") for row in left)
        yield Section(f"Machine-made mutants that no tool detects: {matrix.name}", (), heads, cells)


def _naming(rows: Sequence[Row], drawn: Sequence[Row]) -> Iterator[Section]:
    """How often the broken rule is named."""
    scores = {name: score(rows, name) for name in _NAMING} | {"machine-made": score(drawn, NAMED)}
    there = {name: one for name, one in scores.items() if one.failed}
    if not there:
        return
    words = (
        "All vectors were asked of each mutant behind its adapter, in the order of `conformance run`, and the first "
        f"{ATTRIBUTED_MAX} failures were looked into; counted are the rules that the first failure names.",
        f"*{NAMED}*: failures are compared with the catalogue of mutants, so that a seeded mutant is compared with "
        "itself too. This says how well the tool tells known mistakes apart, and no more.",
        f"*{UNKNOWN}*: without the mutant in the catalogue, and without those that change the same text. This is what "
        "to expect of a mistake that nobody thought of.",
        "*machine-made*: never in the catalogue; broken are the rules that the reference cites at the changed line or "
        "around it.",
    )
    lines = (
        ("the first rule named is the one that the mutant is about", [one.first for one in there.values()]),
        ("it is one that the mutant breaks", [one.among for one in there.values()]),
        ("the one that it is about is among the first three", [one.early for one in there.values()]),
    )
    failed = [one.failed for one in there.values()]
    cells = (
        ("mutants with a failure", *map(str, failed)),
        *((text, *map(_share, numbers, failed)) for text, numbers in lines),
    )
    yield Section("Is the broken rule the first one named?", words, ("", *there), cells)


def _share(number: int, of: int) -> str:
    return f"{number} ({number / of:.0%})"


def mutants_section(subjects: Sequence[Subject], graded: Matrix | None) -> Section:
    """The seeded mutants, each with the lowest level at which a vector detected it when they were graded last."""
    levels = {
        row.name: next((cell.detector for cell in row.cells if cell.detects and cell.detector in LEVELS), "")
        for row in (() if graded is None else graded.rows)
    }
    rows = tuple((one.name, ", ".join(one.breaks), levels.get(one.name, ""), one.change) for one in subjects)
    return Section(f"{len(rows)} seeded mutants of the reference", (), ("mutant", "breaks", "shown at", "bug"), rows)


def tools_section() -> Section:
    """The tools, from the cheapest on."""
    rows = tuple((tool.name, tool.does, tool.unit) for tool in TOOLS.values())
    return Section("Tools, from the cheapest to the most expensive", (), ("tool", "what it does", "counts"), rows)
