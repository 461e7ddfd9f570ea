"""Declaration of vectors at their scripts; a vector begins at the script's first named step."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from kraft_reference.configuration import Configuration
from kraft_simulation.scenarios.scenario import cluster
from kraft_simulation.scenarios.schedule import ScriptT, title_of
from kraft_vectors.features import Level
from kraft_vectors.recording import Subject
from kraft_vectors.staging import RecordingDirector

THREE = cluster(3)
OBSERVED = cluster(4, (1, 2, 3))
"""Replica 4 is an observer."""
JOINING = cluster(4, (1, 2, 3), joining=(4,))
"""Replica 4 is an observer with auto join."""
STATIC = cluster(3, static=True)
"""Cluster at kraft.version 0."""


def source_of(script: Callable[..., None]) -> str:
    """Return the source of a vector: module and function without its leading underscore."""
    return f"script {script.__module__.rpartition('.')[2]}.{script.__name__.lstrip('_')}"


def with_replicas(small: Configuration, *replica_ids: int, **fields: object) -> Configuration:
    """Return the cluster with these fields of some replicas' `ReplicaConfiguration` changed."""
    changed = {n: replace(small.replicas[n], **fields) for n in replica_ids}  # type: ignore[arg-type]
    return replace(small, replicas={**small.replicas, **changed})


class Target(NamedTuple):
    """Declaration of a vector."""

    subject: Subject
    script: Callable[[RecordingDirector], None]
    configuration: Configuration


class Targets(list[Target]):
    """Vectors of a module, each declared at its script."""

    def __init__(self, configuration: Configuration = THREE) -> None:
        """`configuration` is the default cluster."""
        super().__init__()
        self._configuration = configuration

    def vector(
        self,
        vector_id: str,
        replica_id: int,
        *rules: str,
        configuration: Configuration | None = None,
        level: Level = "wire",
        title: str | None = None,
    ) -> Callable[[ScriptT], ScriptT]:
        """Declare a vector of the decorated script; the default title is the script's docstring."""

        def declared(script: ScriptT) -> ScriptT:
            subject = Subject(vector_id, title_of(script) if title is None else title, rules, replica_id, level)
            self.append(Target(subject, script, configuration or self._configuration))
            return script

        return declared
