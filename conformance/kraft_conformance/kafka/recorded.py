"""What running releases of Apache Kafka showed; `python -m kraft_dev kafka-matrix --record` makes `recorded.json`."""

from functools import cache
from hashlib import sha256
from importlib.resources import files

import msgspec

from kraft_conformance.runner.outcome import Status
from kraft_conformance.vectors.manifest import MANIFEST, vector_folder

FILE_NAME = "recorded.json"


class RecordedRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The vectors on one release."""

    version: str
    profile: str
    observability: str
    command: str
    """That repeats it."""
    statuses: dict[str, Status]
    """By the id of the vector; those that were left out are not here."""


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that was recorded in one go."""

    date: str
    """YYYY-MM-DD, UTC."""
    commit: str
    """Of the suite, with `-dirty` after it if there were changes that are not committed."""
    vectors: str
    """SHA-256 of the manifest of the vectors, in hexadecimal."""
    releases: tuple[RecordedRun, ...]
    """The oldest first."""

    @property
    def is_current(self) -> bool:
        """Are the vectors still those that were run?"""
        return self.vectors == manifest_digest()


def manifest_digest() -> str:
    """SHA-256 of the manifest of the package's vectors, in hexadecimal."""
    return sha256((vector_folder() / MANIFEST).read_bytes()).hexdigest()


@cache
def load_recorded() -> Recorded:
    """What is recorded.

    Raises:
        msgspec.DecodeError: the file is malformed.
    """
    return msgspec.json.decode((files("kraft_conformance.kafka") / FILE_NAME).read_bytes(), type=Recorded)
