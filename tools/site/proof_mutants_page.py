"""The mutants of the proof as a page of the documentation: what the catalogue says of them, and nothing measured."""

from kraft_spec.proofs.induction.mutants import MUTANTS, SPARE

PAGE = "results/proof-mutants.md"

_HEAD = (
    "# Mutants of the inductive proof\n"
    "\n"
    "Each mutant breaks the theory that `kraft-spec prove induction` proves: a fact about quorums is dropped, a "
    "condition of an action left out, an action changed or added.\n"
    "The prover must then stop at the obligation named here, and a run of the broken theory must reach a step that "
    "breaks the invariant named here.\n"
    "Where the two differ, the run shows that the invariant is false; the obligation is unproved, no more.\n"
    "`kraft-spec prove mutants` shows both.\n"
    "\n"
    "| mutant | what is broken | rules | first obligation that is not proved | a step that breaks an invariant |\n"
    "|---|---|---|---|---|\n"
)

_SPARE = """
## Conditions that the proof does not need

Each condition of each action was left out, one at a time.
Without any other than these the prover stops; without these the whole theory is proved.
They stay, because they say what replicas do.

| condition | why nothing depends on it |
|---|---|
"""


def proof_mutants_page() -> str:
    """The whole page."""
    rows = [
        f"| `{one.name}` | {one.sentence} | {', '.join(f'`{rule}`' for rule in one.rules)} | `{one.fails}` "
        f"| `{one.breaks}` |"
        for one in MUTANTS
    ]
    spare = [f"| `{name}` | {reason} |" for name, reason in SPARE.items()]
    return _HEAD + "\n".join(rows) + "\n" + _SPARE + "\n".join(spare) + "\n"
