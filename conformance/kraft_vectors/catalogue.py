"""Catalogue of the package's vectors, or of those in another folder."""

from collections.abc import Callable, Iterator
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from kraft_vectors.encoding import partition_vector_from, vector_from
from kraft_vectors.format import Vector
from kraft_vectors.manifest import (
    MANIFEST,
    Manifest,
    ManifestEntry,
    VectorFileError,
    decode_file,
    read_file,
    read_manifest,
    vector_folder,
)
from kraft_vectors.partitions.format import PartitionVector

AnyVector: TypeAlias = Vector | PartitionVector
"""A vector of either subject."""


class Catalogue:
    """Vectors of a folder, by its manifest; each is read on use."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = vector_folder() if folder is None else folder

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest.

        Raises:
            VectorFileError: the manifest cannot be read.
        """
        return read_manifest(self.folder)

    @cached_property
    def entries(self) -> dict[str, ManifestEntry]:
        """Entries by id."""
        return {entry.id: entry for entry in self.manifest.vectors}

    @cached_property
    def profiles(self) -> frozenset[str]:
        """Profiles that vectors name."""
        return frozenset(name for entry in self.entries.values() for name in entry.profiles)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def vector(self, vector_id: str) -> AnyVector:
        """Return a vector.

        Raises:
            KeyError: no vector has this id.
            VectorFileError: its file differs from the manifest.
        """
        entry = self.entries[vector_id]
        path = self.folder / entry.file
        raw = read_file(path)
        digest = sha256(raw).hexdigest()
        if digest != entry.sha256:
            raise VectorFileError(path, f"SHA-256 {digest}, expected {entry.sha256} as in {MANIFEST}")
        decode: Callable[[bytes], AnyVector] = partition_vector_from if entry.subject == "partitions" else vector_from
        vector = decode_file(path, decode, raw)
        if vector.id != vector_id:
            raise VectorFileError(path, f"the vector {vector.id!r}, expected {vector_id!r} as in {MANIFEST}")
        return vector

    def of_replicas(self) -> tuple[Vector, ...]:
        """Return the vectors of the subject `replica`.

        Raises:
            VectorFileError: as `vector`.
        """
        return tuple([vector for vector in map(self.vector, self) if isinstance(vector, Vector)])

    def of_replica(self, vector_id: str) -> Vector:
        """Return a vector of the subject `replica`.

        Raises:
            KeyError: no vector of this subject has this id.
            VectorFileError: as `vector`.
        """
        vector = self.vector(vector_id)
        if not isinstance(vector, Vector):
            raise KeyError(vector_id)
        return vector
