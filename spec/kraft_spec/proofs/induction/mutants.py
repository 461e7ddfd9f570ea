"""Mutants of the inductive proof: rules broken on purpose, with the obligation that must then fail.

What is broken is the theory itself. Each mutant is also run, up to a step that breaks an invariant: that invariant is
not only unproved but false. It need not be the one of the obligation that fails first. Where the two differ, that
obligation is unproved, and nothing more is claimed of it.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from kraft_spec.proofs.induction.interpreter import Interpreter
from kraft_spec.proofs.induction.log_mutants import LOG_MUTANTS
from kraft_spec.proofs.induction.mutant import Mutant
from kraft_spec.proofs.induction.obligations import obligations
from kraft_spec.proofs.induction.prover import Answer, Obligation, prove, prove_all
from kraft_spec.proofs.induction.quorum_mutants import QUORUM_MUTANTS, VOTER_CHANGE_MUTANTS
from kraft_spec.proofs.induction.replays import Breach, replay
from kraft_spec.proofs.induction.simulator import simulate
from kraft_spec.proofs.induction.theory import Theory, theory
from kraft_spec.proofs.induction.vote_mutants import VOTE_MUTANTS
from kraft_spec.proofs.induction.worlds import MEANINGS

MUTANTS: tuple[Mutant, ...] = (*QUORUM_MUTANTS, *VOTER_CHANGE_MUTANTS, *VOTE_MUTANTS, *LOG_MUTANTS)

SEARCHED_STATES = 20_000
"""Random runs stop after so many states; the mutants that need no scripted run need fewer."""


class MutantError(Exception):
    """There is no such mutant."""


class Rejection(NamedTuple):
    """What the prover makes of a mutant."""

    mutant: Mutant
    first: str | None
    """The first obligation that it does not prove; None if it proves all."""

    @property
    def as_expected(self) -> bool:
        """Is it rejected where it should be?"""
        return self.first == self.mutant.fails


class Exhibit(NamedTuple):
    """A run of a mutant in which a step breaks an invariant."""

    mutant: Mutant
    breach: Breach | None
    """The first such step; None if none was found."""
    steps: int
    """Length of the run up to there."""
    broken_axioms: tuple[str, ...]
    """Axioms of the mutant that do not hold there: none, or the run shows nothing."""

    @property
    def as_expected(self) -> bool:
        """Does the expected step break the expected invariant?"""
        return self.found == self.mutant.breaks and not self.broken_axioms

    @property
    def found(self) -> str | None:
        """`action/invariant` of the first step that breaks one."""
        return None if self.breach is None else f"{self.breach.step.action}/{self.breach.names[0]}"


def mutant(name: str) -> Mutant:
    """The mutant of a name.

    Raises:
        MutantError: there is none; the message lists them.
    """
    for one in MUTANTS:
        if one.name == name:
            return one
    raise MutantError(f"no mutant {name!r}; there are {', '.join(one.name for one in MUTANTS)}")


@cache
def _proof() -> Mapping[str, Answer]:
    """The proof of the theory as it is."""
    return {answer.obligation.name: answer for answer in prove_all(obligations())}


def affected(mutated: tuple[Obligation, ...]) -> Iterator[Obligation]:
    """Obligations whose goal, or a premise that served to prove it, is not what it is in the proof.

    All others follow by the proof as it is, and need not be asked again.
    """
    for obligation in mutated:
        known = _proof().get(obligation.name)
        if (
            known is None
            or known.premises is None
            or not known.obligation.goal.eq(obligation.goal)
            or any(
                name not in obligation.facts or not obligation.facts[name].eq(known.obligation.facts[name])
                for name in known.premises
            )
        ):
            yield obligation


def first_unproved(about: Theory) -> str | None:
    """The first obligation of a changed theory that is not proved."""
    return next((one.name for one in affected(obligations(about)) if not prove(one).proved), None)


def reject(one: Mutant) -> Rejection:
    """Ask for a proof of the mutated theory, up to the first obligation that has none."""
    return Rejection(one, first_unproved(one.change(theory())))


SPARE: Mapping[str, str] = {
    "become-leader/same-epoch": "Votes that come late make a leader of a past epoch, who can do nothing: append "
    "and commit have the condition too.",
    "become-leader/same-log": "As long as a Candidate neither won nor follows, its log is the one that it asked with.",
    "append/entry-is-new": "A leader has all entries of its epoch, so one after its log end is new.",
    "learn-high-watermark/follows": "Committed is for good: a late answer of a past leader teaches nothing wrong.",
}
"""Conditions without which the proof stands, `action/condition`, with the reason. They say what replicas do."""


def exhibit(one: Mutant, states: int = SEARCHED_STATES, seed: int = 0) -> Exhibit:
    """Run the mutated theory until a step breaks an invariant: the scripted run, or random ones."""
    interpreter = Interpreter(one.change(theory()), {**MEANINGS, **one.meanings})
    if one.run is not None:
        replayed = replay(interpreter, *one.run)
        breach = replayed.breaches[0] if replayed.breaches else None
        return Exhibit(
            one, breach, breach.number if breach else len(replayed.steps), interpreter.broken_axioms(replayed.world)
        )
    found = simulate(interpreter, states, seed).broken
    if found is None:
        return Exhibit(one, None, 0, ())
    breach = Breach(len(found.steps), found.steps[-1], found.names)
    return Exhibit(one, breach, len(found.steps), interpreter.broken_axioms(found.world))
