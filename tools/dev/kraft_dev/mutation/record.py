"""The tables of `docs/mutants-table.md`, written by `python -m kraft_dev mutants --record`."""

from collections import Counter
from collections.abc import Iterable, Iterator

from kraft_dev.grading.table import load_table
from kraft_dev.mutation.machine_made import MachineMade
from kraft_dev.mutation.results import MachineMadeOutcomes, Results
from kraft_dev.mutation.sighting import Attack, Outcome
from kraft_dev.mutation.survivors import KILL_TARGET
from kraft_dev.mutation.tools import ALL_TOOLS, UNIT_TESTS


def markdown(results: Results) -> str:
    """The whole file."""
    lines = [
        "# Which tool kills which mutant",
        "",
        f"Written by `{results.command}`; [mutants](mutants.md) says what the columns mean.",
        "",
        "## The tools on the unbroken reference",
        "",
        *_table(
            ("tool", "what it does", "looks at", "seconds"),
            (
                (attack.tool, ALL_TOOLS[attack.tool].does, _amount(attack), f"{attack.seconds:.1f}")
                for attack in results.baseline.attacks
            ),
        ),
    ]
    if results.mutants:
        lines += ["", *_seeded(results)]
    if results.machine is not None:
        lines += ["", *_machine_made(results.machine)]
    return "\n".join(lines) + "\n"


def _seeded(results: Results) -> Iterator[str]:
    tools = [attack.tool for attack in results.baseline.attacks if attack.tool != UNIT_TESTS.name]
    levels = {row.mutant: row.level or "" for row in load_table().seeded}
    killed = len(results.mutants) - len(results.unkilled)
    yield f"## Seeded mutants: {killed} of {len(results.mutants)} killed"
    yield ""
    first = Counter(outcome.first.tool for outcome in results.outcomes if outcome.first)
    alone = Counter(
        outcome.first.tool
        for outcome in results.outcomes
        if outcome.first and sum(attack.killed for attack in outcome.attacks) == 1
    )
    every = Counter(attack.tool for outcome in results.outcomes for attack in outcome.attacks if attack.killed)
    yield from _table(
        ("tool", "kills", "kills first", "kills alone"),
        ((tool, str(every[tool]), str(first[tool]), str(alone[tool])) for tool in tools),
    )
    yield ""
    yield (
        "How far each tool came until it killed the mutant, and how long it took; a dash: it did not kill it. "
        "Shown at: the lowest observability at which a conformance vector sees it, by the table of the grading."
    )
    yield ""
    yield from _table(
        ("mutant", "breaks", "shown at", *tools),
        (
            (mutant.name, mutant.rules[0], levels.get(mutant.name, ""), *(_kill(outcome, tool) for tool in tools))
            for mutant, outcome in zip(results.mutants, results.outcomes, strict=True)
        ),
    )
    yield ""
    yield "What the cheapest tool that kills it says."
    yield ""
    yield from _table(
        ("mutant", "bug", "tool", "finds", "where"),
        (
            (mutant.name, mutant.bug, *_said(outcome.first))
            for mutant, outcome in zip(results.mutants, results.outcomes, strict=True)
        ),
    )


def _machine_made(machine: MachineMadeOutcomes) -> Iterator[str]:
    rate = machine.rate
    yield f"## Machine-made mutants: {rate.of_all:.1%} killed"
    yield ""
    yield (
        f"{len(machine.made)} mutants drawn with seed {machine.seed} from {machine.population} changes that Cosmic Ray "
        "can make in the protocol's modules; each met the tools from the cheapest to the dearest, up to the first kill."
    )
    yield ""
    killers = Counter(outcome.first.tool for outcome in machine.outcomes if outcome.first)
    rows = [(f"killed by {tool}", str(count)) for tool, count in killers.most_common()]
    yield from _table(
        ("", "mutants"),
        (
            *rows,
            ("of the kills of the suite's tools: an exception or a hang, not a check", str(rate.raised)),
            ("survivors, equivalent", str(rate.equivalent)),
            ("survivors, a check is missing", str(rate.missing)),
            ("kill rate without the unit tests", f"{rate.of_tools:.1%}"),
            (f"kill rate (target {KILL_TARGET:.0%})", f"{rate.of_all:.1%}"),
        ),
    )
    alone = [
        (made, outcome.first)
        for made, outcome in zip(machine.made, machine.outcomes, strict=True)
        if outcome.first is not None and outcome.first.tool == UNIT_TESTS.name
    ]
    if alone:
        yield ""
        yield "What only the unit tests see, which do not help an implementer: a check is missing."
        yield ""
        yield from _table(
            ("where", "before", "after", "test"),
            ((*_change(made), first.what) for made, first in alone),
        )
    if machine.survivors:
        yield ""
        yield "The survivors. The rate leaves out those that are equivalent."
        yield ""
        yield from _table(
            ("where", "before", "after", "verdict"),
            (
                (
                    *_change(made),
                    _verdict(entry.equivalent, entry.missing) if entry else "not looked at: counts as a missing check",
                )
                for made, entry in machine.survivors
            ),
        )


def _change(made: MachineMade) -> tuple[str, str, str]:
    after = f"`{made.key.after}`" if made.key.after else "deleted"
    return f"{made.key.file}:{made.line}", f"`{made.key.before}`", after


def _verdict(equivalent: str, missing: str) -> str:
    return f"equivalent: {equivalent}" if equivalent else f"missing check: {missing}"


def _kill(outcome: Outcome, tool: str) -> str:
    attack = outcome.by(tool)
    if attack is None or attack.skipped:
        return ""
    return f"{_amount(attack)}, {attack.seconds:.1f} s" if attack.killed else "-"


def _amount(attack: Attack) -> str:
    return f"skipped: {attack.skipped}" if attack.skipped else f"{attack.amount:,} {ALL_TOOLS[attack.tool].unit}"


def _said(first: Attack | None) -> tuple[str, str, str]:
    return ("none", "**survives**", "") if first is None else (first.tool, first.what, first.where)


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |"
