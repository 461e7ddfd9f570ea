"""A short run for one rule or a few: where the vector begins is where its script names its first step."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from kraft_reference.configuration import Configuration
from kraft_simulation.scenarios.scenario import cluster
from kraft_simulation.scenarios.schedule import ScriptT, said_of
from kraft_vectors.features import Level
from kraft_vectors.recording import Subject
from kraft_vectors.staging import RecordingDirector

THREE = cluster(3)
OBSERVED = cluster(4, (1, 2, 3))
"""Replica 4 is an observer."""
JOINING = cluster(4, (1, 2, 3), joining=(4,))
"""The same, and it joins by itself."""
STATIC = cluster(3, static=True)
"""At kraft.version 0."""


def source_of(script: Callable[..., None]) -> str:
    """What a vector says that it was made from: the module and the function, without the underscore before it."""
    return f"script {script.__module__.rpartition('.')[2]}.{script.__name__.lstrip('_')}"


def with_replicas(small: Configuration, *replica_ids: int, **fields: object) -> Configuration:
    """Some replicas run other software: these fields of their `ReplicaConfiguration` differ."""
    changed = {n: replace(small.replicas[n], **fields) for n in replica_ids}  # type: ignore[arg-type]
    return replace(small, replicas={**small.replicas, **changed})


class Target(NamedTuple):
    """What one vector is made from."""

    subject: Subject
    script: Callable[[RecordingDirector], None]
    configuration: Configuration


class Targets(list[Target]):
    """The vectors of one module: each is declared at the script that it is cut from."""

    def __init__(self, configuration: Configuration = THREE) -> None:
        """`configuration` is that of the vectors that name none."""
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
        """What the script below it is for; without a `title` the vector has that of the script."""

        def declared(script: ScriptT) -> ScriptT:
            subject = Subject(vector_id, said_of(script) if title is None else title, rules, replica_id, level)
            self.append(Target(subject, script, configuration or self._configuration))
            return script

        return declared
