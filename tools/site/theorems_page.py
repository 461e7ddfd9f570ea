"""The theorems as a page."""

from kraft_spec.proofs.theorems import theorems
from kraft_spec.proofs.theorems.data import Weakening

PAGE = "results/theorems.md"


def theorems_page() -> str:
    """A table of theorems with the rules that rest on them, and one of what is false, with what refutes it."""
    chosen = theorems()
    proofs = sum(len(one.obligations) for one in chosen)
    lines = [
        "# Theorems",
        "",
        "`kraft-spec prove theorems` proves every line of it.",
        "What the words mean, and how a theorem is proved: [Proofs](../proofs.md).",
        "",
        f"{len(chosen)} theorems with {proofs} obligations hold for voters sets of every size.",
        "All majorities of two sets *intersect* when each of the one shares a replica with each of the other.",
        "",
        "| theorem | what it says | rules that rest on it |",
        "|---|---|---|",
    ]
    for theorem in chosen:
        rules = ", ".join(f"`{rule}`" for rule in theorem.rules)
        says = " ".join(filter(None, (theorem.statement, theorem.argument)))
        lines.append(f"| `{theorem.slug}` | {says} | {rules} |")
    lines += [
        "",
        "## What is false",
        "",
        "Each theorem with one thing changed, and the smallest sets of replicas that refute it.",
        "",
        "| theorem | if | smallest counterexample |",
        "|---|---|---|",
    ]
    lines += [
        f"| `{theorem.slug}` | {weakening.change} | {_shown(weakening)} |"
        for theorem in chosen
        for weakening in theorem.weakenings
    ]
    return "\n".join(lines) + "\n"


def _shown(weakening: Weakening) -> str:
    return ", ".join(f"`{part}`" for part in str(weakening.counterexample).split(" "))
