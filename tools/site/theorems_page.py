"""The theorems as a page."""

from kraft_dev.markdown import Section, code, codes, page, table
from kraft_proofs.theorems import theorems

PAGE = "results/theorems.md"


def theorems_page() -> str:
    """A table of theorems with the rules that rest on them, and one of what is false, with what refutes it."""
    chosen = theorems()
    proofs = sum(len(one.obligations) for one in chosen)
    words = (
        "`kraft-spec prove theorems` proves every line of it.",
        "What the words mean, and how a theorem is proved: [Proofs](../proofs.md).",
        "",
        f"{len(chosen)} theorems with {proofs} obligations hold for voters sets of every size.",
        "All majorities of two sets *intersect* when each of the one shares a replica with each of the other.",
        "",
    )
    rows = [(code(one.slug), " ".join(filter(None, (one.statement, one.argument))), codes(one.rules)) for one in chosen]
    false = Section(
        "What is false",
        ("Each theorem with one thing changed, and the smallest sets of replicas that refute it.",),
        ("theorem", "if", "smallest counterexample"),
        tuple(
            (code(theorem.slug), weakening.change, codes(str(weakening.counterexample).split(" ")))
            for theorem in chosen
            for weakening in theorem.weakenings
        ),
    )
    return page("Theorems", (*words, *table(("theorem", "what it says", "rules that rest on it"), rows)), [false])
