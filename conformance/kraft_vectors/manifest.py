"""Manifest of the vectors, apart from their types, which take long to import."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder

from kraft_traces.values import Count
from kraft_vectors.features import Level, Subject

SCHEMA: Literal["kraft-vector/1"] = "kraft-vector/1"

MANIFEST = "manifest.json"

VectorId = Annotated[
    str,
    Meta(
        pattern=r"^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$(?!\n)",
        description="Permanent: never given to another vector.",
    ),
]

_Kind = TypeVar("_Kind")


class ManifestEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """Entry of a vector."""

    id: VectorId
    file: str
    sha256: str
    level: Level
    rules: tuple[str, ...]
    steps: Count
    history: Count | None
    """Null if the vector begins in a constructed state."""
    profiles: tuple[str, ...] = ()
    """Profiles with this outcome."""
    subject: Subject = "replica"
    """Subject, which decides the schema: `kraft-partition-vector/1` for `partitions`."""


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """List of all vectors of a folder."""

    schema: Literal["kraft-vector/1"]
    vectors: tuple[ManifestEntry, ...]
    """Entries by id."""


_MANIFESTS: Decoder[Manifest] = Decoder(Manifest)


class VectorFileError(ValueError):
    """A file of vectors is malformed.

    Attributes:
        file: the file.
        detail: the problem and the expectation.
    """

    def __init__(self, file: Path, detail: str) -> None:
        super().__init__(file, detail)
        self.file = file
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.file}: {self.detail}"


def vector_folder() -> Path:
    """Return the folder of the package's vectors."""
    return Path(str(files("kraft_vectors") / "data"))


def read_manifest(folder: Path | None = None) -> Manifest:
    """Read the manifest of a folder, by default the package's.

    Raises:
        VectorFileError: the manifest cannot be read.
    """
    path = (vector_folder() if folder is None else folder) / MANIFEST
    return decode_file(path, _MANIFESTS.decode, read_file(path))


def read_file(path: Path) -> bytes:
    """Read a file of vectors.

    Raises:
        VectorFileError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise VectorFileError(path, f"cannot be read: {error.strerror}") from error


def decode_file(path: Path, decode: Callable[[bytes], _Kind], raw: bytes) -> _Kind:
    """Decode the bytes of a file.

    Raises:
        VectorFileError: they are malformed.
    """
    try:
        return decode(raw)
    except (DecodeError, UnicodeDecodeError) as error:
        raise VectorFileError(path, str(error)) from error
