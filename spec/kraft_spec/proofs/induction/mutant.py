"""What a mutant of the inductive proof is."""

from collections.abc import Mapping
from typing import NamedTuple

from kraft_spec.proofs.induction.changes import Change
from kraft_spec.proofs.induction.replays import Move
from kraft_spec.proofs.induction.simulator import Cluster
from kraft_spec.proofs.induction.worlds import Meaning


class ScriptedRun(NamedTuple):
    """A run that shows what is wrong."""

    cluster: Cluster
    moves: tuple[Move, ...]


class Mutant(NamedTuple):
    """One change of the theory."""

    name: str
    """Permanent."""
    sentence: str
    rules: tuple[str, ...]
    """Ids of the catalogue that the change is about."""
    change: Change
    fails: str
    """The first obligation that is not proved, in the order of the list."""
    breaks: str
    """`action/invariant`: the first step of a run that breaks an invariant, and the first one that it breaks."""
    run: ScriptedRun | None = None
    """A run in which that happens; None if it happens within a few thousand states of random runs."""
    meanings: Mapping[str, Meaning] = {}
    """For a dropped axiom: a meaning of its symbols of which all other axioms are true."""
