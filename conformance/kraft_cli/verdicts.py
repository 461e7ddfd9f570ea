"""Display of the verdict on a trace."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.console import Console
from rich.padding import Padding

from kraft_conformance.console import printable, say, table
from kraft_conformance.exit_codes import ExitCode
from kraft_spec.rules import PROPERTIES, load_registry
from kraft_traces.check import Extent, Rejection, ShownCount, Verdict, VerdictKind
from kraft_traces.check.fast_path import Way
from kraft_traces.partitions.checker import PartitionVerdict

_CELL_MAX = 600
"""Characters of a value in the table of differences."""

RULES_SHOWN = 3
"""Maximum number of displayed related rules; the most specific ones come first."""

EXIT_CODES = {
    VerdictKind.ACCEPTED: ExitCode.CONFORMANT,
    VerdictKind.REJECTED: ExitCode.VIOLATION,
    VerdictKind.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
}


def show_rejection(console: Console, rejection: Rejection, prefix: Path | None = None) -> None:
    """Show the place, the rule that explains the difference, related rules, and the fields that differ."""
    say(rejection.headline(), "red", console)
    facts: list[tuple[str, str]] = []
    if rejection.role is not None:
        facts.append(("role before", rejection.role))
    explained_by = rejection.explained_by
    if explained_by:
        rule = "rule" if len(explained_by) == 1 else "one of the rules"
        facts.append(("explained by", f"breaking {rule} {', '.join(explained_by)}"))
        facts += [("", load_registry()[rule_id].title) for rule_id in explained_by]
    related = [rule_id for rule_id in rejection.rules if rule_id not in explained_by]
    if related:
        more = len(related) - RULES_SHOWN
        name = "related rules" if rejection.is_attributed else "event's rules"
        listed = related[:RULES_SHOWN] + ([f"and {more} more"] if more > 0 else [])
        facts += zip([name, *[""] * (len(listed) - 1)], listed, strict=True)
    if rejection.conjunct is not None:
        conjunct = rejection.conjunct
        facts.append(("false guard", conjunct.text))
        facts.append(("defined in", f"{conjunct.module}.tla:{conjunct.line}"))
        if conjunct.operands:
            facts.append(("its values", " and ".join(conjunct.operands)))
    for name in rejection.properties:
        facts.append(("violates", name))
        if name in PROPERTIES:
            facts.append(("", PROPERTIES[name].description))
    if rejection.note:
        facts.append(("note", rejection.note))
    if prefix is not None:
        facts.append(("prefix file", str(prefix)))
    if rejection.rules:
        facts.append(("read the rule", f"kraft-spec rules {rejection.rules[0]}"))
    width = max((len(name) for name, _ in facts), default=0)
    for name, text in facts:
        say(f"  {name:<{width}}  {text}", console=console)
    if rejection.differences:
        drawn = table("", "field", "expected (model)", "actual (trace)")
        for difference in rejection.differences:
            cells = (difference.field, difference.expected, difference.actual)
            drawn.add_row(*(printable(cell, _CELL_MAX) for cell in cells))
        console.print(Padding(drawn, (0, 0, 0, 2)))


def _count_events(verdict: Verdict | PartitionVerdict) -> str:
    """Return the kind of the verdict and the number of events that the model allows."""
    if verdict.kind is VerdictKind.ACCEPTED:
        return f"{verdict.kind}, {verdict.events} events"
    return f"{verdict.kind} after {verdict.events} accepted events"


def _describe_extent(verdict: Verdict | PartitionVerdict) -> str:
    """Return the extent of the comparison; empty unless the trace is accepted."""
    if verdict.kind is not VerdictKind.ACCEPTED or verdict.compared.whole is None:
        return ""
    return f", compared: {verdict.compared.whole}"


_ABSENT_SHOWN = 3
"""Maximum number of properties that a line names."""


def shown_in_part(verdict: Verdict | PartitionVerdict) -> tuple[str, ...]:
    """Return lines about a trace that omits fields: the properties that it judges; none for other traces."""
    compared = verdict.compared
    if verdict.rejection is not None or compared.whole in (None, Extent.COMPLETE):
        return ()
    properties = {name: counted for name, counted in compared.properties.items() if counted.events}
    judged = [100 * counted.shown // counted.events for counted in properties.values() if counted.shown]
    extent = f", each on {min(judged)} % of its events or more" if judged else ""
    lines = [f"  judged: {len(judged)} of {len(properties)} properties{extent}"]
    absent = [name for name, counted in properties.items() if not counted.shown]
    if judged and absent:
        more = f" and {len(absent) - _ABSENT_SHOWN} more" if len(absent) > _ABSENT_SHOWN else ""
        lines.append(f"  not judged, for want of fields: {', '.join(absent[:_ABSENT_SHOWN])}{more}")
    return tuple(lines)


def judged_lines(verdict: Verdict | PartitionVerdict) -> tuple[str, ...]:
    """Return lines about properties that are not judged in full; none for a rejected trace."""
    if isinstance(verdict, PartitionVerdict) or verdict.rejection is not None:
        return ()
    return verdict.judged.lines()


_LACKING_SHOWN = 3
"""Maximum number of missing fields that the message names."""


def lacking_text(requirement: str, fields: Mapping[str, ShownCount]) -> str:
    """Return the message about required fields that a trace lacks."""
    if fields.keys() == {requirement}:
        return f"--require {requirement}: not judged on traces of this kind"
    listed = [f"{name} in {count.shown} of {count.events}" for name, count in list(fields.items())[:_LACKING_SHOWN]]
    more = [f"{len(fields) - len(listed)} fields more"] if len(fields) > len(listed) else []
    return f"--require {requirement}: too few events show {', '.join([*listed, *more])}"


def summary(verdict: Verdict) -> str:
    """Return a line about a trace."""
    text = f"{verdict.source}: {_count_events(verdict)}{_describe_extent(verdict)}"
    if verdict.candidates_max > 1:
        text += f", up to {verdict.candidates_max} candidate states"
    if verdict.switched_off:
        text += f", checked without {', '.join(verdict.switched_off)}"
    if verdict.open_answers:
        text += f", with {', '.join(f'{answer.decision} {answer.answer}' for answer in verdict.open_answers)}"
    if verdict.other_model:
        text += ", written for another model"
    if verdict.reason:
        text += f": {verdict.reason}"
    return text


def way_text(verdicts: Iterable[Verdict], way: Way) -> str:
    """Return the checker of the events: the compiled model, with TLC's sample of them, or TLC alone."""
    counted = [(verdict.events, verdict.compiled, verdict.both) for verdict in verdicts]
    events, compiled, both = (sum(column) for column in zip(*counted, strict=True))
    if not compiled or way.sample is None:
        return "model: interpreted by TLC"
    sampled = "each" if way.sample.every == 1 else f"one in {way.sample.every:,}"
    agrees = f"and agrees on {both:,}" if both else "but has checked none yet"
    return f"model: compiled for {compiled:,} of {events:,} events; TLC also checks {sampled}, {agrees}"


def partition_summary(verdict: PartitionVerdict) -> str:
    """Return a line about a trace of partition reassignment."""
    text = f"{verdict.source}: {_count_events(verdict)}{_describe_extent(verdict)}"
    if verdict.switched_off:
        text += f", checked without {', '.join(verdict.switched_off)}"
    if verdict.given_up:
        text += f", violates properties that its profile does not promise: {', '.join(verdict.given_up)}"
    if verdict.other_model:
        text += ", written for another model"
    return text
