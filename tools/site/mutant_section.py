"""The mutants of a rule, with what each changes."""

from collections.abc import Sequence

from tools.site.markup import code_block, folded, prose, sentence

from kraft_dev.markdown import codes
from kraft_mutants import Mutant


def mutant_section(mutants: Sequence[Mutant]) -> list[str]:
    """What is broken and how, a heading each."""
    lines = ["## Mutants", ""]
    if not mutants:
        return [*lines, "No seeded mutant breaks it.", ""]
    lines += ["Broken on purpose, and noticed ([which tool kills which](../results/mutants.md)):", ""]
    for mutant in mutants:
        lines += [f"### {mutant.name}", "", sentence(prose(mutant.bug[:1].upper() + mutant.bug[1:])), ""]
        if mutant.extends:
            lines += [f"Beside the edits of {codes(mutant.extends)}.", ""]
        changes: list[str] = []
        for edit in mutant.reference:
            changes += [
                f"In `{edit.file}` of the reference:",
                "",
                *code_block(_difference(edit.old, edit.new), "diff"),
                "",
            ]
        for change in mutant.model:
            changes += [f"In `{change.module}.tla`:", "", *code_block(_difference(change.old, change.new), "diff"), ""]
        if changes:
            lines += folded("What is changed", changes)
    return lines


def _difference(old: str, new: str) -> str:
    """The lines of both texts, with - and + before those that differ at the ends trimmed of what they share."""
    before, after = old.rstrip("\n").split("\n"), new.rstrip("\n").split("\n")
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    shared_tail = before[len(before) - tail :]
    return "\n".join(
        [
            *(f"  {line}" for line in before[:head]),
            *(f"- {line}" for line in before[head : len(before) - tail]),
            *(f"+ {line}" for line in after[head : len(after) - tail]),
            *(f"  {line}" for line in shared_tail),
        ]
    )
