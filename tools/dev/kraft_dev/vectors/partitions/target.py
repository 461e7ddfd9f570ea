"""A short run for one rule or a few: where the vector begins is where its script names its first step."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from kraft_conformance.protocol.features import Level
from kraft_conformance.vectors.profiles import SUFFIX
from kraft_dev.vectors.partitions.staging import RecordingStage
from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.decisions import KAFKA_4
from kraft_reference.partitions.scenarios.scenario import cluster
from kraft_reference.partitions.scenarios.stage import A0, B0
from kraft_reference.scenarios.schedule import ScriptT, said_of

FIVE = cluster(5)
"""A-0 at [1,2,3]; nobody has 4 and 5."""
SIX = cluster(6)
NINE = cluster(9, assignments={A0: (1, 2, 3), B0: (2, 3, 4)})
UNCLEAN = cluster(5, unclean=True)
KAFKA = cluster(5, profile=KAFKA_4)
KAFKA_SIX = cluster(6, profile=KAFKA_4)
TWO_TOPICS = cluster(5, assignments={A0: (1, 2, 3), B0: (2, 1)})
SINGLE = cluster(5, assignments={A0: (1,)})
"""Nobody else has what 1 has."""


@dataclass(frozen=True, slots=True)
class PartitionTarget:
    """What one vector is made from."""

    id: str
    """Of the vector; its first part is a folder."""
    title: str
    rules: tuple[str, ...]
    """Those that the steps turn on, without `partition-reassign.`."""
    script: Callable[[RecordingStage], None]
    configuration: PartitionConfiguration
    allows: tuple[str, ...]
    """Rules besides that say what may happen here; without them it would happen as well."""
    level: Level
    """At least; more if the steps, or the rules, show only above it."""


class PartitionTargets(list[PartitionTarget]):
    """The vectors of one module: each is declared at the script that it is cut from."""

    def __init__(self, configuration: PartitionConfiguration = FIVE) -> None:
        """`configuration` is that of the vectors that name none."""
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
        """What the script below it is for; with `both` it is for a second vector too, under `kafka-4`."""

        def declared(script: ScriptT) -> ScriptT:
            of, title = configuration or self._configuration, said_of(script)
            self.append(PartitionTarget(vector_id, title, rules, script, of, allows, level))
            if both:
                kafka, title = replace(of, profile=KAFKA_4), f"{title} ({KAFKA_4.name})"
                self.append(PartitionTarget(vector_id + SUFFIX, title, rules, script, kafka, allows, level))
            return script

        return declared
