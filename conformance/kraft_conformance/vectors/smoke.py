"""A few short vectors to begin with, in the order in which a new adapter comes to pass them."""

SMOKE: tuple[str, ...] = ("scenario.ping-pong.with-the-rule.replica-2",)
"""Ids: first what needs a reset and one answer, then a write before an answer, then the state."""
