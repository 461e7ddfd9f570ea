"""Declaration of vectors at their scripts; a vector begins at the script's first named step."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.decisions import KAFKA_4
from kraft_partitions.scenarios.scenario import cluster
from kraft_partitions.scenarios.stage import A0, B0
from kraft_simulation.scenarios.schedule import ScriptT, title_of
from kraft_vectors.features import Level
from kraft_vectors.partitions.recording import PartitionSubject
from kraft_vectors.partitions.staging import RecordingStage
from kraft_vectors.profiles import SUFFIX

FIVE = cluster(5)
"""A-0 at [1,2,3]; brokers 4 and 5 have no replica."""
SIX = cluster(6)
NINE = cluster(9, assignments={A0: (1, 2, 3), B0: (2, 3, 4)})
UNCLEAN = cluster(5, unclean=True)
KAFKA = cluster(5, profile=KAFKA_4)
KAFKA_SIX = cluster(6, profile=KAFKA_4)
TWO_TOPICS = cluster(5, assignments={A0: (1, 2, 3), B0: (2, 1)})
SINGLE = cluster(5, assignments={A0: (1,)})
"""Broker 1 has the only replica."""


class PartitionTarget(NamedTuple):
    """Declaration of a vector."""

    subject: PartitionSubject
    script: Callable[[RecordingStage], None]
    configuration: PartitionConfiguration


class PartitionTargets(list[PartitionTarget]):
    """Vectors of a module, each declared at its script."""

    def __init__(self, configuration: PartitionConfiguration = FIVE) -> None:
        """`configuration` is the default cluster."""
        super().__init__()
        self._configuration = configuration

    def vector(
        self,
        vector_id: str,
        *rules: str,
        configuration: PartitionConfiguration | None = None,
        allows: tuple[str, ...] = (),
        level: Level = "wire",
        both: bool = False,
    ) -> Callable[[ScriptT], ScriptT]:
        """Declare a vector of the decorated script; with `both` also a second one under `kafka-4`.

        Rules are named without `partition-reassign.`.
        """
        named, allowed = (tuple([f"partition-reassign.{rule_id}" for rule_id in ids]) for ids in (rules, allows))

        def declared(script: ScriptT) -> ScriptT:
            of = configuration or self._configuration
            first = PartitionSubject(vector_id, title_of(script), named, allowed, level)
            self.append(PartitionTarget(first, script, of))
            if both:
                second = replace(first, id=vector_id + SUFFIX, title=f"{first.title} ({KAFKA_4.name})")
                self.append(PartitionTarget(second, script, replace(of, profile=KAFKA_4)))
            return script

        return declared
