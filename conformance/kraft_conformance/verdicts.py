"""How the verdict on a trace is shown."""

from pathlib import Path

from rich.console import Console
from rich.padding import Padding

from kraft_conformance.console import shown, table
from kraft_conformance.exit_codes import ExitCode
from kraft_traces.check import Rejection, Verdict, VerdictKind
from kraft_traces.partitions.checker import PartitionVerdict

RULES_SHOWN = 6
"""How many rules of an action are shown: the most specific ones stand first."""

EXIT_CODES = {
    VerdictKind.ACCEPTED: ExitCode.CONFORMANT,
    VerdictKind.REJECTED: ExitCode.VIOLATION,
    VerdictKind.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
}


def exit_code(verdicts: list[Verdict]) -> ExitCode:
    """The exit code for several traces: a violation outweighs what is inconclusive."""
    codes = {EXIT_CODES[verdict.kind] for verdict in verdicts}
    for code in (ExitCode.VIOLATION, ExitCode.INCONCLUSIVE):
        if code in codes:
            return code
    return ExitCode.CONFORMANT


def show_rejection(console: Console, rejection: Rejection, prefix: Path | None = None) -> None:
    """Where, what, by which rules; then the fields or the conjunct that disagree."""
    console.print(shown(rejection.headline()), style="red", soft_wrap=True)
    facts: list[tuple[str, str]] = []
    if rejection.role is not None:
        facts.append(("role before", rejection.role))
    if rejection.explained_by:
        facts.append(("right without", ", ".join(rejection.explained_by)))
    if rejection.rules:
        more = len(rejection.rules) - RULES_SHOWN
        first = ", ".join(rejection.rules[:RULES_SHOWN])
        facts.append(("rules", f"{first} and {more} more" if more > 0 else first))
    if rejection.conjunct is not None:
        conjunct = rejection.conjunct
        facts.append(("false", conjunct.text))
        facts.append(("stands in", f"{conjunct.module}.tla:{conjunct.line}"))
        if conjunct.operands:
            facts.append(("values", " and ".join(conjunct.operands)))
    if rejection.properties:
        facts.append(("violates", ", ".join(rejection.properties)))
    if prefix is not None:
        facts.append(("prefix", str(prefix)))
    width = max((len(name) for name, _ in facts), default=0)
    for name, text in facts:
        console.print(shown(f"  {name:<{width}}  {text}"), soft_wrap=True)
    if rejection.differences:
        drawn = table("", "field", "expected (model)", "actual (trace)")
        for difference in rejection.differences:
            drawn.add_row(shown(difference.field), shown(difference.expected), shown(difference.actual))
        console.print(Padding(drawn, (0, 0, 0, 2)))


def summary(verdict: Verdict) -> str:
    """One line about a trace."""
    text = f"{verdict.source}: {verdict.kind}, {verdict.events} events"
    if verdict.candidates_max > 1:
        text += f", up to {verdict.candidates_max} candidate states"
    if verdict.switched_off:
        text += f", without {', '.join(verdict.switched_off)}"
    if verdict.open_answers:
        text += f", with {', '.join(f'{one.decision} {one.answer}' for one in verdict.open_answers)}"
    if verdict.other_model:
        text += ", written for another model"
    if verdict.reason:
        text += f": {verdict.reason}"
    return text


def partition_summary(verdict: PartitionVerdict) -> str:
    """One line about a trace of partition reassignment."""
    text = f"{verdict.source}: {verdict.kind}, {verdict.events} events"
    if verdict.switched_off:
        text += f", without {', '.join(verdict.switched_off)}"
    if verdict.given_up:
        text += f", violates what its profile does not promise: {', '.join(verdict.given_up)}"
    if verdict.other_model:
        text += ", written for another model"
    return text
