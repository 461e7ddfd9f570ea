"""A short run for one rule or a few: where the vector begins is where its script names its first step."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from kraft_conformance.protocol.features import Level
from kraft_dev.vectors.staging import RecordingDirector
from kraft_reference.configuration import Configuration
from kraft_reference.scenarios.scenario import cluster
from kraft_reference.scenarios.schedule import ScriptT, said_of

THREE = cluster(3)
OBSERVED = cluster(4, (1, 2, 3))
"""Replica 4 is an observer."""


def with_replicas(small: Configuration, *replica_ids: int, **fields: object) -> Configuration:
    """Some replicas run other software: these fields of their `ReplicaConfiguration` differ."""
    changed = {n: replace(small.replicas[n], **fields) for n in replica_ids}  # type: ignore[arg-type]
    return replace(small, replicas={**small.replicas, **changed})


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
    configuration: Configuration
    level: Level
    """At least; more if the steps, or what the rules are about, show only above it."""


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
            shown = said_of(script) if title is None else title
            of = configuration or self._configuration
            self.append(Target(vector_id, shown, rules, replica_id, script, of, level))
            return script

        return declared
