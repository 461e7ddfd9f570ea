"""Tables of mutants: which mutants each tool detects, and which tool detects each mutant and names its rule."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256

from kraft_dev.markdown import Section, code, codes, page
from kraft_dev.mutants.checked import checks_section, load_checks
from kraft_dev.mutants.checks import all_checks
from kraft_dev.mutants.evidence import safety_rules_section
from kraft_dev.mutants.listing import Listed, load_listed
from kraft_dev.mutants.measuring import MACHINE_TARGET, share
from kraft_dev.mutants.naming import ATTRIBUTED_MAX, NAMED, UNKNOWN
from kraft_dev.mutants.searching import EVIDENCE
from kraft_dev.mutants.tools import BY_DETECTOR, TOOLS, detections, is_asked
from kraft_dev.results import Cell, Result, Row, not_recorded, origin
from kraft_mutants import Catalogue, Covered, Exhaustive, Schedule, load_catalogue
from kraft_mutants.evidence import rows as safety_rows
from kraft_spec.rules import Registry
from kraft_spec.rules.scope import load_scope
from kraft_vectors.features import LEVELS

COMMAND = "python -m kraft_dev mutants --machine 200 --foreign --record"
_NAMES_SHOWN = 3


def markdown(registry: Registry, result: Result | None) -> str:
    """Return the page: the listed and stated detections of each mutant, and the recorded result."""
    catalogue = load_catalogue()
    words = (
        "Mutants of the catalogue, and the tools that detect each; [mutants](../checks.md#mutants) describes the "
        "tools.",
        "",
        f"By `{result.command}`: {origin(result)}" if result else not_recorded(COMMAND),
    )
    rows = tuple(listed_rows(catalogue, load_listed(), result))
    measured = () if result is None else result.rows
    sections = (
        _counts("Detections by tool", rows),
        safety_rules_section(safety_rows(catalogue, registry, load_scope().outside)),
        checks_section(all_checks(), catalogue, load_checks()),
        *measured_sections(measured),
        _mutants(rows),
    )
    return page("Mutants and their detection", words, sections)


def measured_sections(rows: Sequence[Row]) -> Iterator[Section]:
    """Yield the tables of measurements, for the site and for a terminal."""
    made = [row for row in rows if row.kind == "machine"]
    if made:
        yield from _machine_made(made)
    yield from _naming(rows)


def listed_rows(catalogue: Catalogue, listed: Listed, result: Result | None) -> Iterator[Row]:
    """Yield a row for each catalogue mutant: the recorded one, or else the listed and stated detections."""
    recorded = {} if result is None else {row.name: row for row in result.rows if row.kind == "seeded"}
    for mutant in catalogue.mutants:
        row = recorded.get(mutant.name)
        cells = tuple(Cell(detector, True, where=where) for detector, where in listed.get(mutant.name, {}).items())
        cells = cells if row is None else row.cells
        reason = "" if row is None else row.reason
        match mutant.evidence:
            case Exhaustive(property=violated) | Schedule(property=violated):
                if all(cell.detector != EVIDENCE for cell in cells):
                    cells = (*cells, Cell(EVIDENCE, True, violated))
            case Covered() if not mutant.reference:
                reason = "no violation: other rules prevent it"
        yield Row(mutant.name, mutant.rules, mutant.bug, cells, reason)


def line_of(row: Row) -> str:
    """Return a line with a mutant and the tools' results, for a terminal."""
    suite = detections(row)
    first = [f"{', '.join(cell.detector for cell in suite)}: {suite[0].what} in {suite[0].where}"] if suite else []
    other_cells = [_words(cell) for cell in row.cells if cell not in suite or cell.problem]
    words = "; ".join(filter(None, (*first, *other_cells))) or row.reason or "NOTHING detects it"
    is_missed = is_asked(row) and not suite and not row.reason
    is_wrong = is_missed or any(cell.problem for cell in row.cells)
    rule = f" ({row.breaks[0]})" if row.breaks else ""
    return f"{'FAIL' if is_wrong else 'ok  '} {row.name}{rule}: {words}"


def _words(cell: Cell) -> str:
    """Describe a detector's result; empty if it does not detect the mutant."""
    if cell.problem:
        return f"{cell.detector}: {cell.problem}"
    if cell.detector == EVIDENCE:
        violated = f"{cell.what} after {cell.amount} states" if cell.detects else "no counterexample, as stated,"
        return f"{cell.detector}: {violated} in {cell.where}, {cell.seconds:.0f} s"
    words = ", ".join(cell.names[:_NAMES_SHOWN]) or cell.what
    return f"{cell.detector}: {' in '.join(filter(None, (words, cell.where)))}" if cell.detects else ""


