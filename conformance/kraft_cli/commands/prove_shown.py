"""Output of `kraft-spec prove`, as text and as JSON."""

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any

from kraft_conformance.console import printable, say, show_table
from kraft_proofs.changes import Reason, in_order, listed, number_of
from kraft_proofs.plan_notes import size_in_words
from kraft_proofs.plans import ProvedPlan, RefusedPlan, Shape, Step
from kraft_proofs.transitions import Counterexample, Proof, in_words, sizes
from kraft_reference.identity import ReplicaKey


def show_step(step: Step) -> None:
    """Print both answers about a step, and their reasons."""
    say(f"{listed(step.change.given_old)} -> {listed(step.change.given_new)}: {step.protocol.kind}")
    if isinstance(step.answer, Counterexample):
        say("majorities: NOT SAFE, two of them have no replica in common")
    elif step.answer.is_vacuous:
        say(f"majorities: nothing to prove: {step.answer.summary}")
    else:
        say(f"majorities: proved to intersect: {step.answer.summary}")
    for refusal in step.protocol.refusals:
        say(f"KIP-853:    forbidden: {refusal}")
    if step.protocol.allowed:
        say("KIP-853:    allowed" + (", provided that" if step.protocol.conditions else ""))
    for condition in step.protocol.conditions:
        say(f"            - {condition}")
    _say_notes(step.change.notes)
    if isinstance(step.answer, Proof):
        _show_proof(step.answer)
    else:
        _show_counterexample(step.answer)


def show_plan(sets: Sequence[Collection[ReplicaKey]], plan: ProvedPlan | RefusedPlan, notes: Iterable[Reason]) -> None:
    """Print the sequence of VotersRecords, each with its proof."""
    title = number_of(len(plan.steps), "VotersRecord") + ("" if plan.steps else ": nothing is to be done")
    rows: list[tuple[object, ...]] = [("", printable(listed(sets[0])), "", "", "")]
    for number, step in enumerate(plan.steps, start=1):
        allowed = "allowed" if step.protocol.allowed else "forbidden"
        cells = listed(sets[number]), step.protocol.kind, _describe_majorities(step.answer), allowed
        rows.append((number, *map(printable, cells)))
    show_table(title, ("step", "voters", "change", "majorities", "KIP-853"), rows)
    if isinstance(plan, RefusedPlan):
        for reason in plan.reasons:
            say(f"refused: {reason}")
    elif plan.steps:
        say(f"size:     {size_in_words(plan.shape)}")
        say(f"progress: voters that differ from the last set: {_numbers(plan.shape.distances)}; {_way(plan.shape)}")
    _say_notes(notes)


def step_document(step: Step) -> dict[str, Any]:
    """Return both answers about a step, as JSON values."""
    return {
        "old": _names(step.change.given_old),
        "new": _names(step.change.given_new),
        "passes": step.passes,
        "majorities": _proof_document(step.answer) if isinstance(step.answer, Proof) else _disjoint(step.answer),
        "protocol": {
            "change": step.protocol.kind,
            "allowed": step.protocol.allowed,
            "refusals": _reasons(step.protocol.refusals),
            "conditions": _reasons(step.protocol.conditions),
        },
        "notes": _reasons(step.change.notes),
    }


def plan_document(
    sets: Sequence[Collection[ReplicaKey]], plan: ProvedPlan | RefusedPlan, notes: Iterable[Reason]
) -> dict[str, Any]:
    """Return a plan as JSON values."""
    document = {
        "sets": [_names(voters) for voters in sets],
        "steps": [step_document(step) for step in plan.steps],
        "passes": isinstance(plan, ProvedPlan),
        "notes": _reasons(notes),
    }
    if isinstance(plan, RefusedPlan):
        return document | {"reasons": _reasons(plan.reasons)}
    return document | {
        "sizes": plan.shape.sizes,
        "bounds": plan.shape.bounds,
        "is_bounded": plan.shape.is_bounded,
        "distances": plan.shape.distances,
        "disks_below_bounds": plan.shape.disks,
        "is_direct": plan.shape.is_direct,
    }


def _describe_majorities(answer: Proof | Counterexample) -> str:
    if isinstance(answer, Counterexample):
        return f"NOT SAFE: {listed(answer.old_quorum)} and {listed(answer.new_quorum)} are disjoint"
    return f"{'nothing to prove' if answer.is_vacuous else 'proved'}: {answer.summary}"


def _way(shape: Shape) -> str:
    """Return how a plan approaches its last set, in words."""
    if not shape.is_direct:
        return "with detours"
    one_by_one = all(here - there == 1 for here, there in pairwise(shape.distances))
    return "each step comes one voter closer" if one_by_one else "each step comes closer"


def _show_proof(proof: Proof) -> None:
    checked = "contradict each other" if proof.recheck() else "DO NOT contradict each other"
    say(f"certificate: added up without a solver, so many times each, these facts {checked}")
    rows = []
    for name in proof.core:
        fact = in_words(sizes(proof.change), name)
        times = ", ".join(str(part.weight) for part in proof.certificate if part.fact == name)
        rows.append((name, fact.text, ", ".join(fact.rules), times))
    show_table("", ("fact", "what it says", "rule", "times"), rows)


def _show_counterexample(example: Counterexample) -> None:
    counted = sizes(example.change)
    checked = "checked" if example.recheck() else "NOT CONFIRMED"
    say(f"counterexample, {checked} without a solver: each quorum decides alone, and no replica is in both")
    old, new = len(example.change.old), len(example.change.new)
    rows = (
        ("the old set", printable(listed(example.old_quorum)), f"{counted.old_majority} of {old}"),
        ("the new set", printable(listed(example.new_quorum)), f"{counted.new_majority} of {new}"),
    )
    show_table("", ("of", "quorum", "needs"), rows)


def _say_notes(notes: Iterable[Reason]) -> None:
    for note in notes:
        say(f"note:       {note}")


def _numbers(numbers: Sequence[int], most: int = 12) -> str:
    shortened = numbers if len(numbers) <= most else (*numbers[: most - 1], "...", numbers[-1])
    return ", ".join(map(str, shortened))


def _names(voters: Iterable[ReplicaKey]) -> list[str]:
    return [str(key) for key in in_order(voters)]


def _reasons(reasons: Iterable[Reason]) -> list[dict[str, Any]]:
    return [{"text": reason.text, "rules": list(reason.rules)} for reason in reasons]


def _disjoint(example: Counterexample) -> dict[str, Any]:
    return {
        "answer": "counterexample",
        "old_quorum": _names(example.old_quorum),
        "new_quorum": _names(example.new_quorum),
        "rechecked": example.recheck(),
    }


def _proof_document(proof: Proof) -> dict[str, Any]:
    counted = sizes(proof.change)
    return {
        "answer": "proved",
        "core": [{"fact": name, **_reasons([in_words(counted, name)])[0]} for name in proof.core],
        "certificate": [
            {
                "fact": part.fact,
                "times": str(part.weight),
                "coefficients": dict(part.row.coefficients),
                "constant": part.row.constant,
            }
            for part in proof.certificate
        ],
        "rechecked": proof.recheck(),
    }
