"""Obligations as SMT-LIB 2 text, written by our own hand: the same obligation is the same bytes on every run.

Each text asserts the premises that served and the denial of the goal; any solver that answers `unsat` has proved it.
"""

import re
from collections.abc import Mapping

import z3

from kraft_spec.proofs.induction.prover import Answer
from kraft_spec.proofs.induction.symbols import Expression, Formula

_OPERATORS: Mapping[int, str] = {
    z3.Z3_OP_AND: "and",
    z3.Z3_OP_OR: "or",
    z3.Z3_OP_NOT: "not",
    z3.Z3_OP_IMPLIES: "=>",
    z3.Z3_OP_EQ: "=",
    z3.Z3_OP_DISTINCT: "distinct",
    z3.Z3_OP_ITE: "ite",
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_MUL: "*",
}


def questions(answers: tuple[Answer, ...]) -> Mapping[str, str]:
    """The text of each obligation that was proved, by the name of its file without `.smt2`."""
    return {file_name(answer.obligation.name): smt2(answer) for answer in answers if answer.proved}


def file_name(obligation: str) -> str:
    """The obligation's name as that of a file, without its ending."""
    return "--".join(re.sub("[^a-z0-9]+", "-", part) for part in obligation.split("/"))


def smt2(answer: Answer) -> str:
    """The obligation with the premises that served.

    Raises:
        ValueError: it was not proved.
    """
    if answer.premises is None:
        raise ValueError(f"{answer.obligation.name} was not proved")
    facts = {name: answer.obligation.facts[name] for name in answer.premises}
    denial = z3.Not(answer.obligation.goal)
    lines = ["; expect: unsat", f"; {answer.obligation.name}", "(set-logic UFLIA)"]
    lines += _declarations([*facts.values(), denial])
    for name, fact in facts.items():
        lines += [f"; {name}", f"(assert {text(fact)})"]
    return "\n".join([*lines, "; the denial of the goal", f"(assert {text(denial)})", "(check-sat)", ""])


def text(expression: Expression, bound: tuple[str, ...] = ()) -> str:
    """An expression as SMT-LIB has it.

    Args:
        expression: A term or a formula.
        bound: Names of the variables that quantifiers around it bind, the innermost last.

    Raises:
        ValueError: it has an operator that the proof does not use.
    """
    if z3.is_var(expression):
        index: int = z3.get_var_index(expression)
        return bound[-1 - index]
    if z3.is_quantifier(expression):
        return _quantified(expression, bound)
    if z3.is_int_value(expression):
        number = expression.as_long()
        return str(number) if number >= 0 else f"(- {-number})"
    if z3.is_true(expression) or z3.is_false(expression):
        return "true" if z3.is_true(expression) else "false"
    head = _head(expression)
    parts = [text(part, bound) for part in expression.children()]
    if head in ("and", "or") and len(parts) < 2:
        return parts[0] if parts else str(head == "and").lower()
    return f"({head} {' '.join(parts)})" if parts else head


def _head(expression: Expression) -> str:
    kind = expression.decl().kind()
    if kind == z3.Z3_OP_UNINTERPRETED:
        return _symbol(expression.decl().name())
    if kind not in _OPERATORS:
        raise ValueError(f"{expression.decl()} has no text")
    return _OPERATORS[kind]


def _symbol(name: str) -> str:
    return name if re.fullmatch("[a-zA-Z_][a-zA-Z0-9_.]*", name) else f"|{name}|"


def _quantified(formula: Formula, bound: tuple[str, ...]) -> str:
    """Each variable has a name of its own, because a name may be bound again within."""
    names = tuple(f"{formula.var_name(n)}_{len(bound) + n}" for n in range(formula.num_vars()))
    inner = (*bound, *names)
    declared = " ".join(f"({_symbol(name)} {formula.var_sort(n)})" for n, name in enumerate(names))
    body = text(formula.body(), tuple(_symbol(name) for name in inner))
    patterns = [
        f":pattern ({' '.join(text(part, tuple(_symbol(name) for name in inner)) for part in pattern.children())})"
        for pattern in (formula.pattern(n) for n in range(formula.num_patterns()))
    ]
    if patterns:
        body = f"(! {body} {' '.join(patterns)})"
    return f"({'forall' if formula.is_forall() else 'exists'} ({declared}) {body})"


def _declarations(formulas: list[Formula]) -> list[str]:
    """Sorts and functions that occur, by name."""
    functions: dict[str, z3.FuncDeclRef] = {}
    pending, seen = list(formulas), set()
    while pending:
        part = pending.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        if z3.is_quantifier(part):
            pending += [part.body(), *(part.pattern(n) for n in range(part.num_patterns()))]
            continue
        if z3.is_app(part):
            if part.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                functions[str(part.decl().name())] = part.decl()
            pending += part.children()
    signatures = {
        name: ([function.domain(n) for n in range(function.arity())], function.range())
        for name, function in sorted(functions.items())
    }
    sorts = {str(sort) for domain, value in signatures.values() for sort in (*domain, value)} - {"Int", "Bool"}
    return [f"(declare-sort {name} 0)" for name in sorted(sorts)] + [
        f"(declare-fun {_symbol(name)} ({' '.join(map(str, domain))}) {value})"
        for name, (domain, value) in signatures.items()
    ]
