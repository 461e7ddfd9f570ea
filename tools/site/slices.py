"""The slices of the model that leave a rule out and must be found violated, by rule.

The entry of its check names a rule that a mutant omits.
Else a slice says so in TLA+: in its configuration an operator is replaced by, or its start reaches, one that does
something else than the rule has it; the comment above that operator begins with "Without" and names the rule.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.site.pieces import OPERATOR

from kraft_spec.models import CHECKS, ModelCheck, model_directory

_EXTENDS = re.compile(r"^EXTENDS\s+(.*)$", re.MULTILINE)
_WORD = re.compile(r"[\w.-]*\w")
_COMMENT = "\\*"
_NAMED_AS_LEFT_OUT = "\\* Without "
_BOUNDS = "MC"
"""How the modules begin that set bounds; what the others name is what they enforce."""


@dataclass(frozen=True, slots=True)
class _Operator:
    """A definition of a module.

    Attributes:
        words: the words of its text, which may be operators.
        leaves_out: what it names as left out.
    """

    words: frozenset[str]
    leaves_out: frozenset[str]


def slices_without(
    rules: Collection[str], checks: Iterable[ModelCheck] = CHECKS, folder: Path | None = None
) -> dict[str, tuple[ModelCheck, ...]]:
    """Of each rule that some slice leaves out, those that must be found violated, in the order of the checks.

    Args:
        rules: the ids of all rules.
        checks: the slices.
        folder: of the modules; the package's own if None.
    """
    of_rule: dict[str, list[ModelCheck]] = {}
    for check in checks:
        if check.violates:
            for rule in sorted(_left_out(check, folder or model_directory()) & set(rules)):
                of_rule.setdefault(rule, []).append(check)
    return {rule: tuple(found) for rule, found in of_rule.items()}


def _left_out(check: ModelCheck, folder: Path) -> frozenset[str]:
    """The names in what the start of a slice reaches, with the operators replaced that its configuration replaces."""
    replaced = check.configuration.replaces
    operators = _operators(folder, check.configuration.module)
    due = [check.configuration.specification or check.configuration.init, "Next", *replaced.values()]
    reached: set[str] = set()
    while due:
        name = due.pop()
        if name not in reached and name in operators:
            reached.add(name)
            due += [replaced.get(word, word) for word in operators[name].words]
    return frozenset(check.mutants) | {name for each in reached for name in operators[each].leaves_out}


@cache
def _operators(folder: Path, module: str) -> Mapping[str, _Operator]:
    """The definitions of a module and of those that it extends; empty for a module of TLA+ itself."""
    file = folder / f"{module}.tla"
    if not file.is_file():
        return {}
    text = file.read_text(encoding="utf-8")
    found: dict[str, _Operator] = {}
    for extended in (name.strip() for names in _EXTENDS.findall(text) for name in names.split(",")):
        found.update(_operators(folder, extended))
    for name, comment, body in _definitions(text):
        code = "\n".join(line.partition(_COMMENT)[0] for line in body)
        named = [word for line in comment if line.startswith(_NAMED_AS_LEFT_OUT) for word in _WORD.findall(line)]
        leaves_out = named if module.startswith(_BOUNDS) else ()
        found[name] = _Operator(frozenset(re.findall(r"\w+", code)), frozenset(leaves_out))
    return found


def _definitions(text: str) -> list[tuple[str, list[str], list[str]]]:
    """Name, comment above and lines of each definition: what is indented belongs to the operator before it."""
    found: list[tuple[str, list[str], list[str]]] = []
    comment: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith(_COMMENT):
            comment, inside = [*comment, line], False
        elif operator := OPERATOR.match(line):
            found.append((operator.group(1), comment, [line]))
            comment, inside = [], True
        elif inside and (not line or line[0].isspace()):
            found[-1][2].append(line)
        else:
            comment, inside = [], False
    return found
