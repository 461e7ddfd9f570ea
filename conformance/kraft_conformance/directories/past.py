"""What a quorum's history says against formatting a node anew."""

from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.directories.errors import refused
from kraft_conformance.directories.formatting import FormatRequest, Voters
from kraft_conformance.directories.history import read_history
from kraft_conformance.directories.node import NodeProperties


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
