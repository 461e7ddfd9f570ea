"""Formatting the metadata directory of a node: all of it or nothing."""

import os
import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from kraft_conformance.directories.checkpoint import FILE_NAME, checkpoint_text
from kraft_conformance.directories.cluster_directory import RESERVED, ClusterDirectory
from kraft_conformance.directories.errors import refused
from kraft_conformance.directories.history import read_history
from kraft_conformance.directories.metadata_directory import (
    META,
    NODE,
    MetadataDirectory,
    is_formatted,
    meta_text,
    read_metadata_directory,
)
from kraft_conformance.directories.names import ListedVoter, random_directory_id
from kraft_conformance.directories.node import STATIC_VOTERS, NodeProperties
from kraft_conformance.failure import usage_error
from kraft_reference.identity import ReplicaKey


class Voters(StrEnum):
    """How the operator names the first voters.  Rule: cli.storage-format."""

    STANDALONE = "--standalone"
    LIST = "--controller-quorum-voters"
    NONE = "--no-initial-controllers"


@dataclass(frozen=True, slots=True)
class FormatRequest:
    """What is asked of formatting beside the node's properties."""

    cluster_id: str
    voters: Voters | None = None
    """None: none of the options was given."""
    listed: tuple[ListedVoter, ...] = ()
    directory_id: str | None = None
    """None for a random one."""
    kraft_version: int | None = None
    """What the release or the feature asks for; None for what the voters imply."""


@dataclass(frozen=True, slots=True)
class Formatted:
    """A directory that was formatted, and what the operator should know."""

    directory: MetadataDirectory
    warnings: tuple[str, ...]


def format_node(cluster: ClusterDirectory, node: NodeProperties, asked: FormatRequest) -> Formatted:
    """Format a node's metadata directory; nothing is left behind if it fails.

    Raises:
        CommandError: the options contradict each other or the properties, the directory is formatted already, or the
            other nodes belong to another cluster.
        OSError: the directory cannot be written.

    Rules: cli.storage-format, identity.directory-id-at-format, bootstrap.standalone, bootstrap.multi-voter,
    bootstrap.no-list-means-observer, bootstrap.static-quorum, bootstrap.same-cluster-id.
    """
    _check_options(node, asked)
    key = ReplicaKey(node.id, _directory_id(node, asked))
    voters = _voters(node, key, asked)
    if Path(node.metadata_directory).parts[0] in RESERVED:
        raise node.wrong_directory(
            f"{node.metadata_directory!r}, expected another name: the cluster directory has a file of its own there"
        )
    target = cluster.path / node.metadata_directory
    if is_formatted(target):
        known = read_metadata_directory(target).key
        raise refused(f"{target} is formatted already, for node {known}; formatting twice is refused")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise refused(f"{target} is not empty, expected no such folder or an empty one")
    warnings = _check_siblings(cluster, node, key, asked, voters)
    _write(target, node, asked.cluster_id, key, voters)
    return Formatted(read_metadata_directory(target), (*node.likely_typos(), *warnings))


def _check_options(node: NodeProperties, asked: FormatRequest) -> None:
    """The options and the properties must want the same kind of quorum."""
    names_voters = asked.voters in (Voters.STANDALONE, Voters.LIST)
    if names_voters and not node.is_controller:
        raise usage_error(f"{asked.voters} is for controllers, and {node.source} says process.roles=broker")
    if asked.voters is not None and node.static_voters:
        raise node.properties.wrong(
            STATIC_VOTERS, f"names static voters, which {asked.voters} contradicts; expected one of the two"
        )
    if asked.kraft_version is not None and asked.kraft_version > 1:
        raise usage_error(f"--feature kraft.version={asked.kraft_version}: expected kraft.version=0 or kraft.version=1")
    if asked.kraft_version == 0 and names_voters:
        raise usage_error(f"{asked.voters} makes a quorum at kraft.version 1, and version 0 is asked for")
    if asked.kraft_version == 1 and node.static_voters:
        raise node.properties.wrong(
            STATIC_VOTERS, "names static voters, which exist at kraft.version 0 only; upgrade the running quorum later"
        )


