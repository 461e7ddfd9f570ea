"""Faults injected into a running quorum: a plan from a seed."""

import random
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

LEADER = 0
"""Replica id that stands for the current leader."""
_FIRST_MS = 500
_PAUSE_MS = (1000, 3500)
_LASTS_MS = (500, 4000)


class FaultKind(StrEnum):
    """Kind of a fault."""

    KILL = "kill"
    """kill -9, and later a restart on the same disk."""
    STOP = "stop"
    """SIGSTOP, and later SIGCONT."""
    CUT = "cut"
    """No request reaches the replica or leaves it."""
    VOTERS = "voters"
    """A replica outside the voter set is added; if there is none, this replica is removed."""


class Fault(Struct, frozen=True):
    """A fault of a replica."""

    at_ms: int
    """Milliseconds after the first election."""
    kind: FaultKind
    replica: int
    """Its id, or `LEADER`."""
    lasts_ms: int = 0


def plan_of(seed: int, seconds: float, kinds: Sequence[FaultKind], replicas: Sequence[int]) -> tuple[Fault, ...]:
    """Return the faults of a run: the same for the same arguments.

    Args:
        seed: any number.
        seconds: length of the run; the last fault begins before its end.
        kinds: kinds of faults, weighted by repetition.
        replicas: ids of replicas that may have faults; every third fault is the leader's.
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
