"""All proof obligations as data: the start, each action against each invariant, and the safety properties.

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
    """Return the complete list.

    Args:
        about: The theory; None for that of the KIPs.
    """
    about = about or theory()
    of_actions = (obligation for action in about.actions for obligation in _action_obligations(about, action))
    return (*counting.obligations(), *_start_obligations(about), *_safety_obligations(about), *of_actions)


def select(listed: Sequence[Obligation], names: Sequence[str]) -> tuple[Obligation, ...]:
    """Return the obligations of parts or `part/invariant` names, in the order of the list; all of them without names.

    Raises:
        KeyError: a name selects nothing.
    """

    def named(obligation: Obligation, name: str) -> bool:
        return obligation.name == name or obligation.name.startswith(f"{name}/")

    for name in names:
        if not any(named(obligation, name) for obligation in listed):
            raise KeyError(name)
    return tuple(obligation for obligation in listed if not names or any(named(obligation, name) for name in names))


def prove_induction(names: Sequence[str] = (), about: Theory | None = None) -> tuple[Answer, ...]:
    """Return the answers to the obligations of these names, or to all of them, in the order of the list.

    Raises:
        KeyError: a name selects nothing.
    """
    return tuple(prove(obligation) for obligation in select(obligations(about), names))


def _facts(about: Theory) -> Mapping[str, Formula]:
    """Return the axioms, and the invariants before a step."""
    return {**_axioms(about), **{invariant.name: invariant.formula(about.before) for invariant in about.invariants}}


def _axioms(about: Theory) -> Mapping[str, Formula]:
    return {axiom.name: axiom.formula for axiom in about.axioms}


def _start_obligations(about: Theory) -> Iterator[Obligation]:
    facts = {**_axioms(about), "start": about.start}
    for invariant in about.invariants:
        yield Obligation(f"start/{invariant.name}", facts, invariant.formula(about.before))


def _safety_obligations(about: Theory) -> Iterator[Obligation]:
    """Yield the safety properties, each from the invariants and the properties before it."""
    facts = dict(_facts(about))
    for safety_property in about.safety:
        goal = safety_property.formula(about.before)
        yield Obligation(f"safety/{safety_property.name}", dict(facts), goal)
        facts[safety_property.name] = goal


def _action_obligations(about: Theory, action: Action) -> Iterator[Obligation]:
    """Yield the lemmas about the action, and the action against each invariant."""
    facts = {**_facts(about), **{claim.name: claim.formula(about.before) for claim in about.safety}, **action.guard}
    for lemma in LEMMAS.get(action.name, ()):
        yield from lemma.obligations(about.before, action.name, facts)
        facts[lemma.name] = lemma.says(about.before)
    for invariant in about.invariants:
        yield Obligation(f"{action.name}/{invariant.name}", facts, invariant.formula(action.after))
