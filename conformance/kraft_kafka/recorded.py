"""Recorded results of running releases of Apache Kafka.

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
    """Results of the vectors and the findings on one release."""

    version: str
    profile: str
    observability: str
    command: str
    """Command that repeats the vectors."""
    date: str
    """YYYY-MM-DD, UTC."""
    commit: str
    """Commit of the suite, with the suffix `-dirty` if there were uncommitted changes."""
    findings: tuple[str, ...]
    """Findings whose whole schedule the release follows, as `kraft-spec kafka finding` plays it."""
    statuses: dict[str, Status]
    """By vector id; vectors that were not run are absent."""


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All recorded results."""

    vectors: str
    """SHA-256 of the manifest of the vectors, in hexadecimal."""
    releases: tuple[RecordedRun, ...]
    """The oldest first."""

    @property
    def is_current(self) -> bool:
        """True if the recorded runs used the current vectors."""
        return self.vectors == manifest_digest()

    def releases_with(self, finding: str) -> str:
        """Return the releases that show a finding, in words: `4.0.2 to 4.3.1`."""
        showing = {run.version for run in self.releases if finding in run.findings}
        return in_words(showing, [run.version for run in self.releases])


def in_words(some: Collection[str], versions: Sequence[str]) -> str:
    """Return some of the versions in words: more than two are a range if none between them is missing."""
    places = [place for place, version in enumerate(versions) if version in some]
    named = [versions[place] for place in places]
    if not named:
        return "no release"
    if len(named) > 2 and places[-1] - places[0] == len(named) - 1:
        return f"{named[0]} to {named[-1]}"
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))


def manifest_digest() -> str:
    """Return the SHA-256 of the manifest of the package's vectors, in hexadecimal."""
    return sha256((vector_folder() / MANIFEST).read_bytes()).hexdigest()


def with_releases(text: str, finding: str) -> str:
    """Replace `{shown}` in a text by the recorded releases that show a finding."""
    return text.replace("{shown}", load_recorded().releases_with(finding))


@cache
def load_recorded() -> Recorded:
    """Load the recorded results.

    Raises:
        msgspec.DecodeError: the file is malformed.
    """
    return msgspec.json.decode((files("kraft_kafka") / FILE_NAME).read_bytes(), type=Recorded)
