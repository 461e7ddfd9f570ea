"""Model checks that omit a rule and must report a violation, by rule.

If a mutant omits the rule, the entry of the check names it.
Otherwise the TLA+ states it: the configuration replaces an operator by, or the start reaches, an operator that does
something other than the rule; the comment above that operator begins with "Without" and names the rule.
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
"""Prefix of modules that set bounds; other modules name the rules that they enforce."""


@dataclass(frozen=True, slots=True)
class _Operator:
    """A definition of a module.

    Attributes:
        words: Words of its text, which may be operators.
        leaves_out: Names that it declares as omitted.
    """

    words: frozenset[str]
    leaves_out: frozenset[str]


def slices_without(
    rules: Collection[str], checks: Iterable[ModelCheck] = CHECKS, folder: Path | None = None
) -> dict[str, tuple[ModelCheck, ...]]:
    """Return, for each omitted rule, the model checks that must report a violation, in their order.

    Args:
        rules: Ids of all rules.
        checks: The model checks.
        folder: Folder of the modules; the package's own if None.
    """
    of_rule: dict[str, list[ModelCheck]] = {}
    for check in checks:
        if check.violates:
            for rule in sorted(_left_out(check, folder or model_directory()) & set(rules)):
                of_rule.setdefault(rule, []).append(check)
    return {rule: tuple(checks_of_rule) for rule, checks_of_rule in of_rule.items()}


def _left_out(check: ModelCheck, folder: Path) -> frozenset[str]:
    """Return the names reachable from the start of a model check, after the configuration's replacements."""
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
    """Return the definitions of a module and of those that it extends; empty for a standard module of TLA+."""
    file = folder / f"{module}.tla"
    if not file.is_file():
        return {}
    text = file.read_text(encoding="utf-8")
    operators: dict[str, _Operator] = {}
    for extended in (name.strip() for names in _EXTENDS.findall(text) for name in names.split(",")):
        operators.update(_operators(folder, extended))
    for name, comment, body in _definitions(text):
        code = "\n".join(line.partition(_COMMENT)[0] for line in body)
        named = [word for line in comment if line.startswith(_NAMED_AS_LEFT_OUT) for word in _WORD.findall(line)]
        leaves_out = named if module.startswith(_BOUNDS) else ()
        operators[name] = _Operator(frozenset(re.findall(r"\w+", code)), frozenset(leaves_out))
    return operators


def _definitions(text: str) -> list[tuple[str, list[str], list[str]]]:
    """Return name, comment above and lines of each definition; indented lines belong to the operator before them."""
    definitions: list[tuple[str, list[str], list[str]]] = []
    comment: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith(_COMMENT):
            comment, inside = [*comment, line], False
        elif operator := OPERATOR.match(line):
            definitions.append((operator.group(1), comment, [line]))
            comment, inside = [], True
        elif inside and (not line or line[0].isspace()):
            definitions[-1][2].append(line)
        else:
            comment, inside = [], False
    return definitions
