"""All cases, registered by importing their topics."""

from collections.abc import Mapping
from importlib import import_module

from kraft_kafka.live.cases import CASES, Case

TOPICS = ("votes", "elections", "leading", "following", "changes", "versions", "restarts", "observers")
"""Modules of the cases, in order of execution."""


def cases() -> Mapping[str, Case]:
    """Return all cases by id."""
    for topic in TOPICS:
        import_module(f"kraft_kafka.live.cases.{topic}")
    return CASES
