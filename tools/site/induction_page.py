"""The inductive proof as a page."""

from collections import Counter

from kraft_dev.markdown import code, codes, table
from kraft_proofs.induction.abstraction import UNCHANGED, standing_for
from kraft_proofs.induction.counting import SENTENCES
from kraft_proofs.induction.obligations import obligations
from kraft_proofs.induction.state import FUNCTIONS
from kraft_proofs.induction.symbols import RIGID, SORTS
from kraft_proofs.induction.theory import theory
from kraft_proofs.induction.trust import CHECKED, REVIEWED

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
        *table(
            ("name", "in every state that can be reached, for any number of replicas, epochs, entries and voters sets"),
            [(code(one.name), one.sentence) for one in (*results, about.safety[-1])],
        ),
        "",
        "## Invariants",
        "",
        *table(("invariant", "what it says"), [(code(one.name), one.sentence) for one in about.invariants]),
        "",
        "## Actions",
        "",
        *table(
            ("action", "what happens", "guard", "obligations", "stands for, in KRaft.tla"),
            [
                (
                    code(one.name),
                    one.sentence,
                    codes(one.guard),
                    str(counted[one.name]),
                    ", ".join(standing_for(one.name)),
                )
                for one in about.actions
            ],
        ),
        "",
        "Actions of the model that change nothing of which the proof speaks:",
        "",
        *table(("action of KRaft.tla", "why"), UNCHANGED.items()),
        "",
        "## Vocabulary",
        "",
        *table(("sort", "what it is"), SORTS.items()),
        "",
        *table(("never changes", "what it is"), [(code(one.name), one.sentence) for one in RIGID.values()]),
        "",
        *table(("state", "what it is"), [(code(name), one.sentence) for name, one in FUNCTIONS.items()]),
        "",
        "## Axioms",
        "",
        *table(("axiom", "what it says"), [(code(one.name), one.sentence) for one in about.axioms]),
        "",
        "The last two are obligations themselves (`quorums/...`), proved from what sizes of finite sets are:",
        "",
        *table(("definition", "what it says"), [(code(name), sentence) for name, sentence in SENTENCES.items()]),
        "",
        "## What the machine proves",
        "",
        *table(("what", "how"), [(one.what, one.how) for one in CHECKED]),
        "",
        "## What a human reviews",
        "",
        *table(
            ("name", "what", "where", "executed evidence"),
            [(code(one.name), one.what, one.where, one.evidence) for one in REVIEWED],
        ),
        "",
    ]
    return "\n".join(sections)
