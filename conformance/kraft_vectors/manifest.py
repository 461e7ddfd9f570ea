"""The list of the vectors, for those who want no vector: their types take long to import."""

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
    """One vector in the manifest."""

    id: VectorId
    file: str
    sha256: str
    level: Level
    rules: tuple[str, ...]
    steps: Count
    history: Count | None
    """Null if the vector begins in a constructed state."""
    profiles: tuple[str, ...] = ()
    """Those under which this is the outcome."""
    subject: Subject = "replica"
    """Whose vector it is, and so its schema: `kraft-partition-vector/1` for `partitions`."""


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """What the package carries."""

    schema: Literal["kraft-vector/1"]
    vectors: tuple[ManifestEntry, ...]
    """By id."""


_MANIFESTS: Decoder[Manifest] = Decoder(Manifest)


class VectorFileError(ValueError):
    """A file of vectors that is not what it should be.

    Attributes:
        file: the file.
        detail: what is wrong and what was expected.
    """

    def __init__(self, file: Path, detail: str) -> None:
        super().__init__(file, detail)
        self.file = file
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.file}: {self.detail}"


def vector_folder() -> Path:
    """Where the package keeps its vectors."""
    return Path(str(files("kraft_vectors") / "data"))


def read_manifest(folder: Path | None = None) -> Manifest:
    """What there is in a folder of vectors, by default in that of the package.

    Raises:
        VectorFileError: the manifest cannot be read.
    """
    path = (vector_folder() if folder is None else folder) / MANIFEST
    return decode_file(path, _MANIFESTS.decode, read_file(path))


def read_file(path: Path) -> bytes:
    """The bytes of a file of vectors.

    Raises:
        VectorFileError: there are none.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise VectorFileError(path, f"cannot be read: {error.strerror}") from error


def decode_file(path: Path, decode: Callable[[bytes], _Kind], raw: bytes) -> _Kind:
    """What these bytes of a file mean.

    Raises:
        VectorFileError: they are not what they should be.
    """
    try:
        return decode(raw)
    except (DecodeError, UnicodeDecodeError) as error:
        raise VectorFileError(path, str(error)) from error
