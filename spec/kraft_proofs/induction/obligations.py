"""All that must be proved, as data: the start, each action against each invariant, and what safety follows from.

The names are permanent: `start/INVARIANT`, `ACTION/INVARIANT`, `ACTION/LEMMA/CLAIM`, `safety/...`, `quorums/...`.
"""

from collections.abc import Iterator, Mapping, Sequence

from kraft_proofs.induction import counting
from kraft_proofs.induction.actions import Action
from kraft_proofs.induction.lemmas import LEMMAS
from kraft_proofs.induction.prover import Answer, Obligation, prove
from kraft_proofs.induction.symbols import Formula
from kraft_proofs.induction.theory import Theory, theory


def obligations(about: Theory | None = None) -> tuple[Obligation, ...]:
    """The complete list.

    Args:
        about: What the proof is about; None for the theory of the KIPs.
    """
    about = about or theory()
    of_actions = (one for action in about.actions for one in _of_action(about, action))
    return (*counting.obligations(), *_at_the_start(about), *_safety(about), *of_actions)


def select(listed: Sequence[Obligation], names: Sequence[str]) -> tuple[Obligation, ...]:
    """The obligations of parts or `part/invariant` names, in the order of the list; all of them without names.

    Raises:
        KeyError: a name selects nothing.
    """

    def named(obligation: Obligation, name: str) -> bool:
        return obligation.name == name or obligation.name.startswith(f"{name}/")

    for name in names:
        if not any(named(obligation, name) for obligation in listed):
            raise KeyError(name)
    return tuple(one for one in listed if not names or any(named(one, name) for name in names))


def prove_induction(names: Sequence[str] = (), about: Theory | None = None) -> tuple[Answer, ...]:
    """Answers to the obligations of these names, or to all of them, in the order of the list.

    Raises:
        KeyError: a name selects nothing.
    """
    return tuple(prove(obligation) for obligation in select(obligations(about), names))


def _facts(about: Theory) -> Mapping[str, Formula]:
    """The axioms, and the invariants before a step."""
    return {**_axioms(about), **{invariant.name: invariant.formula(about.before) for invariant in about.invariants}}


def _axioms(about: Theory) -> Mapping[str, Formula]:
    return {axiom.name: axiom.formula for axiom in about.axioms}


def _at_the_start(about: Theory) -> Iterator[Obligation]:
    facts = {**_axioms(about), "start": about.start}
    for invariant in about.invariants:
        yield Obligation(f"start/{invariant.name}", facts, invariant.formula(about.before))


def _safety(about: Theory) -> Iterator[Obligation]:
    """What follows from the invariants, each from those before it too."""
    facts = dict(_facts(about))
    for one in about.safety:
        goal = one.formula(about.before)
        yield Obligation(f"safety/{one.name}", dict(facts), goal)
        facts[one.name] = goal


def _of_action(about: Theory, action: Action) -> Iterator[Obligation]:
    """The lemmas about the action, and the action against each invariant."""
    known = {**_facts(about), **{one.name: one.formula(about.before) for one in about.safety}, **action.guard}
    for lemma in LEMMAS.get(action.name, ()):
        yield from lemma.obligations(about.before, action.name, known)
        known[lemma.name] = lemma.says(about.before)
    for invariant in about.invariants:
        yield Obligation(f"{action.name}/{invariant.name}", known, invariant.formula(action.after))
