"""The metadata directory of one formatted node: `meta.properties`, the node's properties, the bootstrap checkpoint."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from kraft_conformance.directories import checkpoint, names
from kraft_conformance.directories.errors import no_file
from kraft_conformance.directories.names import ListedVoter, MalformedNameError, random_directory_id
from kraft_conformance.directories.node import NodeProperties, read_node
from kraft_conformance.directories.properties import Properties, read_properties
from kraft_reference.identity import ReplicaKey
from kraft_traces.streams import whole_file

_Read = TypeVar("_Read")
Nodes = Mapping[int, "MetadataDirectory"]

META = "meta.properties"
NODE = "node.properties"
"""A copy of the properties that the node was formatted or last started with, so that a start needs no other file."""


@dataclass(frozen=True, slots=True)
class MetadataDirectory:
    """What stands on the disk of a node before it has ever run."""

    path: Path
    cluster_id: str
    key: ReplicaKey
    """Node id and directory id.  Rule: identity.directory-id-at-format."""
    node: NodeProperties
    voters: tuple[ListedVoter, ...] | None
    """Of the bootstrap checkpoint; None without one.

    Rules: bootstrap.multi-voter, bootstrap.no-list-means-observer."""

    @property
    def initial_keys(self) -> tuple[ReplicaKey, ...]:
        """The voters that formatting gave it, by id; without a checkpoint the static ones."""
        listed = self.node.static_voters if self.voters is None else self.voters
        return tuple(ReplicaKey(voter.id, voter.directory_id) for voter in listed)

    @property
    def is_static(self) -> bool:
        """Does the node belong to a quorum of static voters?  Rule: bootstrap.static-quorum."""
        return self.voters is None and bool(self.node.static_voters)

    def keep_properties(self, text: str) -> None:
        """Keep the properties that the node was started with, for its next start."""
        with whole_file(self.path / NODE) as file:
            file.write(text.encode())


def with_properties(directory: MetadataDirectory, node: NodeProperties, nodes: Nodes) -> MetadataDirectory:
    """The directory of a node that is started with other properties.

    Args:
        directory: as it is formatted.
        node: the other properties.
        nodes: all nodes of the cluster as they are started.

    Raises:
        CommandError: the properties name another directory, or an endpoint where another node is.
    """
    own = directory.node.metadata_directory
    if node.metadata_directory != own:
        raise node.wrong_directory(f"{node.metadata_directory!r}, expected {own!r}: node {node.id} is formatted there")
    other = next((one for one in nodes.values() if one.key.id != node.id and one.node.endpoint == node.endpoint), None)
    if other is not None:
        raise node.wrong_endpoint(f"{node.endpoint}, expected another endpoint: node {other.key.id} is there")
    return replace(directory, node=node)


def is_formatted(path: Path) -> bool:
    """Is there a metadata directory at this path?"""
    return (path / META).exists()


def read_metadata_directory(path: Path) -> MetadataDirectory:
    """What a metadata directory says; one of an older release gets its directory id here, once and for good.

    Raises:
        CommandError: a file in it is missing or malformed; the message names file, line and field.

    Rule: identity.directory-id-on-upgrade.
    """
    if not is_formatted(path):
        raise no_file(
            path, f"is not formatted: no {META}; expected a folder that `kraft-spec admin storage format` made"
        )
    meta = _with_directory_id(read_properties(path / META), path / META)
    node = read_node(path / NODE)
    node_id = _checked(meta, "node.id", names.replica_id)
    if node_id != node.id:
        raise meta.wrong("node.id", f"{node_id}, but {path / NODE} says node.id={node.id}")
    snapshot = path / checkpoint.FILE_NAME
    return MetadataDirectory(
        path=path,
        cluster_id=_checked(meta, "cluster.id", names.cluster_id),
        key=ReplicaKey(node.id, _checked(meta, "directory.id", names.directory_id)),
        node=node,
        voters=checkpoint.read_checkpoint(snapshot) if snapshot.exists() else None,
    )


def meta_text(cluster_id: str, key: ReplicaKey) -> str:
    """`meta.properties` of a newly formatted directory.  Rules: bootstrap.same-cluster-id, identity.replica-key."""
    return f"version=1\ncluster.id={cluster_id}\nnode.id={key.id}\ndirectory.id={key.directory_id}\n"


def _with_directory_id(meta: Properties, path: Path) -> Properties:
    """The same with a directory id, which is on disk before anything names it."""
    if meta.get("directory.id") is not None:
        return meta
    text = path.read_text()
    with whole_file(path) as file:
        file.write(f"{text}{'' if text.endswith(chr(10)) else chr(10)}directory.id={random_directory_id()}\n".encode())
    return read_properties(path)


def _checked(meta: Properties, name: str, parse: Callable[[str], _Read]) -> _Read:
    try:
        return parse(meta.required(name, "what `kraft-spec admin storage format` writes"))
    except MalformedNameError as error:
        raise meta.wrong(name, str(error)) from error
