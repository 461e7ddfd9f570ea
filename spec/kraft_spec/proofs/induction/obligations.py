"""All that must be proved, as data: the start, each action against each invariant, and what safety follows from.

The names are permanent: `start/INVARIANT`, `ACTION/INVARIANT`, `ACTION/INVARIANT/STEP` of a script, `safety/...`,
`quorums/...`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from kraft_spec.proofs.induction import counting, lemmas, own_vote, scripts, short_scripts
from kraft_spec.proofs.induction.actions import Action
from kraft_spec.proofs.induction.premises import attempts
from kraft_spec.proofs.induction.prover import Answer, Obligation, prove
from kraft_spec.proofs.induction.script import Facts, MissingFactError
from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import Formula
from kraft_spec.proofs.induction.theory import Theory, theory

_Script = Callable[[State, str, Facts, Formula], tuple[Obligation, ...]]
_Lemma = tuple[str, Callable[[State], Formula], Callable[[State, str, Facts], tuple[Obligation, ...]]]

_ANSWER: _Lemma = ("answer-was-written", lemmas.answer_was_written, lemmas.prove_answer_was_written)
_AGREEING: _Lemma = (
    "agreeing-is-the-log-end",
    lemmas.agreeing_is_the_log_end,
    lemmas.prove_agreeing_is_the_log_end,
)
_WATERMARK: _Lemma = (
    "watermark-is-in-the-leaders-log",
    lemmas.watermark_and_answer,
    lemmas.prove_watermark_and_answer,
)

LEMMAS: Mapping[str, tuple[_Lemma, ...]] = {
    "become-leader": (
        ("new-leader-is-complete", scripts.complete, scripts.new_leader_is_complete),
        ("new-leader-is-the-only-one", scripts.only_leader, scripts.new_leader_is_the_only_one),
        ("nothing-written-before", lemmas.nothing_written_before, lemmas.prove_nothing_written_before),
    ),
    "commit": (("later-leaders-keep-it", scripts.kept_by_later_leaders, scripts.later_leaders_keep_it),),
    "fetch-records": (_ANSWER, _AGREEING),
    "learn-high-watermark": (_ANSWER, _AGREEING, _WATERMARK),
    "truncate": (
        _ANSWER,
        ("keeps-what-they-share", lemmas.keeps_what_they_share, lemmas.prove_cut_keeps_what_they_share),
    ),
    "load-snapshot": (
        _ANSWER,
        ("keeps-what-they-share", lemmas.keeps_what_they_share, lemmas.prove_snapshot_has_what_they_share),
    ),
}
"""What is proved of an action first, by a script; each may use those before it, and the action's obligations all."""

SCRIPTS: Mapping[str, _Script] = {
    "vote/votes-respect-acknowledged": short_scripts.voter_compares_logs,
    "repeat-vote/votes-respect-acknowledged": own_vote.repeated_vote_respects_acknowledged,
    "append/one-voter-change-at-a-time": short_scripts.voters_change_one_at_a_time,
}
"""Obligations that are proved in steps."""


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

    def run(name: str, script: Callable[[], tuple[Obligation, ...]], goal: Formula) -> None:
        try:
            listed.extend(script())
        except MissingFactError as missing:
            listed.append(Obligation(f"{name}/{missing.step}", {}, goal, ()))

    for lemma, said, proof in LEMMAS.get(action.name, ()):
        name = f"{action.name}/{lemma}"
        run(name, partial(proof, about.before, name, Facts(known, taken_out)), said(about.before))
        known = {**known, lemma: said(about.before)}
    for invariant in about.invariants:
        name, goal = f"{action.name}/{invariant.name}", invariant.formula(action.after)
        if name in SCRIPTS:
            run(name, partial(SCRIPTS[name], about.before, name, Facts(known, taken_out), goal), goal)
        else:
            listed.append(_direct(about, action, invariant.name, known, goal))
    return tuple(listed)


def _direct(about: Theory, action: Action, invariant: str, known: Mapping[str, Formula], goal: Formula) -> Obligation:
    name = f"{action.name}/{invariant}"
    invariants = tuple(one.name for one in about.invariants)
    return Obligation(name, known, goal, tuple(attempts(name, known, invariants, (invariant, *action.guard))))


def _all_names(about: Theory, action: str) -> frozenset[str]:
    """The names of all facts that a script for the action may expect."""
    guard = about.action(action).guard if any(one.name == action for one in about.actions) else {}
    return frozenset((*_facts(about), *_safe(about), *guard))
