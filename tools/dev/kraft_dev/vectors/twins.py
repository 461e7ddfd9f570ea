"""What happens under the profile `kafka-4` where a vector says only what happens under `kip`.

The model judges a run of a whole cluster, and one replica that does something else makes it another run.
So the same script runs once more under `kafka-4`.
Where it comes to the same events and the same outcome at the replica of the vector, the vector holds under both;
where it comes to something else, that is a vector of its own, whose id says so.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from msgspec.structs import replace as with_fields

from kraft_conformance.vectors.acceptance import Accepts
from kraft_conformance.vectors.format import Vector
from kraft_conformance.vectors.profiles import SUFFIX
from kraft_conformance.vectors.recording import Run, Subject, vector_of
from kraft_dev.vectors.staging import RecordingDirector, recorded
from kraft_reference.configuration import Configuration
from kraft_reference.profile import KAFKA_4, KIP
from kraft_reference.scenarios.schedule import ScenarioFailure


@dataclass(frozen=True)
class Recorded:
    """The runs of one script; each is made when it is asked for, and once.

    Raises:
        ScenarioFailure: the reference does something else than the script says under the profile of the configuration.
        NotAcceptedError: the model rejects a run.
    """

    source: str
    configuration: Configuration
    script: Callable[[RecordingDirector], None]
    accepts: Accepts

    @cached_property
    def run(self) -> Run:
        """Under the profile of the configuration."""
        return recorded(self.source, self.configuration, self.script, self.accepts)

    @cached_property
    def under_kafka(self) -> Run | None:
        """Under `kafka-4`; None if the script says something else than the reference does there."""
        configuration = replace(self.configuration, profile=KAFKA_4)
        try:
            return recorded(self.source, configuration, self.script, self.accepts)
        except ScenarioFailure:
            return None


def with_twin(made: Recorded, subject: Subject, has_variant: bool = False) -> Iterator[Vector]:
    """The vector of a run, and its twin if under `kafka-4` that replica gets or does something else.

    Args:
        made: the runs of the script.
        subject: what is cut from them.
        has_variant: the outcome under `kafka-4` has a vector of another id already.

    Raises:
        VectorProofError: history, state as data and steps do not fit together.
    """
    vector = vector_of(made.run, subject)
    if vector is None:
        return
    only_kip = vector.requires.profiles == (KIP.name,)
    twin = vector_of(made.under_kafka, _twin_subject(subject)) if only_kip and made.under_kafka is not None else None
    if twin is not None and _says_the_same(vector, twin):
        both = with_fields(vector.requires, profiles=(KIP.name, KAFKA_4.name))
        yield with_fields(vector, requires=both)
        return
    yield vector
    if twin is not None and not has_variant:
        yield twin


def _twin_subject(subject: Subject) -> Subject:
    return replace(subject, id=subject.id + SUFFIX, title=f"{subject.title} ({KAFKA_4.name})")


def _says_the_same(vector: Vector, twin: Vector) -> bool:
    named = with_fields(twin, id=vector.id, title=vector.title, cluster=vector.cluster, requires=vector.requires)
    same_needs = with_fields(twin.requires, profiles=vector.requires.profiles) == vector.requires
    return named == vector and same_needs
