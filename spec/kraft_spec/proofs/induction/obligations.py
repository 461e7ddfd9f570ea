"""All that must be proved, as data: the start, each action against each invariant, and what safety follows from.

The names are permanent: `start/INVARIANT`, `ACTION/INVARIANT`, `ACTION/INVARIANT/STEP` of a script, `safety/...`,
`quorums/...`.
"""

from collections.abc import Mapping, Sequence

from kraft_spec.proofs.induction import counting
from kraft_spec.proofs.induction.actions import Action
from kraft_spec.proofs.induction.lemmas import LEMMAS, SCRIPTS, ProofScript
from kraft_spec.proofs.induction.premises import attempts
from kraft_spec.proofs.induction.prover import Answer, Obligation, prove
from kraft_spec.proofs.induction.script import Facts, MissingFactError, one_step
from kraft_spec.proofs.induction.symbols import Formula
from kraft_spec.proofs.induction.theory import Theory, theory


def obligations(about: Theory | None = None) -> tuple[Obligation, ...]:
    """The complete list.

    Args:
        about: What the proof is about; None for the theory of the KIPs. Of a theory with parts taken out, the same
            obligations are listed, without these parts for premises.
    """
    about = about or theory()
    listed = [*counting.obligations(), *_at_the_start(about), *_safety(about)]
    for action in about.actions:
        listed += _of_action(about, action)
    return tuple(listed)


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
    """The axioms and the invariants before a step."""
    return {
        **{axiom.name: axiom.formula for axiom in about.axioms},
        **{invariant.name: invariant.formula(about.before) for invariant in about.invariants},
    }


def _at_the_start(about: Theory) -> tuple[Obligation, ...]:
    facts = {**{axiom.name: axiom.formula for axiom in about.axioms}, "start": about.start}
    return tuple(
        Obligation(f"start/{invariant.name}", facts, invariant.formula(about.before), (("start",), tuple(facts)))
        for invariant in about.invariants
    )


def _safety(about: Theory) -> tuple[Obligation, ...]:
    facts = dict(_facts(about))
    listed = []
    for one in about.safety:
        name, goal = f"safety/{one.name}", one.formula(about.before)
        invariants = tuple(invariant.name for invariant in about.invariants)
        listed.append(Obligation(name, dict(facts), goal, tuple(attempts(name, facts, invariants, ()))))
        facts[one.name] = goal
    return tuple(listed)


def _safe(about: Theory) -> Mapping[str, Formula]:
    """What follows from the invariants before a step."""
    return {one.name: one.formula(about.before) for one in about.safety}


def _of_action(about: Theory, action: Action) -> tuple[Obligation, ...]:
    """What is proved of the action first, and the action against each invariant."""
    known = {**_facts(about), **_safe(about), **action.guard}
    taken_out = frozenset(_all_names(theory(), action.name) - set(known))
    listed: list[Obligation] = []
    for lemma, says, proof in LEMMAS.get(action.name, ()):
        goal = says(about.before)
        listed += _proved(about, f"{action.name}/{lemma}", Facts(known, taken_out), goal, proof)
        known[lemma] = goal
    for invariant in about.invariants:
        name, goal = f"{action.name}/{invariant.name}", invariant.formula(action.after)
        if name in SCRIPTS:
            listed += _proved(about, name, Facts(known, taken_out), goal, SCRIPTS[name])
        else:
            listed.append(_direct(about, action, invariant.name, known, goal))
    return tuple(listed)


def _proved(about: Theory, name: str, facts: Facts, goal: Formula, proof: str | ProofScript) -> tuple[Obligation, ...]:
    """The steps of a proof; of one that needs a fact that is taken out, the goal, with nothing to prove it from."""
    if isinstance(proof, str):
        return one_step(name, facts, goal, proof)
    try:
        return proof(about.before, name, facts, goal)
    except MissingFactError as missing:
        return (Obligation(f"{name}/{missing.step}", {}, goal, ()),)


def _direct(about: Theory, action: Action, invariant: str, known: Mapping[str, Formula], goal: Formula) -> Obligation:
    name = f"{action.name}/{invariant}"
    invariants = tuple(one.name for one in about.invariants)
    return Obligation(name, known, goal, tuple(attempts(name, known, invariants, (invariant, *action.guard))))


def _all_names(about: Theory, action: str) -> frozenset[str]:
    """The names of all facts that a script for the action may expect."""
    guard = about.action(action).guard if any(one.name == action for one in about.actions) else {}
    return frozenset((*_facts(about), *_safe(about), *guard))
