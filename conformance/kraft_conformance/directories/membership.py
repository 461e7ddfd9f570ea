"""From the metadata directories of a cluster to the configuration of its simulation."""

from dataclasses import replace

from kraft_conformance.directories.errors import refused
from kraft_conformance.directories.metadata_directory import MetadataDirectory, Nodes
from kraft_conformance.directories.names import ListedVoter
from kraft_conformance.directories.node import BOOTSTRAP
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.profile import Profile


def first_configuration(nodes: Nodes, profile: Profile) -> Configuration:
    """The cluster as its operators have formatted it before any of its nodes ran.

    Nodes that are listed as voters and not formatted yet belong to it too.

    Raises:
        CommandError: there is no node, or none names voters.

    Rules: bootstrap.multi-voter, bootstrap.static-quorum, bootstrap.no-list-means-observer.
    """
    if not nodes:
        raise refused("no node is formatted here; begin with `kraft-spec admin storage format`")
    naming = next((one for one in nodes.values() if _listed(one)), None)
    if naming is None:
        raise refused(
            "no node was formatted with voters, so that nobody can ever lead; "
            "format one with --standalone, or some with --controller-quorum-voters"
        )
    listed = _listed(naming)
    voters = _voter_set(listed)
    replicas = {
        voter.id: ReplicaConfiguration(ReplicaKey(voter.id, voter.directory_id), voter.endpoint) for voter in listed
    }
    empty = Configuration(
        replicas=replicas,
        voters=voters,
        kraft_version=0 if naming.is_static else 1,
        cluster_id=naming.cluster_id,
        profile=profile,
    )
    replicas |= {node_id: _replica(one, empty) for node_id, one in nodes.items()}
    empty = replace(empty, replicas=dict(sorted(replicas.items())))
    return replace(empty, bootstrap_servers=_bootstrap_servers(empty, nodes) or tuple(sorted(v.id for v in listed)))


def extended(configuration: Configuration, nodes: Nodes, fresh: frozenset[int]) -> Configuration:
    """The configuration with the nodes that were formatted since, and with those that never ran as they are now.

    What a node has done so far cannot depend on either: nobody knew the new ones, and servers to ask are only added.

    Raises:
        CommandError: a node belongs to another cluster.
    """
    replicas = dict(configuration.replicas)
    for node_id, one in nodes.items():
        if one.cluster_id != configuration.cluster_id:
            raise refused(f"{one.path} belongs to cluster {one.cluster_id}, the quorum to {configuration.cluster_id}")
        if node_id not in replicas or node_id in fresh:
            replicas[node_id] = _replica(one, configuration)
    larger = replace(configuration, replicas=dict(sorted(replicas.items())))
    return replace(larger, bootstrap_servers=_bootstrap_servers(larger, nodes))


def unknown_servers(configuration: Configuration, one: MetadataDirectory) -> list[str]:
    """Warnings about bootstrap servers of a node at which nobody listens."""
    given = one.node.properties
    known = {replica.endpoint for replica in configuration.replicas.values()}
    return [
        f"{given.source}:{given.lines[BOOTSTRAP]}: {BOOTSTRAP}: no node here is at {server}"
        for server in one.node.bootstrap_servers
        if server not in known
    ]


def _listed(node: MetadataDirectory) -> tuple[ListedVoter, ...]:
    return node.node.static_voters if node.voters is None else node.voters


def _voter_set(listed: tuple[ListedVoter, ...]) -> VoterSet:
    return frozenset(ReplicaKey(voter.id, voter.directory_id) for voter in listed)


def _replica(one: MetadataDirectory, configuration: Configuration) -> ReplicaConfiguration:
    # At kraft.version 1 a static list means nothing.  Rule: kraft-version.static-config-ignored.
    own = _voter_set(_listed(one) if configuration.kraft_version == 0 else one.voters or ())
    initial = None if own == configuration.voters else own
    return ReplicaConfiguration(one.key, one.node.endpoint, initial_voters=initial, auto_join=one.node.auto_join)


def _bootstrap_servers(configuration: Configuration, nodes: Nodes) -> tuple[int, ...]:
    """Whom a node without a leader asks: everybody that controller.quorum.bootstrap.servers of some node names.

    Rule: discovery.bootstrap.
    """
    at = {replica.endpoint: replica_id for replica_id, replica in configuration.replicas.items()}
    named = {at[server] for one in nodes.values() for server in one.node.bootstrap_servers if server in at}
    return tuple(sorted(named | set(configuration.bootstrap_servers)))
