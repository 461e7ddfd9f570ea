"""What is done to a quorum that runs, and when: a plan that a seed makes."""

import random
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

LEADER = 0
"""In place of a replica's id: whoever leads then."""
_FIRST_MS = 500
_PAUSE_MS = (1000, 3500)
_LASTS_MS = (500, 4000)


class FaultKind(StrEnum):
    """What can be done."""

    KILL = "kill"
    """kill -9, and later a restart on the same disk."""
    STOP = "stop"
    """SIGSTOP, and later SIGCONT."""
    CUT = "cut"
    """No request gets to the replica or comes from it."""
    VOTERS = "voters"
    """A replica that is no voter is added; where all are, this one is removed."""


class Fault(Struct, frozen=True):
    """Something that is done to a replica."""

    at_ms: int
    """After the first leader."""
    kind: FaultKind
    replica: int
    """Its id, or `LEADER`."""
    lasts_ms: int = 0


def plan_of(seed: int, seconds: float, kinds: Sequence[FaultKind], replicas: Sequence[int]) -> tuple[Fault, ...]:
    """The faults of a run: the same for the same arguments.

    Args:
        seed: any number.
        seconds: how long the run is; the last fault begins before its end.
        kinds: which faults, each as often as it is named.
        replicas: the ids of those that may have one; every third fault is the leader's.
    """
    chance = random.Random(seed)
    faults: list[Fault] = []
    at_ms = _FIRST_MS
    while kinds and at_ms < seconds * 1000:
        kind, replica = chance.choice(kinds), chance.choice((*replicas, *[LEADER] * (len(replicas) // 2)))
        lasts_ms = 0 if kind is FaultKind.VOTERS else chance.randrange(*_LASTS_MS)
        faults.append(Fault(at_ms, kind, replica, lasts_ms))
        at_ms += chance.randrange(*_PAUSE_MS)
    return tuple(faults)
