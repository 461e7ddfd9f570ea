"""All rules at a glance: what there is about each."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from tools.site.facts import RuleFacts
from tools.site.markup import prose, sentence

from kraft_dev.markdown import codes, table
from kraft_spec.rules import Registry

PAGE = "rules/index.md"

NONE = "-"
"""Nothing, and nothing is asked for."""
REASON = "reason"
"""Nothing, and a reason is stated on the rule's page."""

WITHOUT_IT = "breaks"
COUNTEREXAMPLE = "counterexample"
"""The column of counterexamples, and what it counts."""

COLUMNS: tuple[tuple[str, Callable[[RuleFacts], int], Callable[[RuleFacts], str]], ...] = (
    ("Python", lambda one: len(one.implementation), lambda one: one.implementation_reason),
    ("TLA+", lambda one: len(one.model), lambda one: one.model_reason),
    ("proof", lambda one: len(one.theorems) + len(one.theory_mutants), lambda one: ""),
    ("scenario", lambda one: len(one.scenarios), lambda one: ""),
    ("vector", lambda one: len(one.vectors), lambda one: one.vector_reason),
    ("mutant", lambda one: len(one.mutants), lambda one: ""),
    (WITHOUT_IT, lambda one: one.found, lambda one: _why_no_counterexample(one)),
)
"""Head, how many there are, and why there is none."""


def coverage_page(facts: Mapping[str, RuleFacts], registry: Registry) -> str:
    """The table of all rules, with counts at its head and the reasons at its end."""
    every = tuple(facts.values())
    lines = [
        "# Every rule",
        "",
        f"{len(every)} rules, each with what names it, decides it, tests it and breaks it.",
        "A rule's page shows all of that; [Rules](../rules.md) says how the catalogue is made, "
        "and [What the KIPs do not say](open-points.md) where the texts leave something open.",
        "",
        ":::{container} glance",
        *(f"- [{group}](#{group})" for group in registry.groups),
        ":::",
        "",
        "## Counts",
        "",
        ":::{container} coverage",
        "",
        *_counts(every),
        "",
        ":::",
        "",
        "Above are numbers of rules; below, a number says how many there are for one rule.",
        f"*{REASON}* says that there is none and why is stated, on the rule's page and under "
        f"[Why there is none](#why-there-is-none); {NONE} that there is none, and none is asked for.",
        "A rule with the level MUST that lacks Python, TLA+ or a vector without a stated reason stops the build of "
        "this site.",
        f"*{WITHOUT_IT}* counts the counterexamples that are found with the rule taken out of the model, "
        "and the slices of the model that leave it out and must be found violated.",
        "*turned down* is what a text says and this specification does otherwise; the rule's page says what holds.",
        "The heads of the tables below sort them.",
        "",
    ]
    for group in registry.groups:
        in_group = [facts[rule.id] for rule in registry.group(group)]
        lines += [f"## {group}", "", ":::{container} coverage", ""]
        lines += [*table(("rule", "level", "safety", *(head for head, _, _ in COLUMNS)), map(_row, in_group)), ""]
        lines += [":::", ""]
    return "\n".join([*lines, *_reasons(every)]) + "\n"


def _counts(every: Sequence[RuleFacts]) -> list[str]:
    """A table: of the rules of each level, how many have what."""
    kinds: list[tuple[str, list[RuleFacts]]] = [
        (level, [one for one in every if one.rule.level == level and one.rule.is_active])
        for level in ("MUST", "SHOULD", "MAY")
    ]
    kinds.append(("safety rules", [one for one in every if one.rule.safety and one.rule.is_active]))
    kinds.append(("do not hold any more", [one for one in every if not one.rule.is_active]))
    rows = [
        (name, str(len(chosen)), *(_count(chosen, number, reason) for _, number, reason in COLUMNS))
        for name, chosen in kinds
    ]
    return table(("rules", "all", *(head for head, _, _ in COLUMNS)), rows)


def _count(chosen: Iterable[RuleFacts], number: Callable[[RuleFacts], int], reason: Callable[[RuleFacts], str]) -> str:
    """`290`, or `280 + 10 with a reason`."""
    having = sum(1 for one in chosen if number(one))
    excused = sum(1 for one in chosen if not number(one) and reason(one))
    return f"{having} + {excused} {REASON}" if excused else str(having)


def _row(one: RuleFacts) -> tuple[str, ...]:
    rule = one.rule
    level: str = rule.level
    if not rule.is_active or one.turned_down:
        level += f", {'turned down' if rule.is_active else rule.status}"
    cells = [str(number(one) or (REASON if reason(one) else NONE)) for _, number, reason in COLUMNS]
    return (f"`{rule.id}`", level, "safety" if rule.safety else NONE, *cells)


def _why_no_counterexample(one: RuleFacts) -> str:
    """What is said of a safety rule that breaks nothing on its own, or cannot be broken."""
    return next((row.explanation for row in one.counterexamples), "")


def _reasons(every: Sequence[RuleFacts]) -> list[str]:
    """Every stated reason once, with the rules that it is for."""
    lines = ["## Why there is none", ""]
    for head, number, reason in COLUMNS:
        by_reason: dict[str, list[str]] = {}
        for one in every:
            if not number(one) and reason(one):
                by_reason.setdefault(reason(one), []).append(one.rule.id)
        if by_reason:
            lines += [f"### No {COUNTEREXAMPLE if head == WITHOUT_IT else head}", ""]
            lines += [f"- {codes(ids)}: {sentence(prose(why))}" for why, ids in by_reason.items()]
            lines.append("")
    return lines
