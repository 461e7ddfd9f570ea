"""What happens under the profiles of Apache Kafka where a vector says only what happens under `kip`.

The model judges a run of a whole cluster, and one replica that does something else makes it another run.
So the same script runs once more under each of them.
Where it comes to the same events and the same outcome at the replica of the vector, the vector holds under it too;
where it comes to something else, that is a vector of its own, whose id says so.
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
from kraft_vectors.staging import RecordingDirector, recorded


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
    def under_kafka(self) -> dict[str, Run]:
        """Under the profiles of Apache Kafka, the newest first, but those that the script does not fit."""
        runs: dict[str, Run] = {}
        for profile in KAFKA_PROFILES:
            configuration = replace(self.configuration, profile=profile)
            with suppress(ScenarioFailure):
                runs[profile.name] = recorded(self.source, configuration, self.script, self.accepts)
        return runs


def with_twins(made: Recorded, subject: Subject, has_variant: bool = False) -> Iterator[Vector]:
    """The vector of a run, and its twins where that replica gets or does something else under a profile of Kafka.

    Profiles under which it does the same share a twin, which has the name of the newest.

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
    found = [vector]
    for profile in KAFKA_PROFILES:
        twin = None
        if profile.name not in vector.requires.profiles and profile.name in made.under_kafka:
            twin = vector_of(made.under_kafka[profile.name], _twin_subject(subject, profile.name))
        if twin is None:
            continue
        place = next((place for place, one in enumerate(found) if _says_the_same(one, twin)), None)
        if place is None:
            found.append(with_fields(twin, requires=with_fields(twin.requires, profiles=(profile.name,))))
        else:
            found[place] = _also_under(found[place], profile.name)
    yields_twins = vector.requires.profiles[0] == KIP.name and not has_variant
    yield from found if yields_twins else found[:1]


def _twin_subject(subject: Subject, profile: str) -> Subject:
    return replace(subject, id=f"{subject.id}.{profile}", title=f"{subject.title} ({profile})")


def _also_under(vector: Vector, profile: str) -> Vector:
    named = {*vector.requires.profiles, profile}
    own, *_ = vector.requires.profiles
    others = [name for name in PROFILES if name in named and name != own]
    return with_fields(vector, requires=with_fields(vector.requires, profiles=(own, *others)))


def _says_the_same(vector: Vector, twin: Vector) -> bool:
    named = with_fields(twin, id=vector.id, title=vector.title, cluster=vector.cluster, requires=vector.requires)
    same_needs = with_fields(twin.requires, profiles=vector.requires.profiles) == vector.requires
    return named == vector and same_needs
