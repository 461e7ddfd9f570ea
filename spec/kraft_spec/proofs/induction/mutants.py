"""Mutants of the inductive proof: rules broken on purpose, with the obligation that must then fail.

What is broken is the theory itself. Each mutant is also run, up to a step that breaks an invariant: that invariant is
not only unproved but false. It need not be the one of the obligation that fails first. Where the two differ, that
obligation is unproved, and nothing more is claimed of it.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import msgspec

from kraft_spec.proofs.induction.changes import OTHER_MEANINGS, changed
from kraft_spec.proofs.induction.interpreter import Interpreter
from kraft_spec.proofs.induction.obligations import obligations, prove_induction
from kraft_spec.proofs.induction.prover import Answer, Obligation, prove
from kraft_spec.proofs.induction.replays import Breach, Replayed, moves, replay
from kraft_spec.proofs.induction.simulator import Cluster, simulate
from kraft_spec.proofs.induction.theory import Theory, theory
from kraft_spec.proofs.induction.worlds import MEANINGS

SEARCHED_STATES = 20_000
"""Random runs stop after so many states; the mutants that need no scripted run need fewer."""


class MutantError(Exception):
    """There is no such mutant."""


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change of the theory.

    Attributes:
        name: Permanent.
        sentence: What is broken.
        rules: Ids of the catalogue that the change is about.
        change: In the words of `changes.changed`.
        fails: The first obligation that is not proved, in the order of the list.
        breaks: `action/invariant`: the first step of a run that breaks an invariant, and the first one that it breaks.
        cluster: Of the run: how many replicas and voters it has, and the last epoch.
        run: A run in which that happens; empty if it happens within a few thousand states of random runs.
    """

    name: str
    sentence: str
    rules: tuple[str, ...]
    change: tuple[str, ...]
    fails: str
    breaks: str
    cluster: Cluster | None = None
    run: str = ""

    def theory(self) -> Theory:
        """What is left of the proof's."""
        return changed(theory(), self.change)

    def interpreter(self) -> Interpreter:
        """Its theory, run."""
        meanings = dict(MEANINGS)
        for change in self.change:
            meanings |= OTHER_MEANINGS.get(change, {})
        return Interpreter(self.theory(), meanings)

    def replay(self) -> Replayed | None:
        """Its scripted run, if there is one."""
        return None if self.cluster is None else replay(self.interpreter(), self.cluster, moves(self.run))


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mutant: tuple[Mutant, ...]
    spare: dict[str, str]


_FILE = msgspec.toml.decode((files("kraft_spec.proofs.induction") / "mutants.toml").read_bytes(), type=_File)

MUTANTS = _FILE.mutant
SPARE = _FILE.spare
"""Conditions without which the proof stands, `action/condition`, with the reason. They say what replicas do."""


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
    return {answer.obligation.name: answer for answer in prove_induction()}


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
    return Rejection(one, first_unproved(one.theory()))


def exhibit(one: Mutant, states: int = SEARCHED_STATES, seed: int = 0) -> Exhibit:
    """Run the mutated theory until a step breaks an invariant: the scripted run, or random ones."""
    replayed = one.replay()
    interpreter = one.interpreter()
    if replayed is not None:
        breach = replayed.breaches[0] if replayed.breaches else None
        steps, world = breach.number if breach else len(replayed.steps), replayed.world
    elif (found := simulate(interpreter, states, seed).broken) is None:
        return Exhibit(one, None, 0, ())
    else:
        steps, world = len(found.steps), found.world
        breach = Breach(steps, found.steps[-1], found.names)
    return Exhibit(one, breach, steps, interpreter.broken_axioms(world))
