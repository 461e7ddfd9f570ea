"""The vectors that the package carries, or those of a folder like it."""

from collections.abc import Callable, Iterator
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias, TypeVar

from msgspec import DecodeError

from kraft_conformance.vectors.encoding import manifest_from, partition_vector_from, vector_from
from kraft_conformance.vectors.format import Manifest, ManifestEntry, Vector
from kraft_conformance.vectors.partitions.format import PartitionVector

MANIFEST = "manifest.json"

AnyVector: TypeAlias = Vector | PartitionVector
"""A vector of either subject."""

_Kind = TypeVar("_Kind")


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
    return Path(str(files("kraft_conformance") / "vectors" / "data"))


class Catalogue:
    """The vectors of one folder, by its manifest; a vector is read when it is asked for."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = vector_folder() if folder is None else folder

    @cached_property
    def manifest(self) -> Manifest:
        """What there is.

        Raises:
            VectorFileError: the manifest cannot be read.
        """
        path = self.folder / MANIFEST
        return _decoded(path, manifest_from, self._read(path))

    @cached_property
    def entries(self) -> dict[str, ManifestEntry]:
        """The entries by id."""
        return {entry.id: entry for entry in self.manifest.vectors}

    @cached_property
    def profiles(self) -> frozenset[str]:
        """The profiles that vectors name."""
        return frozenset(name for entry in self.entries.values() for name in entry.profiles)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def vector(self, vector_id: str) -> AnyVector:
        """A vector.

        Raises:
            KeyError: there is none of this id.
            VectorFileError: its file is not the one that the manifest describes.
        """
        entry = self.entries[vector_id]
        path = self.folder / entry.file
        raw = self._read(path)
        digest = sha256(raw).hexdigest()
        if digest != entry.sha256:
            raise VectorFileError(path, f"SHA-256 {digest}, expected {entry.sha256} as in {MANIFEST}")
        decode: Callable[[bytes], AnyVector] = partition_vector_from if entry.subject == "partitions" else vector_from
        vector = _decoded(path, decode, raw)
        if vector.id != vector_id:
            raise VectorFileError(path, f"the vector {vector.id!r}, expected {vector_id!r} as in {MANIFEST}")
        return vector

    def of_replicas(self) -> tuple[Vector, ...]:
        """Every vector of a replica of the quorum.

        Raises:
            VectorFileError: as `vector`.
        """
        return tuple([one for one in map(self.vector, self) if isinstance(one, Vector)])

    def of_replica(self, vector_id: str) -> Vector:
        """A vector of a replica of the quorum.

        Raises:
            KeyError: there is none of this id, or its subject is another one.
            VectorFileError: as `vector`.
        """
        vector = self.vector(vector_id)
        if not isinstance(vector, Vector):
            raise KeyError(vector_id)
        return vector

    def _read(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise VectorFileError(path, f"cannot be read: {error.strerror}") from error


def _decoded(path: Path, decode: Callable[[bytes], _Kind], raw: bytes) -> _Kind:
    try:
        return decode(raw)
    except (DecodeError, UnicodeDecodeError) as error:
        raise VectorFileError(path, str(error)) from error
