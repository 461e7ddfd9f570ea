"""Smoke tests: a few short vectors in the order in which a new adapter passes them."""

from kraft_vectors.features import Subject

SMOKE: tuple[str, ...] = (
    "prevote.unattached-grants",
    "vote.granted",
    "vote.once-per-epoch",
    "vote.stale-epoch",
    "prevote.request",
    "prevote.majority",
    "candidate.wins",
    "announcement.accepted",
    "prevote.follower-refuses",
    "fetch.follower",
    "restart.voted",
    "prevote.late-grant",
)
"""Ids: first a reset and one response, then writes, timers and rounds, a crash, and ignored messages."""

PARTITION_SMOKE: tuple[str, ...] = (
    "partition.list.none",
    "partition.invalid.empty",
    "partition.cancel.nothing",
    "partition.request.unknown",
    "partition.request.other-node",
    "partition.start",
    "partition.list.all",
    "partition.cancel",
    "partition.complete.waits",
    "partition.complete.leader-moves",
    "partition.override",
    "partition.failover.reads",
)
"""Ids: first requests that change nothing, then a start, completion and cancellation, and failovers."""

SMOKE_OF: dict[Subject, tuple[str, ...]] = {"replica": SMOKE, "partitions": PARTITION_SMOKE}
