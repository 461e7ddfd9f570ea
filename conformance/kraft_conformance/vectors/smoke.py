"""A few short vectors to begin with, in the order in which a new adapter comes to pass them."""

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
