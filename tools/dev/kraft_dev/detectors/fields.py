"""Every field of a trace, and what notices when it is altered."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from kraft_dev.detectors.alterations import altered_events
from kraft_dev.detectors.altered_ends import altered_ends, fields_of_ends
from kraft_dev.detectors.evidence import Blind, load_evidence
from kraft_dev.detectors.places import EVENT, declared_fields, shown_field
from kraft_dev.markdown import Section, code
from kraft_dev.results import SCHEMA, Matrix, Row, measured_now, origin


def wanted_fields() -> tuple[str, ...]:
    """Every field of every line type, the header's and the end's with the name of their line before them."""
    return (*map(shown_field, declared_fields(EVENT)), *fields_of_ends())


def altered_fields(on_row: Callable[[Row], None]) -> dict[str, Row]:
    """Alter every field that some run has."""
    return altered_events(declared_fields(EVENT), on_row) | altered_ends(on_row)


def measure_fields(command: str, on_row: Callable[[Row], None]) -> Matrix:
    """The matrix of altered fields."""
    rows = field_rows(wanted_fields(), altered_fields(on_row), load_evidence().blind)
    return Matrix(schema=SCHEMA, name="fields", command=command, measured=measured_now("fields"), rows=rows)


def field_rows(wanted: Sequence[str], altered: Mapping[str, Row], blind: Sequence[Blind]) -> tuple[Row, ...]:
    """A row for each field, and for what is listed as blind and is none; those that no run has have no cell."""
    reasons = {one.field: one.reason for one in blind}
    return tuple(
        msgspec.structs.replace(altered.get(name, Row(name)), reason=reasons.get(name, ""))
        for name in dict.fromkeys((*wanted, *reasons))
    )


def field_problems(rows: Sequence[Row], wanted: Sequence[str]) -> Iterator[str]:
    """What is wrong, in sentences: fields that are altered unnoticed, and reasons that are no more."""
    known = set(wanted)
    for row in rows:
        cell = row.cells[0] if row.cells else None
        if row.name not in known:
            yield f"{row.name}: is listed as blind, and is no field"
        elif cell is None and not row.reason:
            yield f"{row.name}: no run has it, so that it cannot be altered"
        elif cell is not None and cell.detects and not cell.amount and row.reason:
            yield f"{row.name}: is listed as blind, and its first alteration is noticed"
        elif cell is not None and cell.amount and not row.reason:
            yield f"{row.name}: nothing notices {cell.amount} alterations of it"


def fields_section(matrix: Matrix | None) -> Section:
    """The table of fields."""
    words = [
        "A run of the reference whose lines are right, except that this field once says something else. "
        "What notices it names the field itself, or the other field of the same line that disagrees with it; "
        "of the header, the first line that does."
    ]
    words += [] if matrix is None else [origin("fields", matrix.measured)]
    rows = () if matrix is None else tuple(map(_cells, matrix.rows))
    return Section("Fields of a trace", tuple(words), ("field", "alteration", "noticed by", "what it names"), rows)


def _cells(row: Row) -> tuple[str, ...]:
    first = row.first
    named = ", ".join(map(code, first.names)) if first is not None else ""
    by = first.detector if first is not None else "nothing"
    return code(row.name), code(row.change), by, "; ".join(filter(None, (named, row.reason)))
