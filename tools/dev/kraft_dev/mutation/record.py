"""The recorded result of `python -m kraft_dev mutants`, and its page of the site."""

from collections import Counter
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from kraft_dev.markdown import code, table
from kraft_dev.mutation.results import Results
from kraft_dev.mutation.sighting import Attack, Outcome
from kraft_dev.mutation.survivors import KILL_TARGET
from kraft_dev.mutation.tools import ALL_TOOLS, UNIT_TESTS
from kraft_dev.results import Measured, measured_now, origin, result_bytes


class SeededRow(Struct, frozen=True):
    """A seeded mutant, and what came of it."""

    name: str
    rules: tuple[str, ...]
    bug: str
    attacks: tuple[Attack, ...]

    @property
    def outcome(self) -> Outcome:
        """What the tools say."""
        return Outcome(self.name, self.attacks)


class MachineRow(Struct, frozen=True):
    """A machine-made mutant, and what came of it."""

    file: str
    line: int
    before: str
    after: str
    attacks: tuple[Attack, ...]
    equivalent: str
    """Of a survivor: why nothing can notice it."""
    missing: str
    """Of a survivor: which check is missing."""

    @property
    def first(self) -> Attack | None:
        """The first kill."""
        return Outcome("", self.attacks).first


class MachineRows(Struct, frozen=True):
    """A sample of machine-made mutants."""

    seed: int
    population: int
    mutants: tuple[MachineRow, ...]
    raised: int
    equivalent: int
    missing: int
    kill_rate: float
    kill_rate_without_unit_tests: float


class Recorded(Struct, frozen=True):
    """The whole result."""

    measured: Measured | None
    command: str
    baseline: Outcome
    seeded: tuple[SeededRow, ...]
    machine: MachineRows | None


def recorded_result(results: Results) -> bytes:
    """The file of a result, measured now."""
    document = {"measured": msgspec.to_builtins(measured_now("mutants")), **results.as_dict()}
    return result_bytes(document)


def markdown(recorded: Recorded) -> str:
    """The whole page."""
    tools = [attack.tool for attack in recorded.baseline.attacks]
    lines = [
        "# Which tool kills which mutant",
        "",
        origin("mutants", recorded.measured),
        f"By `{recorded.command}`; [mutants](../mutants.md) says what the columns mean.",
        "",
        "## The tools on the unbroken reference",
        "",
        *table(
            ("tool", "what it does", "looks at", "seconds"),
            (
                (attack.tool, ALL_TOOLS[attack.tool].does, _amount(attack), f"{attack.seconds:.1f}")
                for attack in recorded.baseline.attacks
            ),
        ),
    ]
    if recorded.seeded:
        lines += ["", *_seeded(recorded.seeded, [tool for tool in tools if tool != UNIT_TESTS.name])]
    if recorded.machine is not None:
        lines += ["", *_machine_made(recorded.machine)]
    return "\n".join(lines) + "\n"


def _seeded(rows: tuple[SeededRow, ...], tools: list[str]) -> Iterator[str]:
    outcomes = [row.outcome for row in rows]
    kills = [[attack.tool for attack in outcome.attacks if attack.killed] for outcome in outcomes]
    every, first = Counter(tool for by in kills for tool in by), Counter(by[0] for by in kills if by)
    alone = Counter(by[0] for by in kills if len(by) == 1)
    yield f"## Seeded mutants: {sum(map(bool, kills))} of {len(rows)} killed"
    yield ""
    yield from table(
        ("tool", "kills", "kills first", "kills alone"),
        ((tool, str(every[tool]), str(first[tool]), str(alone[tool])) for tool in tools),
    )
    yield ""
    yield "How far each tool came until it killed the mutant, and how long it took; a dash: it did not kill it."
    yield ""
    yield from table(
        ("mutant", "breaks", *tools),
        (
            (row.name, f"`{row.rules[0]}`", *(_kill(outcome, tool) for tool in tools))
            for row, outcome in zip(rows, outcomes, strict=True)
        ),
    )
    yield ""
    yield "What the cheapest tool that kills it says."
    yield ""
    yield from table(
        ("mutant", "bug", "tool", "finds", "where"),
        ((row.name, row.bug, *_said(outcome.first)) for row, outcome in zip(rows, outcomes, strict=True)),
    )


def _machine_made(machine: MachineRows) -> Iterator[str]:
    yield f"## Machine-made mutants: {machine.kill_rate:.1%} killed"
    yield ""
    yield (
        f"{len(machine.mutants)} mutants drawn with seed {machine.seed} from {machine.population} changes that Cosmic "
        "Ray can make in the protocol's modules; each met the tools from the cheapest to the dearest, up to the first "
        "kill."
    )
    yield ""
    killers = Counter(row.first.tool for row in machine.mutants if row.first)
    yield from table(
        ("", "mutants"),
        (
            *((f"killed by {tool}", str(count)) for tool, count in killers.most_common()),
            ("of the kills of the suite's tools: an exception or a hang, not a check", str(machine.raised)),
            ("survivors, equivalent", str(machine.equivalent)),
            ("survivors, a check is missing", str(machine.missing)),
            ("kill rate without the unit tests", f"{machine.kill_rate_without_unit_tests:.1%}"),
            (f"kill rate (target {KILL_TARGET:.0%})", f"{machine.kill_rate:.1%}"),
        ),
    )
    alone = [(row, row.first.what) for row in machine.mutants if row.first and row.first.tool == UNIT_TESTS.name]
    if alone:
        yield ""
        yield "What only the unit tests see, which do not help an implementer: a check is missing."
        yield ""
        yield from table(("where", "before", "after", "test"), ((*_change(row), what) for row, what in alone))
    survivors = [row for row in machine.mutants if not row.first]
    if survivors:
        yield ""
        yield "The survivors. The rate leaves out those that are equivalent."
        yield ""
        yield from table(("where", "before", "after", "verdict"), ((*_change(row), _verdict(row)) for row in survivors))


def _change(row: MachineRow) -> tuple[str, str, str]:
    return f"{row.file}:{row.line}", code(row.before), code(row.after) or "deleted"


def _verdict(row: MachineRow) -> str:
    if row.equivalent:
        return f"equivalent: {row.equivalent}"
    return f"missing check: {row.missing or 'nobody has looked at it'}"


def _kill(outcome: Outcome, tool: str) -> str:
    attack = outcome.by(tool)
    if attack is None or attack.skipped:
        return ""
    return f"{_amount(attack)}, {attack.seconds:.1f} s" if attack.killed else "-"


def _amount(attack: Attack) -> str:
    return f"skipped: {attack.skipped}" if attack.skipped else f"{attack.amount:,} {ALL_TOOLS[attack.tool].unit}"


def _said(first: Attack | None) -> tuple[str, str, str]:
    return ("none", "**survives**", "") if first is None else (first.tool, first.what, first.where)
