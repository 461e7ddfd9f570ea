"""Mutants of the inductive proof: rules broken on purpose, with the obligation that must then fail.

What is broken is the theory itself. A run of each goes to a step that breaks an invariant: that invariant is not only
unproved but false. It need not be the one of the obligation that fails first. Where the two differ, that
obligation is unproved, and nothing more is claimed of it.
"""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import msgspec

from kraft_proofs.induction.changes import OTHER_MEANINGS, changed
from kraft_proofs.induction.interpreter import Interpreter
from kraft_proofs.induction.obligations import obligations
from kraft_proofs.induction.prover import Obligation, prove
from kraft_proofs.induction.replays import Breach, Cluster, Replayed, moves, replay
from kraft_proofs.induction.theory import Theory, theory
from kraft_proofs.induction.worlds import MEANINGS


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
        run: A run in which that happens, as `replays.moves` has it.
    """

    name: str
    sentence: str
    rules: tuple[str, ...]
    change: tuple[str, ...]
    fails: str
    breaks: str
    cluster: Cluster
    run: str

    def theory(self) -> Theory:
        """What is left of the proof's."""
        return changed(theory(), self.change)

    def interpreter(self) -> Interpreter:
        """Its theory, to be run."""
        meanings = dict(MEANINGS)
        for change in self.change:
            meanings |= OTHER_MEANINGS.get(change, {})
        return Interpreter(self.theory(), meanings)

    def replay(self) -> Replayed:
        """Its run."""
        return replay(self.interpreter(), self.cluster, moves(self.run))


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mutant: tuple[Mutant, ...]
    spare: dict[str, str]


_FILE = msgspec.toml.decode((files("kraft_proofs.induction") / "mutants.toml").read_bytes(), type=_File)

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
    """The run of a mutant in which a step breaks an invariant."""

    mutant: Mutant
    breach: Breach | None
    """The first such step; None if none does."""
    broken_axioms: tuple[str, ...]
    """Axioms of the mutant that do not hold at its end: none, or the run shows nothing."""

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


def first_unproved(about: Theory) -> str | None:
    """The first obligation of a changed theory that is not proved.

    What is an obligation of the theory as it is, from the same facts, is proved there and not asked again.
    """
    known = frozenset(map(_question, _unchanged()))
    asked = (one for one in obligations(about) if _question(one) not in known)
    return next((one.name for one in asked if not prove(one).proved), None)


@cache
def _unchanged() -> tuple[Obligation, ...]:
    return obligations()


def _question(obligation: Obligation) -> tuple[int, frozenset[int]]:
    """Z3 has one number for one formula, as long as somebody keeps it."""
    return obligation.goal.get_id(), frozenset(fact.get_id() for fact in obligation.facts.values())


def reject(one: Mutant) -> Rejection:
    """Ask for a proof of the mutated theory, up to the first obligation that has none."""
    return Rejection(one, first_unproved(one.theory()))


def exhibit(one: Mutant) -> Exhibit:
    """Run the mutated theory, and see which step breaks an invariant."""
    replayed = one.replay()
    return Exhibit(one, next(iter(replayed.breaches), None), one.interpreter().broken_axioms(replayed.world))