def _directory_id(node: NodeProperties, asked: FormatRequest) -> str:
    """The listed one for a listed node, else the one asked for, else a random one.  Rule: bootstrap.multi-voter."""
    listed = next((voter for voter in asked.listed if voter.id == node.id), None)
    if listed is None or listed.directory_id is None:
        return asked.directory_id or random_directory_id()
    if asked.directory_id not in (None, listed.directory_id):
        raise usage_error(
            f"the list gives node {node.id} another directory id than --directory-id: {listed.directory_id}"
        )
    if listed.endpoint != node.endpoint:
        raise usage_error(f"the list says node {node.id} is at {listed.endpoint}, {node.source} says {node.endpoint}")
    return listed.directory_id


def _voters(node: NodeProperties, key: ReplicaKey, asked: FormatRequest) -> tuple[ListedVoter, ...] | None:
    """The voters of the bootstrap checkpoint; None for a node that gets none."""
    if asked.voters is Voters.STANDALONE:
        return (ListedVoter(key.id, node.endpoint, key.directory_id),)
    return asked.listed if asked.voters is Voters.LIST else None


def _check_siblings(
    cluster: ClusterDirectory,
    node: NodeProperties,
    key: ReplicaKey,
    asked: FormatRequest,
    voters: tuple[ListedVoter, ...] | None,
) -> list[str]:
    """What the other nodes of the directory say against it; warnings for what no quorum would notice either."""
    warnings: list[str] = []
    others = cluster.nodes() if cluster.path.is_dir() else {}
    for other in others.values():
        if other.key.id == node.id:
            raise refused(f"node {node.id} is formatted already, in {other.path}")
        if other.node.endpoint == node.endpoint:
            raise refused(f"node {other.key.id} is at {node.endpoint} already, in {other.path}")
        if other.key.directory_id == key.directory_id:
            raise refused(f"node {other.key.id} has the directory id {key.directory_id} already, in {other.path}")
        if other.cluster_id != asked.cluster_id:
            raise refused(
                f"{other.path} belongs to cluster {other.cluster_id}, not to {asked.cluster_id}; "
                "expected one cluster id on all nodes (bootstrap.same-cluster-id)"
            )
        dynamic, static = other.voters is not None, other.is_static
        if (dynamic and node.static_voters) or (static and voters is not None):
            level = "names its voters at kraft.version 1" if dynamic else "has static voters, at kraft.version 0"
            raise refused(f"{other.path} {level}; expected the same of every node of a cluster")
        if static and node.static_voters and node.static_voters != other.node.static_voters:
            raise refused(f"{other.path} has other static voters; {STATIC_VOTERS} must be equal on all nodes")
        if voters is not None and other.voters is not None and voters != other.voters:
            warnings.append(
                f"node {other.key.id} was formatted with other voters; nothing in the protocol verifies that the sets "
                "are equal, and disjoint majorities can elect two leaders (bootstrap.sets-must-be-equal)"
            )
    return warnings


def _write(
    target: Path, node: NodeProperties, cluster_id: str, key: ReplicaKey, voters: tuple[ListedVoter, ...] | None
) -> None:
    files = {NODE: node.source.read_text()}
    if voters is not None:
        files[FILE_NAME] = checkpoint_text(voters)
    # Last, because it is what makes the directory a formatted one.
    files[META] = meta_text(cluster_id, key)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.parent / f".{target.name}.{os.getpid()}.part"
    try:
        partial.mkdir()
        for name, text in files.items():
            with (partial / name).open("x", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        partial.replace(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def check_may_return(cluster: ClusterDirectory, node: NodeProperties, asked: FormatRequest) -> None:
    """If the node has run before: does the new disk bring neither voters of its own nor an old directory id?

    Raises:
        CommandError: it does.
        TraceError: the history is no trace.

    Rules: bootstrap.no-list-means-observer, identity.directory-id-at-format.
    """
    if not cluster.history.exists():
        return
    history, world = read_history(cluster.history)
    if node.id not in history.with_a_past:
        return
    if asked.voters in (Voters.STANDALONE, Voters.LIST):
        raise refused(
            f"node {node.id} has run before, as {world.state(node.id).key}; a new disk that brings voters of its own "
            f"could bring back an old set, expected {Voters.NONE}"
        )
    if asked.directory_id in history.directory_ids(node.id):
        raise refused(
            f"node {node.id} has run on directory {asked.directory_id} before; a blank disk under an old directory id "
            "would pass for the voter that it was (identity.directory-id-at-format)"
        )
