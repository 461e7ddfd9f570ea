"""The files of pairs: `kraft-wire/1`."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

SCHEMA: Literal["kraft-wire/1"] = "kraft-wire/1"

MANIFEST = "manifest.json"


class _Written(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class AbsentField(_Written, frozen=True, kw_only=True):
    """A field that other versions have."""

    field: str
    """Its path, `[]` for each element."""
    ignorable: bool
    """Whether a sender drops it; if not, it sends nothing unless the field has its default."""


class VersionEntry(_Written, frozen=True, kw_only=True):
    """One version of a message."""

    message: str
    kind: Literal["request", "response", "record", "text"]
    version: int
    header_version: int | UnsetType = UNSET
    flexible: bool
    needed: bool
    """Whether a rule names it or speaks of its fields; otherwise Apache Kafka alone has it."""
    absent: tuple[AbsentField, ...]


class Pair(_Written, frozen=True, kw_only=True):
    """A message as JSON and as bytes."""

    id: str
    """Permanent."""
    rules: tuple[str, ...]
    message: str
    kind: Literal["request", "response", "record", "text"]
    version: int
    values: Literal["minimal", "typical", "error", "lowest", "highest", "unknown-tags", "unknown-tags-within"]
    json: dict[str, Any]
    """`header` and `body`; of a control record the batch; of a file its content."""
    hex: str | UnsetType = UNSET
    """Of a request or response with its length in front, or of a batch."""
    text: str | UnsetType = UNSET
    """Of a file, in place of hex."""
    dropped: tuple[str, ...] = ()
    """Paths of what stood in the message before it was encoded, and is in no byte: this version lacks it."""


class Refusal(_Written, frozen=True, kw_only=True):
    """A message that must not be sent in a version.  Rule: wire.negotiation."""

    id: str
    rules: tuple[str, ...]
    message: str
    kind: Literal["request", "response"]
    version: int
    json: dict[str, Any]
    error: Literal["UNSUPPORTED_VERSION"]
    field: str
    """The first field that would get lost."""


class WireFile(_Written, frozen=True, kw_only=True):
    """The pairs of one API, of the control records, or of the file quorum-state."""

    schema: Literal["kraft-wire/1"]
    name: str
    api_key: int | UnsetType = UNSET
    sources: dict[str, str]
    """Of each message: the file and revision that its fields were read from."""
    versions: tuple[VersionEntry, ...]
    pairs: tuple[Pair, ...]
    refusals: tuple[Refusal, ...] = ()


class ManifestFile(_Written, frozen=True, kw_only=True):
    """One of the files."""

    file: str
    sha256: str
    pairs: int


class Manifest(_Written, frozen=True, kw_only=True):
    """What there is."""

    schema: Literal["kraft-wire/1"]
    files: tuple[ManifestFile, ...]


def separated(name: str, mark: str) -> str:
    """A name in camel case as words in small letters: `replicaId` as `replica_id`."""
    return "".join(f"{mark}{letter.lower()}" if letter.isupper() else letter for letter in name).removeprefix(mark)
