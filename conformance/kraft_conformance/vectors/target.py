"""A short run for one rule or a few: where the vector begins is where its script names its first step."""

from collections.abc import Callable
from dataclasses import dataclass

from kraft_conformance.protocol.features import Level
from kraft_conformance.vectors.staging import RecordingDirector
from kraft_reference.configuration import Configuration
from kraft_reference.scenarios.scenario import cluster

THREE = cluster(3)
OBSERVED = cluster(4, (1, 2, 3))
"""Replica 4 is an observer."""


@dataclass(frozen=True, slots=True)
class Target:
    """What one vector is made from."""

    id: str
    """Of the vector; its first part is a folder."""
    title: str
    rules: tuple[str, ...]
    """Those that the steps at the replica decide."""
    replica_id: int
    script: Callable[[RecordingDirector], None]
    configuration: Configuration = THREE
    level: Level = "wire"
    """At least; more if the steps, or what the rules are about, show only above it."""
