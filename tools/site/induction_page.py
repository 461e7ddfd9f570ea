"""The inductive proof as a page."""

from collections import Counter
from collections.abc import Iterable

from kraft_spec.proofs.induction.abstraction import UNCHANGED, standing_for
from kraft_spec.proofs.induction.counting import SENTENCES
from kraft_spec.proofs.induction.obligations import obligations
from kraft_spec.proofs.induction.state import FUNCTIONS
from kraft_spec.proofs.induction.symbols import RIGID, SORTS
from kraft_spec.proofs.induction.theory import theory
from kraft_spec.proofs.induction.trust import CHECKED, REVIEWED

PAGE = "results/induction.md"

_RESULTS = ("election-safety", "leader-completeness")
"""The invariants that are wanted for themselves."""


def induction_page() -> str:
    """Vocabulary, facts, invariants, actions with their guards, what they stand for, and who checks what."""
    about = theory()
    listed = obligations(about)
    counted = Counter(one.part for one in listed)
    guards = sum(len(action.guard) for action in about.actions)
    results = [one for one in about.invariants if one.name in _RESULTS]
    sections = [
        "# The inductive proof",
        "",
        "`kraft-spec prove induction` proves every line of it.",
        "How it goes, and how to read this page: [Proofs](../proofs.md).",
        "",
        f"{len(listed)} obligations: {len(about.invariants)} invariants, {len(about.actions)} actions with {guards} "
        f"guards, {len(about.axioms)} axioms.",
        "",
        "## What is proved",
        "",
        *_table(
            ("name", "in every state that can be reached, for any number of replicas, epochs, entries and voters sets"),
            [(f"`{one.name}`", one.sentence) for one in (*results, about.safety[-1])],
        ),
        "",
        "## Invariants",
        "",
        *_table(("invariant", "what it says"), [(f"`{one.name}`", one.sentence) for one in about.invariants]),
        "",
        "## Actions",
        "",
        *_table(
            ("action", "what happens", "guard", "obligations", "stands for, in KRaft.tla"),
            [
                (
                    f"`{one.name}`",
                    one.sentence,
                    ", ".join(f"`{name}`" for name in one.guard),
                    counted[one.name],
                    ", ".join(standing_for(one.name)),
                )
                for one in about.actions
            ],
        ),
        "",
        "Actions of the model that change nothing of which the proof speaks:",
        "",
        *_table(("action of KRaft.tla", "why"), UNCHANGED.items()),
        "",
        "## Vocabulary",
        "",
        *_table(("sort", "what it is"), SORTS.items()),
        "",
        *_table(("never changes", "what it is"), [(f"`{one.name}`", one.sentence) for one in RIGID.values()]),
        "",
        *_table(("state", "what it is"), [(f"`{name}`", one.sentence) for name, one in FUNCTIONS.items()]),
        "",
        "## Axioms",
        "",
        *_table(("axiom", "what it says"), [(f"`{one.name}`", one.sentence) for one in about.axioms]),
        "",
        "The last two are obligations themselves (`quorums/...`), proved from what sizes of finite sets are:",
        "",
        *_table(("definition", "what it says"), [(f"`{name}`", sentence) for name, sentence in SENTENCES.items()]),
        "",
        "## What the machine proves",
        "",
        *_table(("what", "how"), [(one.what, one.how) for one in CHECKED]),
        "",
        "## What a human reviews",
        "",
        *_table(
            ("name", "what", "where", "executed evidence"),
            [(f"`{one.name}`", one.what, one.where, one.evidence) for one in REVIEWED],
        ),
        "",
    ]
    return "\n".join(sections)


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join('---' for _ in head)}|"]
    return lines + [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
