"""All cases, by importing their topics."""

from collections.abc import Mapping
from importlib import import_module

from kraft_kafka.live.cases import CASES, Case

TOPICS = ("votes", "elections", "leading", "following", "changes", "versions", "restarts", "observers")
"""The modules of the cases, in the order in which they run."""


def cases() -> Mapping[str, Case]:
    """All cases by id."""
    for topic in TOPICS:
        import_module(f"kraft_kafka.live.cases.{topic}")
    return CASES
