"""The profiles that vectors name: where those of Apache Kafka are other ones than `kip`, and where it was read."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files

import msgspec

from kraft_partitions import decisions
from kraft_reference.profile import KAFKA_4, KAFKA_PROFILES, KIP, PROFILES
from kraft_vectors.features import Subject

FILE_NAME = "kafka_4.toml"
REPOSITORY = "apache/kafka"

SUFFIX = f".{KAFKA_4.name}"
SUFFIXES = tuple(f".{one.name}" for one in KAFKA_PROFILES)
"""Ends the id of a vector that says what happens under such a profile; the one of the same id without it says `kip`."""

EXPERIMENTAL = frozenset(one.name for one in KAFKA_PROFILES)
"""Profiles of software: its answers were read, and shown by running releases as far as results/profiles says."""

_OF_PARTITIONS = frozenset(one.name for one in fields(decisions.ReassignmentProfile) if one.name != "name")


class KafkaFileError(ValueError):
    """kafka_4.toml is not what it should be."""


class Revision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A commit of apache/kafka."""

    commit: str
    """40 hexadecimal digits."""
    what: str
    """Which release it is, as far as that was to be found out."""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place in a source file of apache/kafka."""

    path: str
    revision: str
    """A commit."""
    where: str
    """The methods."""
    verified: bool
    """Whether the file was read at this revision for this entry."""

    def __str__(self) -> str:
        unread = "" if self.verified else ", not verified"
        return f"{REPOSITORY} {self.path} at {self.revision} ({self.where}{unread})"


def _are_read(sources: tuple[Source, ...]) -> bool:
    return bool(sources) and all(one.verified for one in sources)


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision that the two profiles answer differently."""

    decision: str
    """A field of `Profile`, or of `ReassignmentProfile` for the controllers of partitions."""
    rules: tuple[str, ...]
    kip: str
    kafka: str
    caution: str
    """What to mind of Kafka's answer; may be empty."""
    source: tuple[Source, ...]
    vectors: tuple[str, ...]
    """The ids of the vectors of kafka-4 alone that show it."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Ids of vectors that are each other's variants, kip first, and whose ids don't say so."""
    later: tuple[Source, ...] = ()
    """Where a later revision does otherwise."""
    without_vector: str = ""
    """Why no vector shows it."""

    @property
    def verified(self) -> bool:
        """Was every source of Kafka's answer read?"""
        return _are_read(self.source)

    @property
    def subject(self) -> Subject:
        """Whose decision it is."""
        return "partitions" if self.decision in _OF_PARTITIONS else "replica"

    @property
    def answers(self) -> dict[str, str]:
        """By the name of the profile, kip first; controllers of partitions have kafka-4 alone."""
        profiles = decisions.PROFILES if self.subject == "partitions" else PROFILES
        return {name: str(getattr(profile, self.decision)) for name, profile in profiles.items()}

    def differs_under(self, profile: str) -> bool:
        """Is the answer of the profile another one than that of kip?"""
        return self.answers.get(profile, self.answers[KIP.name]) != self.answers[KIP.name]

    def shown_on(self, statuses: Mapping[str, str]) -> tuple[str, ...]:
        """The vectors that show the answer of a profile, of those that a release has run with these statuses."""
        variants = [self.kip_variant(vector) for vector in self.vectors]
        shown = [vector for vector in (*self.vectors, *variants) if vector is not None]
        return tuple([vector for vector in dict.fromkeys(shown) if statuses.get(vector) == "pass"])

    def kip_variant(self, vector_id: str) -> str | None:
        """The id of the vector that says what happens under kip where one of kafka-4 says this.

        A longer course of events that kip does not take has none.
        """
        suffix = next((one for one in SUFFIXES if vector_id.endswith(one)), "")
        if suffix:
            return vector_id.removesuffix(suffix)
        return next((kip for kip, kafka in self.pairs if kafka == vector_id), None)


class Alike(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision that the two profiles answer alike."""

    decision: str
    rules: tuple[str, ...]
    answer: str
    source: tuple[Source, ...]

    @property
    def verified(self) -> bool:
        """Was every source of Kafka's answer read?"""
        return _are_read(self.source)


class Unexpressed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What Kafka does otherwise, and the profile does not say."""

    rules: tuple[str, ...]
    """Ids, or prefixes that end in `.*`."""
    kafka: str
    reason: str
    source: tuple[Source, ...] = ()

    @property
    def verified(self) -> bool:
        """Was every source read?"""
        return _are_read(self.source)


class KafkaFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of kafka_4.toml."""

    revision: tuple[Revision, ...]
    difference: tuple[Difference, ...]
    alike: tuple[Alike, ...]
    unexpressed: tuple[Unexpressed, ...]
    agreeing: dict[str, str]
    """Rules whose note in the catalogue reads like a difference and is none, with the reason."""


@cache
def read_kafka_file() -> KafkaFile:
    """What is known of Apache Kafka.

    Raises:
        KafkaFileError: the file is malformed.
    """
    raw = files("kraft_vectors").joinpath(FILE_NAME).read_bytes()
    try:
        return msgspec.toml.decode(raw, type=KafkaFile)
    except msgspec.DecodeError as error:
        raise KafkaFileError(f"{FILE_NAME}: {error}") from error


def difference_of(vector_id: str) -> Difference | None:
    """The difference that a vector of kafka-4 alone shows; None for other vectors."""
    return next((one for one in read_kafka_file().difference if vector_id in one.vectors), None)


def shown_profile(name: str) -> str:
    """The name of a profile as people see it: `kafka-4 (experimental)`."""
    return f"{name} (experimental)" if name in EXPERIMENTAL else name


def provenance(vector_id: str) -> str:
    """Where the outcome of a vector comes from that holds under kafka-4 alone, in a line; empty for other vectors."""
    found = difference_of(vector_id)
    if found is None:
        return ""
    whence = shown_profile(next((one[1:] for one in SUFFIXES if vector_id.endswith(one)), KAFKA_4.name))
    if not found.verified:
        return f"{whence}, not verified: {found.decision}"
    return f"{whence}: {found.decision}, read in {'; '.join(map(str, found.source))}"


def summary_of(profile: str) -> str:
    """What a reader of a whole run should know of its profile, in a line; empty if there is nothing to say."""
    if profile not in EXPERIMENTAL:
        return ""
    found = [one for one in read_kafka_file().difference if one.differs_under(profile)]
    unread = [one.decision for one in found if not one.verified]
    said = f"{len(unread)} not verified ({', '.join(unread)})" if unread else "none of them unverified"
    text = f"profile {shown_profile(profile)}: {len(found)} of its answers are not those of {KIP.name}, {said}"
    return f"{text}; the page results/profiles says which of them a running Kafka has shown"
