"""What running releases of Apache Kafka showed.

`python -m kraft_dev kafka-matrix --record` makes `recorded.json`, and `kafka-add` adds a release to it.
"""

from collections.abc import Collection, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files

import msgspec

from kraft_conformance.runner.outcome import Status
from kraft_vectors.manifest import MANIFEST, vector_folder

FILE_NAME = "recorded.json"


class RecordedRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The vectors and the findings on one release."""

    version: str
    profile: str
    observability: str
    command: str
    """That repeats the vectors."""
    date: str
    """YYYY-MM-DD, UTC."""
    commit: str
    """Of the suite, with `-dirty` after it if there were changes that are not committed."""
    findings: tuple[str, ...]
    """Those whose schedule it does all of, as `kraft-spec kafka finding` plays it."""
    statuses: dict[str, Status]
    """By the id of the vector; those that were left out are not here."""


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that is recorded."""

    vectors: str
    """SHA-256 of the manifest of the vectors, in hexadecimal."""
    releases: tuple[RecordedRun, ...]
    """The oldest first."""

    @property
    def is_current(self) -> bool:
        """Are the vectors still those that were run?"""
        return self.vectors == manifest_digest()

    def releases_with(self, finding: str) -> str:
        """The releases that show a finding, for a reader: `4.0.2 to 4.3.1`."""
        showing = {run.version for run in self.releases if finding in run.findings}
        return in_words(showing, [run.version for run in self.releases])


def in_words(some: Collection[str], versions: Sequence[str]) -> str:
    """Some of the versions, for a reader: more than two are a range if none between them is missing."""
    places = [place for place, version in enumerate(versions) if version in some]
    named = [versions[place] for place in places]
    if not named:
        return "no release"
    if len(named) > 2 and places[-1] - places[0] == len(named) - 1:
        return f"{named[0]} to {named[-1]}"
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))


def manifest_digest() -> str:
    """SHA-256 of the manifest of the package's vectors, in hexadecimal."""
    return sha256((vector_folder() / MANIFEST).read_bytes()).hexdigest()


def with_releases(text: str, finding: str) -> str:
    """The text with the recorded releases that show a finding in place of `{shown}`."""
    return text.replace("{shown}", load_recorded().releases_with(finding))


@cache
def load_recorded() -> Recorded:
    """What is recorded.

    Raises:
        msgspec.DecodeError: the file is malformed.
    """
    return msgspec.json.decode((files("kraft_kafka") / FILE_NAME).read_bytes(), type=Recorded)
