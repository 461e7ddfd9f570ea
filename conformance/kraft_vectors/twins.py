"""Variants of `kip` vectors under the profiles of Apache Kafka.

The model checks a run of a whole cluster, and another decision of any replica makes it another run.  So the script runs
once more under each profile.  If the replica of the vector has the same events and outcome, the vector holds under that
profile too; otherwise the run gives another vector, with the profile in its id.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from msgspec.structs import replace as with_fields

from kraft_reference.configuration import Configuration
from kraft_reference.profile import KAFKA_PROFILES, KIP, PROFILES
from kraft_simulation.scenarios.schedule import ScenarioFailure
from kraft_vectors.acceptance import Accepts
from kraft_vectors.format import Vector
from kraft_vectors.recording import Run, Subject, vector_of
from kraft_vectors.staging import RecordingDirector, record_run


@dataclass(frozen=True)
class Recorded:
    """Runs of a script, each made once on use.

    Raises:
        ScenarioFailure: the reference differs from the script under the profile of the configuration.
        NotAcceptedError: the model rejects a run.
    """

    source: str
    configuration: Configuration
    script: Callable[[RecordingDirector], None]
    accepts: Accepts
    accepts_twin: Accepts
    """As `accepts`, of a run under a profile of Apache Kafka, of which no other profile is asked."""

    @cached_property
    def run(self) -> Run:
        """Run under the profile of the configuration."""
        return record_run(self.source, self.configuration, self.script, self.accepts)

    @cached_property
    def under_kafka(self) -> dict[str, Run]:
        """Runs under the profiles of Apache Kafka, newest first, without those that the script does not fit."""
        runs: dict[str, Run] = {}
        for profile in KAFKA_PROFILES:
            configuration = replace(self.configuration, profile=profile)
            with suppress(ScenarioFailure):
                runs[profile.name] = record_run(self.source, configuration, self.script, self.accepts_twin)
        return runs


def with_twins(made: Recorded, subject: Subject, has_variant: bool = False) -> Iterator[Vector]:
    """Yield the vector of a run, and its twins with other events or outcomes under profiles of Kafka.

    Profiles with the same outcome share a twin, which has the name of the newest.

    Args:
        made: runs of the script.
        subject: description of the vector.
        has_variant: True if the outcome under `kafka-4` already has a vector of another id.

    Raises:
        VectorProofError: history, injected state and steps do not agree.
    """
    vector = vector_of(made.run, subject)
    if vector is None:
        return
    vectors = [vector]
    for profile in KAFKA_PROFILES:
        twin = None
        if profile.name not in vector.requires.profiles and profile.name in made.under_kafka:
            twin = vector_of(made.under_kafka[profile.name], _twin_subject(subject, profile.name))
        if twin is None:
            continue
        place = next((place for place, candidate in enumerate(vectors) if _says_the_same(candidate, twin)), None)
        if place is None:
            vectors.append(with_fields(twin, requires=with_fields(twin.requires, profiles=(profile.name,))))
        else:
            vectors[place] = _also_under(vectors[place], profile.name)
    yields_twins = vector.requires.profiles[0] == KIP.name and not has_variant
    yield from vectors if yields_twins else vectors[:1]


def _twin_subject(subject: Subject, profile: str) -> Subject:
    return replace(subject, id=f"{subject.id}.{profile}", title=f"{subject.title} ({profile})")


def _also_under(vector: Vector, profile: str) -> Vector:
    named = {*vector.requires.profiles, profile}
    own, *_ = vector.requires.profiles
    other_profiles = [name for name in PROFILES if name in named and name != own]
    return with_fields(vector, requires=with_fields(vector.requires, profiles=(own, *other_profiles)))


def _says_the_same(vector: Vector, twin: Vector) -> bool:
    named = with_fields(twin, id=vector.id, title=vector.title, cluster=vector.cluster, requires=vector.requires)
    same_needs = with_fields(twin.requires, profiles=vector.requires.profiles) == vector.requires
    return named == vector and same_needs
