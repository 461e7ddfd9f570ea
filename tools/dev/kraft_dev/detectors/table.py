"""Each check and the broken rule that it detects: the table, and what is wrong with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from kraft_dev.detectors.checks import Check, Layer
from kraft_dev.detectors.evidence import Aside, Blind, Detected, Evidence
from kraft_dev.detectors.lies import Lie
from kraft_dev.detectors.observability import MutantRow, mutants_section
from kraft_dev.markdown import code, table
from kraft_dev.results import Measured, origin
from kraft_spec.models import CHECKS
from kraft_spec.models.check import ModelCheck
from kraft_spec.mutants import Catalogue, Covered, Schedule


@dataclass(frozen=True, slots=True)
class DetectorRow:
    """A check.

    Attributes:
        check: Which.
        detects: Mutants, or slices in which a rule is broken or switched off, that it alone or first detects.
        how: Of the first of them.
        reason: Why it needs none.
        problem: What is wrong; empty if nothing is.
    """

    check: Check
    detects: tuple[str, ...]
    how: str
    reason: str
    problem: str


def check_rows(
    checks: Sequence[Check],
    catalogue: Catalogue,
    evidence: Evidence,
    models: Sequence[ModelCheck] = CHECKS,
) -> tuple[DetectorRow, ...]:
    """The table of checks; evidence for what is no check, or of what is no mutant, has a row with a problem."""
    known = {(check.layer, check.name) for check in checks}
    asides: dict[tuple[Layer, str], Aside] = {(aside.layer, aside.check): aside for aside in evidence.aside}
    names = {mutant.name for mutant in catalogue.mutants}
    found = [_row(check, tuple(_found(check, catalogue, evidence, models)), asides) for check in checks]
    recorded: tuple[Detected | Aside, ...] = (*evidence.detected, *evidence.aside)
    stale = [one for one in recorded if (one.layer, one.check) not in known or not _is_of(one, names)]
    for one in stale:
        mutant = one.mutant if isinstance(one, Detected) else ""
        problem = f"evidence of mutant {mutant or 'none'} for a check or a mutant that does not exist"
        found.append(DetectorRow(Check(one.layer, one.check, ""), (mutant,) if mutant else (), "", "", problem))
    return tuple(found)


def _is_of(recorded: Detected | Aside, mutants: set[str]) -> bool:
    return isinstance(recorded, Aside) or recorded.mutant in mutants


def _row(check: Check, found: tuple[tuple[str, str], ...], asides: Mapping[tuple[Layer, str], Aside]) -> DetectorRow:
    aside = asides.get((check.layer, check.name))
    reason = "" if aside is None else aside.reason
    problem = "" if found or reason else "no mutant and no switched-off rule that it detects"
    how = found[0][1] if found else ""
    return DetectorRow(check, tuple(dict.fromkeys(name for name, _ in found)), how, reason, problem)


def _found(
    check: Check, catalogue: Catalogue, evidence: Evidence, models: Sequence[ModelCheck]
) -> Iterator[tuple[str, str]]:
    """What a check detects, and how that is known."""
    if check.layer == "model":
        for model in models:
            if model.violates == check.name:
                yield model.name, "the slice of this name must violate it"
        for mutant in catalogue.mutants:
            stated = mutant.evidence
            if stated is not None and not isinstance(stated, Covered | Schedule) and stated.property == check.name:
                yield mutant.name, f"by {type(stated).__name__.lower()} search"
    for one in evidence.detected:
        if (one.layer, one.check) == (check.layer, check.name):
            yield one.mutant, f"{one.run}, beside {', '.join(one.beside)}" if one.beside else str(one.run)
    if check.layer == "trace line":
        for mutant in catalogue.mutants:
            if isinstance(mutant.evidence, Schedule) and mutant.evidence.property == check.name:
                schedule = mutant.evidence
                yield mutant.name, f"TLC held to {schedule.scenario or f'a run of {schedule.workload}'}"


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field of a trace.

    Attributes:
        field: Which.
        lie: What it was made to say, and who saw it; None if no run has the field.
        reason: Why not every lie is seen.
        problem: What is wrong; empty if nothing is.
    """

    field: str
    lie: Lie | None
    reason: str
    problem: str


def field_rows(
    wanted: Sequence[str],
    lies: Mapping[str, Lie],
    blind: Sequence[Blind],
) -> tuple[FieldRow, ...]:
    """The table of fields."""
    reasons = {one.field: one.reason for one in blind}
    found: list[FieldRow] = []
    for field in wanted:
        lie, reason = lies.get(field), reasons.pop(field, "")
        found.append(FieldRow(field, lie, reason, _problem(lie, reason)))
    found += [FieldRow(field, None, reason, "is listed as blind, and is no field") for field, reason in reasons.items()]
    return tuple(found)


def _problem(lie: Lie | None, reason: str) -> str:
    if lie is None:
        return "" if reason else "no run has it, so that it cannot lie"
    if not lie.seen_by and not reason:
        return "nobody sees that it lies"
    if lie.seen_by and lie.unseen and not reason:
        return f"nobody sees {lie.unseen} nearer lies of it"
    if lie.seen_by and not lie.unseen and reason:
        return "is listed as blind, and its first lie is seen"
    return ""


class Fields(msgspec.Struct, frozen=True):
    """The recorded result: every field of a trace, and who sees it lie."""

    measured: Measured | None
    rows: tuple[FieldRow, ...]


def markdown(checks: Sequence[DetectorRow], mutants: Sequence[MutantRow], fields: Fields | None) -> str:
    """The whole page."""
    lines = [
        "# Detectors: no check is there for nothing",
        "",
        "Each check stands with the mutants, or slices with a rule switched off or broken, that it detects first or "
        "alone; the last column is about the first of them.",
        "The models' mutants are judged by TLC (`python -m kraft_dev load-bearing all`), the others by the recorded "
        "runs (`python -m kraft_dev detectors --verify`).",
    ]
    for layer in dict.fromkeys(row.check.layer for row in checks):
        of_layer = [row for row in checks if row.check.layer == layer]
        heads = ("check", "kind", "detects", "how the first is known")
        lines += ["", f"## {layer}", "", *table(heads, map(_check_cells, of_layer))]
    lines += ["", *mutants_section(mutants)]
    lines += [
        "",
        "## Fields of a trace",
        "",
        "A run of the reference whose lines are right, except that this field once says something else. "
        "What sees it names the field itself, or the other field of the same line that disagrees with it; "
        "of the header, the first line that does.",
    ]
    if fields is not None:
        lines += [
            origin("fields", fields.measured),
            "",
            *table(("field", "said", "lie", "seen by", "what it names"), map(_field_cells, fields.rows)),
        ]
    return "\n".join(lines) + "\n"


def _check_cells(row: DetectorRow) -> tuple[str, ...]:
    detects = row.problem or ", ".join(row.detects) or f"none: {row.reason}"
    return row.check.name, row.check.kind, detects, row.how


def _field_cells(row: FieldRow) -> tuple[str, ...]:
    lie = row.lie or Lie(row.field, "", "", "")
    named = ", ".join(map(code, lie.names))
    remarks = "; ".join(filter(None, (named, row.problem, row.reason)))
    return code(row.field), code(lie.said), code(lie.says), lie.seen_by or "nobody", remarks
