"""A cluster as its operators set it up: the header of a trace without who wrote the trace."""

from msgspec import UNSET, Struct, UnsetType

from kraft_reference.configuration import Configuration
from kraft_traces.encode import header_line
from kraft_traces.lines import SCHEMA, Generator, HeaderLine, TracedDecisions, TracedReplica, TracedTimeouts
from kraft_traces.restore import configuration_of
from kraft_traces.values import KraftVersion, ReplicaId, SmallCount, TracedKey

_NOBODY = Generator("kraft-spec", "")


class Cluster(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields of a trace's header that say what the cluster is; docs/trace-format.md explains them."""

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
    """The protocol's form of a configuration."""
    header = header_line(configuration, _NOBODY)
    return Cluster(**{name: getattr(header, name) for name in Cluster.__struct_fields__})


def configuration_from(cluster: Cluster) -> Configuration:
    """The reference's form of a cluster.

    Raises:
        UnknownProfileError: there is no such profile, and the cluster does not say what it decides.
    """
    fields = {name: getattr(cluster, name) for name in Cluster.__struct_fields__}
    return configuration_of(HeaderLine(schema=SCHEMA, generator=_NOBODY, **fields))
