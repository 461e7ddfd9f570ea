"""A few short vectors to begin with, in the order in which a new adapter comes to pass them."""

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
"""Ids: first what takes a reset and one answer, then writes, timers and rounds, a crash, and what changes nothing."""

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
"""Ids: first what is answered and changes nothing, then a start, its ends, and what another controller finds."""

SMOKE_OF: dict[Subject, tuple[str, ...]] = {"replica": SMOKE, "partitions": PARTITION_SMOKE}
