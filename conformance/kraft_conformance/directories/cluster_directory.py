"""A cluster directory: its metadata directories, its histories, and the lock that keeps two commands apart."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kraft_conformance.directories.errors import no_file, refused
from kraft_conformance.directories.metadata_directory import META, MetadataDirectory, read_metadata_directory

HISTORY = "quorum.jsonl"
PARTITIONS = "partitions.jsonl"
_LOCK = ".lock"
RESERVED = (HISTORY, PARTITIONS, _LOCK)
"""Names below the cluster directory that no node may have."""


@dataclass(frozen=True, slots=True)
class ClusterDirectory:
    """The folder of one simulated cluster."""

    path: Path

    @property
    def history(self) -> Path:
        """The trace of everything that the quorum has done."""
        return self.path / HISTORY

    @property
    def partitions(self) -> Path:
        """The trace of everything that has happened to the partitions of its topics."""
        return self.path / PARTITIONS

    def nodes(self) -> dict[int, MetadataDirectory]:
        """The formatted nodes by id.

        Raises:
            CommandError: a metadata directory is malformed, or two have one node id or one directory id.

        Rule: identity.directory-id-at-format.
        """
        nodes: dict[int, MetadataDirectory] = {}
        for meta in sorted(self.path.rglob(META)):
            if any(part.startswith(".") for part in meta.relative_to(self.path).parts):
                continue
            one = read_metadata_directory(meta.parent)
            other = nodes.get(one.key.id)
            if other is not None:
                raise refused(f"{one.path} and {other.path} are both formatted for node {one.key.id}, expected one")
            twin = next((two for two in nodes.values() if two.key.directory_id == one.key.directory_id), None)
            if twin is not None:
                raise refused(
                    f"{one.path} and {twin.path} have both the directory id {one.key.directory_id}, expected one of "
                    "its own for each node: a copied disk is formatted anew"
                )
            nodes[one.key.id] = one
        return dict(sorted(nodes.items()))

    def existing(self) -> "ClusterDirectory":
        """The same, if the folder is there.

        Raises:
            CommandError: it is not.
        """
        if not self.path.is_dir():
            raise no_file(self.path, "no such folder, expected a cluster directory")
        return self

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other commands out.

        Raises:
            CommandError: another command works on this cluster directory.
        """
        with (self.path / _LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise refused(f"{self.path}: another command works on this cluster directory") from None
            yield
