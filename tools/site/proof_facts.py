"""Theorems, the inductive proof and its mutants, and links between them and the rules."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import to_builtins
from tools.site.excerpts import named_rules
from tools.site.names import attributes

from kraft_proofs.induction import actions, logs
from kraft_proofs.induction.abstraction import SEQUENCES, UNCHANGED, standing_for
from kraft_proofs.induction.counting import SENTENCES
from kraft_proofs.induction.mutants import MUTANTS, SPARE
from kraft_proofs.induction.obligations import obligations
from kraft_proofs.induction.state import FUNCTIONS, any_state
from kraft_proofs.induction.symbols import RIGID, SORTS
from kraft_proofs.induction.theory import theory
from kraft_proofs.induction.trust import CHECKED, REVIEWED
from kraft_proofs.theorems import theorems
from kraft_proofs.translation.acting import ACTIONS, EXECUTED
from kraft_spec.action_rules import EVENT_OPERATORS, rules_of_operators
from kraft_spec.rules import Registry

_RESULTS = ("election-safety", "leader-completeness")
"""The main invariants of the proof."""


def theorem_facts() -> dict[str, Any]:
    """Return the theorems by slug, each with its counterexamples."""
    return {
        theorem.slug: {
            **attributes(theorem, "statement argument rules"),
            "obligations": len(theorem.obligations),
            "weakenings": [
                {"change": each.change, "counterexample": str(each.counterexample).split(" ")}
                for each in theorem.weakenings
            ],
        }
        for theorem in theorems()
    }


def proof_facts(registry: Registry) -> dict[str, Any]:
    """Return the inductive proof: its theory, its assumptions, its mutants, and its rules."""
    about = theory()
    listed = obligations(about)
    number = Counter(obligation.part for obligation in listed)
    return {
        "obligations": len(listed),
        "results": _sentences([*(each for each in about.invariants if each.name in _RESULTS), about.safety[-1]]),
        "invariants": _sentences(about.invariants),
        "axioms": _sentences(about.axioms),
        "actions": [
            {
                **attributes(action, "name sentence"),
                "guard": list(action.guard),
                "obligations": number[action.name],
                "stands_for": standing_for(action.name),
            }
            for action in about.actions
        ],
        "unchanged": UNCHANGED,
        "sorts": SORTS,
        "rigid": _sentences(RIGID.values()),
        "functions": {name: function.sentence for name, function in FUNCTIONS.items()},
        "definitions": SENTENCES,
        "checked": to_builtins(CHECKED),
        "reviewed": to_builtins(REVIEWED),
        "mutants": {mutant.name: attributes(mutant, "name sentence rules fails breaks") for mutant in MUTANTS},
        "spare": SPARE,
        "chains": _chains(registry, number),
        "translation": [
            {"action": name, "sequence": SEQUENCES.get(name, ()), "why_executed": why}
            for name, why in {**dict.fromkeys(ACTIONS, ""), **EXECUTED}.items()
        ],
    }


def _sentences(named: Iterable[Any]) -> list[dict[str, str]]:
    return [attributes(each, "name sentence") for each in named]


def _chains(registry: Registry, number: Mapping[str, int]) -> dict[str, Any]:
    """Return for each rule of the proof the actions of the model and of the proof, and their number of obligations."""
    before = any_state()
    by_rule: dict[str, list[str]] = {}
    for make in (*actions.ALL, *logs.ALL):
        for rule in named_rules(make.__doc__ or "", registry.by_id):
            by_rule.setdefault(rule, []).append(make(before).name)
    return {
        rule: {
            "model": [
                event
                for event, operators in EVENT_OPERATORS.items()
                if rule in rules_of_operators(operators) and set(SEQUENCES.get(event, ())) & set(names)
            ],
            "proof": names,
            "obligations": sum(number[name] for name in names),
        }
        for rule, names in sorted(by_rule.items())
    }
