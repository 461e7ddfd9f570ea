"""The mutants of the proof as a page of the documentation: what the catalogue says of them, and nothing measured."""

from kraft_dev.markdown import Section, code, codes, page, table
from kraft_proofs.induction.mutants import MUTANTS, SPARE

PAGE = "results/proof-mutants.md"

_WORDS = (
    "Each mutant breaks the theory that `kraft-spec prove induction` proves: a fact about quorums is dropped, a "
    "condition of an action left out, an action changed or added.",
    "The prover must then stop at the obligation named here, and a run of the broken theory must reach a step that "
    "breaks the invariant named here.",
    "Where the two differ, the run shows that the invariant is false; the obligation is unproved, no more.",
    "`kraft-spec prove mutants` shows both.",
    "",
)
_HEADS = (
    "mutant",
    "what is broken",
    "rules",
    "first obligation that is not proved",
    "a step that breaks an invariant",
)
_OF_SPARE = (
    "Each condition of each action was left out, one at a time.",
    "Without any other than these the prover stops; without these the whole theory is proved.",
    "They stay, because they say what replicas do.",
)


def proof_mutants_page() -> str:
    """The whole page."""
    rows = [(code(one.name), one.sentence, codes(one.rules), code(one.fails), code(one.breaks)) for one in MUTANTS]
    spare = Section(
        "Conditions that the proof does not need",
        _OF_SPARE,
        ("condition", "why nothing depends on it"),
        tuple((code(name), reason) for name, reason in SPARE.items()),
    )
    return page("Mutants of the inductive proof", (*_WORDS, *table(_HEADS, rows)), [spare])