def _counts(title: str, rows: Sequence[Row]) -> Section:
    """Return the number of mutants that each tool detects with any of its detectors."""
    totals: Counter[str] = Counter()
    detects: Counter[str] = Counter()
    for row in rows:
        tools = {BY_DETECTOR[cell.detector].name for cell in row.cells if cell.detector in BY_DETECTOR}
        totals.update(tools)
        detects.update({BY_DETECTOR[c.detector].name for c in row.cells if c.detects and c.detector in BY_DETECTOR})
    numbers = [_number(rows, LEVELS[:last]) for last in (1, 2, 3)]
    words = (
        f"Vectors detect {numbers[2]} mutants of the reference: {numbers[0]} at observability level `wire` "
        f"(messages alone), {numbers[1]} at `effects` (also writes), the others at `state`.",
    )
    there = [tool for tool in TOOLS.values() if totals[tool.name]]
    cells = tuple((tool.name, tool.does, str(totals[tool.name]), str(detects[tool.name])) for tool in there)
    return Section(title, words, ("tool", "method", "mutants", "detects"), cells)


def _number(rows: Iterable[Row], detectors: Iterable[str]) -> int:
    return sum(any((cell := row.by(detector)) is not None and cell.detects for detector in detectors) for row in rows)


def _mutants(rows: Iterable[Row]) -> Section:
    heads = ("mutant", "breaks", "fault", "detected by", "first detection", "named first")
    return Section("All mutants", (), heads, tuple(map(_cells, rows)))


def _cells(row: Row) -> tuple[str, ...]:
    detecting = [cell for cell in row.cells if cell.detects and cell.detector not in (NAMED, UNKNOWN)]
    detectors = ", ".join(dict.fromkeys(cell.detector for cell in detecting))
    named = row.by(NAMED)
    return (
        row.name,
        code(row.breaks[0] if row.breaks else ""),
        row.change,
        detectors or ("undetectable" if row.reason else "**nothing**" if row.cells else "not listed"),
        ": ".join(filter(None, (detecting[0].where, detecting[0].what))) if detecting else row.reason,
        codes(named.names[:_NAMES_SHOWN]) if named is not None else "",
    )


def _machine_made(rows: Sequence[Row]) -> Iterator[Section]:
    """Yield the numbers of detected machine-made mutants, and those that nothing detects."""
    raised = sum(any(cell.what.startswith(("raises ", "hangs: ")) for cell in detections(row)[:1]) for row in rows)
    counts = _counts("Machine-made mutants", rows)
    words = (
        f"{len(rows)} changes by Cosmic Ray in the protocol's modules, drawn at random; each runs up to the first tool "
        f"that detects it, and undetectable ones do not count. Detected: {share(rows):.1%} (required: "
        f"{MACHINE_TARGET:.0%}). {raised} of these detections are an exception or a hang, not a failed check.",
    )
    yield counts._replace(words=words)
    left = [row for row in rows if not detections(row)]
    if left:
        cells = tuple((row.name, code(row.change), row.reason or "undetected") for row in left)
        yield Section("Machine-made mutants that no tool detects", (), ("where", "change", "verdict"), cells)


# ---------------------------------------------------------------------------------------------------------
# Named rules.


def is_held_out(name: str) -> bool:
    """True for the half of the mutants that are not used to choose a ranking of rules."""
    return bool(sha256(f"half\0{name}".encode()).digest()[0] % 2)


def _naming(rows: Sequence[Row]) -> Iterator[Section]:
    """Yield the share of mutants whose first failure names the broken rule."""
    words = (
        "All vectors ran on each mutant behind its adapter, in the order of `conformance run`, and the first "
        f"{ATTRIBUTED_MAX} failures were attributed; the table counts the rules that the first failure names.",
        f"*{NAMED}*: failures are compared with the catalogue of mutants, including this mutant.",
        f"*{UNKNOWN}*: without the mutant in the catalogue, and without those that change the same text.",
        "*machine*: machine-made; the broken rules are those that the reference cites at or around the changed line.",
        "*foreign*: bugs of other implementations of Raft.",
        "Rankings are chosen by the training half alone.",
    )
    cells = tuple(
        (kind, half, str(len(named)), *(f"{number} ({number / len(named):.0%})" for number in score(named)))
        for (kind, half), named in _named(rows).items()
    )
    heads = ("mutants", "half", "with a failure", "its rule named first", "a broken rule first", "its rule among three")
    if cells:
        yield Section("Rules named by the first failure", words, heads, cells)


_Named = tuple[tuple[str, ...], tuple[str, ...]]
"""Rules that a mutant breaks, and rules that its first failure names."""


def _named(rows: Iterable[Row]) -> Mapping[tuple[str, str], list[_Named]]:
    """Return the named rules by kind and half. Foreign bugs are held out; changes that break no rule are omitted."""
    named: dict[tuple[str, str], list[_Named]] = {}
    for row in rows:
        for detector in (NAMED, UNKNOWN):
            cell = row.by(detector)
            if cell is not None and cell.detects and row.breaks:
                half = "held out" if row.kind == "foreign" or is_held_out(row.name) else "training"
                kind = detector if row.kind == "seeded" else row.kind
                named.setdefault((kind, half), []).append((row.breaks, cell.names))
    return dict(sorted(named.items()))


def score(named: Sequence[_Named]) -> tuple[int, int, int]:
    """Return how often the main rule is named first, a broken rule is named first, and the main rule is among three."""
    return (
        sum(names[:1] == breaks[:1] for breaks, names in named),
        sum(bool(names) and names[0] in breaks for breaks, names in named),
        sum(breaks[0] in names[:_NAMES_SHOWN] for breaks, names in named),
    )
