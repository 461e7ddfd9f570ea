"""Format `kraft-wire/1` of the files of pairs."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

SCHEMA: Literal["kraft-wire/1"] = "kraft-wire/1"

MANIFEST = "manifest.json"


class _Written(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class AbsentField(_Written, frozen=True, kw_only=True):
    """A field that other versions have."""

    field: str
    """Path of the field, with `[]` for each element."""
    ignorable: bool
    """True if a sender drops it; otherwise it sends nothing unless the field has its default."""


class VersionEntry(_Written, frozen=True, kw_only=True):
    """A version of a message."""

    message: str
    kind: Literal["request", "response", "record", "text"]
    version: int
    header_version: int | UnsetType = UNSET
    flexible: bool
    needed: bool
    """True if a rule names the version or its fields; otherwise only Apache Kafka has it."""
    absent: tuple[AbsentField, ...]


class Pair(_Written, frozen=True, kw_only=True):
    """A message as JSON and as bytes."""

    id: str
    """Permanent id."""
    rules: tuple[str, ...]
    message: str
    kind: Literal["request", "response", "record", "text"]
    version: int
    values: Literal["minimal", "typical", "error", "lowest", "highest", "unknown-tags", "unknown-tags-within"]
    """Defaults; leader 1 in epoch 4 of the voters 1, 2 and 3, which 4 joins; an error; limits of each field; unknown
    tagged fields, in the structs of tagged fields too."""
    json: dict[str, Any]
    """`header` and `body` of a message, the batch of a control record, or the content of a file."""
    hex: str | UnsetType = UNSET
    """Bytes of a request or response with its length in front, or of a batch."""
    text: str | UnsetType = UNSET
    """Text of a file, in place of hex."""
    dropped: tuple[str, ...] = ()
    """Paths of fields that the encoding dropped, because this version lacks them."""


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
    """First field that the version would lose."""


class WireFile(_Written, frozen=True, kw_only=True):
    """The pairs of one API, of the control records, or of the file quorum-state."""

    schema: Literal["kraft-wire/1"]
    name: str
    api_key: int | UnsetType = UNSET
    sources: dict[str, str]
    """File and revision that the fields of each message were read from."""
    versions: tuple[VersionEntry, ...]
    pairs: tuple[Pair, ...]
    refusals: tuple[Refusal, ...] = ()


class ManifestFile(_Written, frozen=True, kw_only=True):
    """A file of pairs."""

    file: str
    sha256: str
    pairs: int


class Manifest(_Written, frozen=True, kw_only=True):
    """List of the files."""

    schema: Literal["kraft-wire/1"]
    files: tuple[ManifestFile, ...]


def split_camel_case(name: str, mark: str) -> str:
    """Return a camel-case name as words in lower case: `replica_id` for `replicaId`."""
    return "".join(f"{mark}{letter.lower()}" if letter.isupper() else letter for letter in name).removeprefix(mark)
