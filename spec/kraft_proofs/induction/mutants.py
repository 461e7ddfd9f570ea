"""Mutants of the inductive proof: rules broken on purpose, with the obligation that must then fail.

A mutant changes the theory itself. Its run leads to a step that violates an invariant, so that invariant is not only
unproved but false. The obligation that fails first may be about another invariant; that one is only unproved.
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
    """A change of the theory.

    Attributes:
        name: Permanent.
        sentence: The broken rule.
        rules: Ids of the rules that the change is about.
        change: Changes for `changes.changed`.
        fails: The first unproved obligation, in the order of the list.
        breaks: `action/invariant` of the first step of a run that violates an invariant, with the first one violated.
        cluster: Numbers of replicas and voters, and the last epoch of the run.
        run: A run with that violation, for `replays.moves`.
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
        """Return the changed theory."""
        return changed(theory(), self.change)

    def interpreter(self) -> Interpreter:
        """Return an interpreter of the changed theory."""
        meanings = dict(MEANINGS)
        for change in self.change:
            meanings |= OTHER_MEANINGS.get(change, {})
        return Interpreter(self.theory(), meanings)

    def replay(self) -> Replayed:
        """Return the mutant's run."""
        return replay(self.interpreter(), self.cluster, moves(self.run))


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mutant: tuple[Mutant, ...]
    spare: dict[str, str]


_FILE = msgspec.toml.decode((files("kraft_proofs.induction") / "mutants.toml").read_bytes(), type=_File)

MUTANTS = _FILE.mutant
SPARE = _FILE.spare
"""Conditions that the proof does not need, `action/condition`, with the reason. They describe the replicas."""


class Rejection(NamedTuple):
    """Result of the prover for a mutant."""

    mutant: Mutant
    first: str | None
    """The first unproved obligation; None if it proves all."""

    @property
    def as_expected(self) -> bool:
        """True if the expected obligation fails."""
        return self.first == self.mutant.fails


class Exhibit(NamedTuple):
    """The run of a mutant in which a step violates an invariant."""

    mutant: Mutant
    breach: Breach | None
    """The first such step; None if there is none."""
    broken_axioms: tuple[str, ...]
    """Axioms of the mutant that do not hold at the end of the run, which makes the run invalid."""

    @property
    def as_expected(self) -> bool:
        """True if the expected step violates the expected invariant."""
        return self.found == self.mutant.breaks and not self.broken_axioms

    @property
    def found(self) -> str | None:
        """`action/invariant` of the first step that violates one."""
        return None if self.breach is None else f"{self.breach.step.action}/{self.breach.names[0]}"


def mutant(name: str) -> Mutant:
    """Return the mutant of a name.

    Raises:
        MutantError: there is none; the message lists them.
    """
    for mutated in MUTANTS:
        if mutated.name == name:
            return mutated
    raise MutantError(f"no mutant {name!r}; there are {', '.join(mutated.name for mutated in MUTANTS)}")


def first_unproved(about: Theory) -> str | None:
    """Return the first unproved obligation of a changed theory.

    Obligations that the unchanged theory has with the same facts are proved there and skipped here.
    """
    proved_before = frozenset(map(_identity, _unchanged_obligations()))
    new = (obligation for obligation in obligations(about) if _identity(obligation) not in proved_before)
    return next((obligation.name for obligation in new if not prove(obligation).proved), None)


@cache
def _unchanged_obligations() -> tuple[Obligation, ...]:
    return obligations()


def _identity(obligation: Obligation) -> tuple[int, frozenset[int]]:
    """Return a key of an obligation: Z3 gives equal formulas one number while they are referenced."""
    return obligation.goal.get_id(), frozenset(fact.get_id() for fact in obligation.facts.values())


def reject(mutated: Mutant) -> Rejection:
    """Prove the mutated theory up to the first unproved obligation."""
    return Rejection(mutated, first_unproved(mutated.theory()))


def exhibit(mutated: Mutant) -> Exhibit:
    """Run the mutated theory up to a step that violates an invariant."""
    replayed = mutated.replay()
    return Exhibit(mutated, next(iter(replayed.breaches), None), mutated.interpreter().broken_axioms(replayed.world))
