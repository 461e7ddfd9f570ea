"""Profiles of vectors: how those of Apache Kafka differ from `kip`, with their sources."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files

import msgspec

from kraft_partitions import decisions
from kraft_reference.profile import KAFKA_4, KAFKA_PROFILES, KIP, PROFILES, settings
from kraft_vectors.features import Subject

FILE_NAME = "kafka_4.toml"
REPOSITORY = "apache/kafka"

SUFFIX = f".{KAFKA_4.name}"
SUFFIXES = tuple(f".{kafka_profile.name}" for kafka_profile in KAFKA_PROFILES)
"""Suffixes of ids of vectors for Kafka's profiles; the id without suffix is the vector for `kip`."""

EXPERIMENTAL = frozenset(kafka_profile.name for kafka_profile in KAFKA_PROFILES)
"""Profiles of software, read from its source; results/profiles lists what running releases have shown."""

_OF_PARTITIONS = frozenset(field.name for field in fields(decisions.ReassignmentProfile) if field.name != "name")


class KafkaFileError(ValueError):
    """kafka_4.toml is malformed."""


class Revision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A commit of apache/kafka."""

    commit: str
    """40 hexadecimal digits."""
    what: str
    """Release, as far as known."""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place in a source file of apache/kafka."""

    path: str
    revision: str
    """A commit."""
    where: str
    """Methods."""
    verified: bool
    """True if the file was read at this revision for this entry."""

    def __str__(self) -> str:
        unread = "" if self.verified else ", not verified"
        return f"{REPOSITORY} {self.path} at {self.revision} ({self.where}{unread})"


def _are_read(sources: tuple[Source, ...]) -> bool:
    return bool(sources) and all(source.verified for source in sources)


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision with different settings in the two profiles."""

    decision: str
    """A field of `Profile`, or of `ReassignmentProfile` for the controllers of partitions."""
    rules: tuple[str, ...]
    kip: str
    kafka: str
    caution: str
    """Remark on Kafka's setting; may be empty."""
    source: tuple[Source, ...]
    vectors: tuple[str, ...]
    """Ids of the vectors only for kafka-4 that show it."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Pairs of variants, kip first, whose ids do not show that they are variants."""
    later: tuple[Source, ...] = ()
    """Sources of later revisions that differ."""
    without_vector: str = ""
    """Reason why no vector shows it."""

    @property
    def verified(self) -> bool:
        """True if every source of Kafka's setting was read."""
        return _are_read(self.source)

    @property
    def subject(self) -> Subject:
        """Subject of the decision."""
        return "partitions" if self.decision in _OF_PARTITIONS else "replica"

    @property
    def answers(self) -> dict[str, str]:
        """Settings by profile, kip first; partition controllers have only kafka-4."""
        if self.subject == "partitions":
            return {name: str(getattr(profile, self.decision)) for name, profile in decisions.PROFILES.items()}
        return {name: settings(profile)[self.decision] for name, profile in PROFILES.items()}

    def differs_under(self, profile: str) -> bool:
        """True if the profile's setting differs from kip's."""
        return self.answers.get(profile, self.answers[KIP.name]) != self.answers[KIP.name]

    def shown_on(self, statuses: Mapping[str, str]) -> tuple[str, ...]:
        """Return the vectors that show the setting, among those that a release has run with these statuses."""
        variants = [self.kip_variant(vector) for vector in self.vectors]
        candidates = [vector for vector in (*self.vectors, *variants) if vector is not None]
        return tuple([vector for vector in dict.fromkeys(candidates) if statuses.get(vector) == "pass"])

    def kip_variant(self, vector_id: str) -> str | None:
        """Return the id of the kip variant of a vector for kafka-4; None if there is none."""
        suffix = next((ending for ending in SUFFIXES if vector_id.endswith(ending)), "")
        if suffix:
            return vector_id.removesuffix(suffix)
        return next((kip for kip, kafka in self.pairs if kafka == vector_id), None)


class Alike(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision with the same setting in both profiles."""

    decision: str
    rules: tuple[str, ...]
    answer: str
    source: tuple[Source, ...]

    @property
    def verified(self) -> bool:
        """True if every source of Kafka's setting was read."""
        return _are_read(self.source)


class Unexpressed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A difference of Kafka that the profile cannot express."""

    rules: tuple[str, ...]
    """Ids, or prefixes that end in `.*`."""
    kafka: str
    reason: str
    source: tuple[Source, ...] = ()

    @property
    def verified(self) -> bool:
        """True if every source was read."""
        return _are_read(self.source)


class KafkaFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Content of kafka_4.toml."""

    revision: tuple[Revision, ...]
    difference: tuple[Difference, ...]
    alike: tuple[Alike, ...]
    unexpressed: tuple[Unexpressed, ...]
    agreeing: dict[str, str]
    """Reasons why a rule's note in the catalogue is not a difference, by rule."""


@cache
def read_kafka_file() -> KafkaFile:
    """Read kafka_4.toml.

    Raises:
        KafkaFileError: the file is malformed.
    """
    raw = files("kraft_vectors").joinpath(FILE_NAME).read_bytes()
    try:
        return msgspec.toml.decode(raw, type=KafkaFile)
    except msgspec.DecodeError as error:
        raise KafkaFileError(f"{FILE_NAME}: {error}") from error


def difference_of(vector_id: str) -> Difference | None:
    """Return the difference that a vector only for kafka-4 shows; None for other vectors."""
    return next((difference for difference in read_kafka_file().difference if vector_id in difference.vectors), None)


def shown_profile(name: str) -> str:
    """Return the displayed name of a profile, such as `kafka-4 (experimental)`."""
    return f"{name} (experimental)" if name in EXPERIMENTAL else name


def provenance(vector_id: str) -> str:
    """Return the source of the outcome of a vector only for kafka-4; empty for other vectors."""
    difference = difference_of(vector_id)
    if difference is None:
        return ""
    whence = shown_profile(next((ending[1:] for ending in SUFFIXES if vector_id.endswith(ending)), KAFKA_4.name))
    if not difference.verified:
        return f"{whence}, not verified: {difference.decision}"
    return f"{whence}: {difference.decision}, read in {'; '.join(map(str, difference.source))}"


def summary_of(profile: str) -> str:
    """Return a line about an experimental profile; empty for others."""
    if profile not in EXPERIMENTAL:
        return ""
    differences = [difference for difference in read_kafka_file().difference if difference.differs_under(profile)]
    unread = [difference.decision for difference in differences if not difference.verified]
    unread_text = f"{len(unread)} not verified ({', '.join(unread)})" if unread else "none of them unverified"
    text = f"profile {shown_profile(profile)}: {len(differences)} of its settings differ from {KIP.name}, {unread_text}"
    return f"{text}; the page results/profiles lists those that a running Kafka has shown"
