"""Configuration of a cluster: the header of a trace without its generator."""

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from kraft_reference.configuration import Configuration
from kraft_traces.encode import header_line
from kraft_traces.lines import (
    SCHEMA,
    DeclaredReplica,
    Generator,
    HeaderLine,
    TracedDecisions,
    TracedReplica,
    TracedTimeouts,
)
from kraft_traces.restore import configuration_of
from kraft_traces.values import KraftVersion, ReplicaId, SmallCount, TracedKey

_NOBODY = Generator("kraft-spec", "")


class Cluster(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Fields of a trace header that describe the cluster; docs/trace-format.md explains them."""

    profile: str
    decisions: TracedDecisions | UnsetType = UNSET
    kraft_version: KraftVersion
    cluster_id: str
    replicas: tuple[TracedReplica, ...]
    voters: tuple[TracedKey, ...]
    bootstrap_servers: tuple[ReplicaId, ...] = ()
    fetch_max_records: SmallCount = 0
    timeouts: TracedTimeouts | UnsetType = UNSET


def cluster_of(configuration: Configuration) -> Cluster:
    """Return the cluster of a configuration."""
    header = header_line(configuration, _NOBODY)
    fields = {name: getattr(header, name) for name in Cluster.__struct_fields__}
    # A vector observes its one replica, so only a trace declares which are observed.
    names = TracedReplica.__struct_fields__
    replicas = [TracedReplica(**{name: getattr(replica, name) for name in names}) for replica in header.replicas]
    return Cluster(**{**fields, "replicas": tuple(replicas)})


def configuration_from(cluster: Cluster) -> Configuration:
    """Return the reference's configuration of a cluster.

    Raises:
        UnknownProfileError: the profile does not exist, and the cluster does not list its decisions.
    """
    fields = {name: getattr(cluster, name) for name in Cluster.__struct_fields__}
    replicas = tuple([DeclaredReplica(**asdict(replica)) for replica in cluster.replicas])
    return configuration_of(HeaderLine(schema=SCHEMA, generator=_NOBODY, **{**fields, "replicas": replicas}))
