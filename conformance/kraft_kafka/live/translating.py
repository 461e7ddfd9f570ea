"""Translation between a vector's cluster and one on the loopback: endpoints, and clients' records."""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec
from msgspec.structs import replace

from kraft_kafka.live.process import free_ports
from kraft_kafka.node.metadata import METADATA_VERSION_MIN
from kraft_kafka.wire.decoding import UNKNOWN_TAGS, Document
from kraft_kafka.wire.log_records import Batch, batches_of, control_batch, data_batch, records_of, values_of
from kraft_kafka.wire.metadata_records import encode_metadata_record
from kraft_reference.records import RecordKind
from kraft_traces.values import TracedRecord, record_of, traced_record
from kraft_vectors.cluster import Cluster

_ENDPOINTS = frozenset(["endpoint", "leader_endpoint"])
_OFFSETS = frozenset(["fetch_offset", "end_offset", "high_watermark", "diverging_end_offset"])
_NUMBER = re.compile(rb"kraft-spec-(\d+)")

_OLDEST = {"name": "metadata.version", "featureLevel": METADATA_VERSION_MIN}
"""3.3-IV3: with it Kafka's controller writes one initial record, and no registrations."""
CONFIG_KEY = "kraft.spec"
"""The default broker configuration that represents a client's record; Kafka accepts any name."""
OLDEST_METADATA_VERSION = encode_metadata_record("FeatureLevelRecord", **_OLDEST)


def config_value(number: int) -> str:
    """Return the value of the configuration that represents the client's record `number`."""
    return f"kraft-spec-{number}"


def _encode_data(number: int) -> bytes:
    """Return a client's record that any controller can replay: metadata.version, with the number in a tagged field."""
    tag = {"tag": 100, "data": config_value(number).encode().hex()}
    return encode_metadata_record("FeatureLevelRecord", **_OLDEST, **{UNKNOWN_TAGS: [tag]})


class Translation:
    """Endpoints of a vector, each with a port of the loopback interface."""

    def __init__(self, endpoints: Mapping[int, str]) -> None:
        """Assign ports to the endpoints, which are by replica."""
        self.endpoints = endpoints
        self.ports = dict(zip(endpoints, free_ports(len(endpoints)), strict=True))
        self._local = {endpoint: f"127.0.0.1:{self.ports[id_]}" for id_, endpoint in endpoints.items()}
        self.hidden: int | None = None
        """Offset of the record that the process's controller has written on its own."""

    def cluster(self, cluster: Cluster) -> Cluster:
        """Return the cluster on the loopback interface."""
        replicas = [replace(replica, endpoint=self.local(replica.endpoint)) for replica in cluster.replicas]
        return replace(cluster, replicas=tuple(replicas))

    def local(self, endpoint: str) -> str:
        """Return an endpoint's local one; for endpoints outside the cluster, one without a listener."""
        if endpoint not in self._local:
            self._local[endpoint] = f"127.0.0.1:{free_ports(1)[0]}"
        return self._local[endpoint]

    def hide(self, log: Iterable[Batch]) -> None:
        """Find the record that the controller has written on its own, which vectors do not have."""
        data = [batch for batch in log if not batch.is_control]
        own = [batch.base_offset for batch in data if any(_find_number(value) is None for value in values_of(batch))]
        self.hidden = own[0] if own else None

    def to_local(self, value: Any) -> Any:
        """Return a vector's value with the endpoints and offsets of the process."""
        hidden = self.hidden
        shift = 1 if hidden is not None else 0
        return _map(value, self.local, lambda offset: offset + shift if offset >= (hidden or 0) else offset)

    def from_local(self, value: Any) -> Any:
        """Return an observed value with the endpoints and offsets of the vector."""
        here = {there: here for here, there in self._local.items()}
        hidden = self.hidden
        shift = 1 if hidden is not None else 0
        return _map(
            value,
            lambda endpoint: here.get(endpoint, endpoint),
            lambda offset: offset - shift if offset > (hidden or 0) else offset,
        )

    def batches(self, base_offset: int, records: Sequence[Document]) -> str:
        """Return a vector's records as Kafka's batches, in base64."""
        raw, offset = b"", base_offset
        typed = msgspec.convert(self.to_local(records), tuple[TracedRecord, ...])
        for (epoch, is_data), group in groupby(typed, lambda record: (record.epoch, record.kind is RecordKind.DATA)):
            same = [*group]
            if is_data:
                raw += data_batch(offset, epoch, [_encode_data(record.value) for record in same], 0)
            else:
                raw += control_batch(offset, [record_of(record) for record in same], 0)
            offset += len(same)
        return b64encode(raw).decode()

    def records(self, batches: str | None) -> list[Document]:
        """Return Kafka's batches as records of a trace, without the controller's own records."""
        records: list[Document] = []
        for batch in batches_of(b64decode(batches or "")):
            if batch.is_control:
                records += [self.from_local(msgspec.to_builtins(traced_record(record))) for record in records_of(batch)]
            else:
                numbers = [number for number in map(_find_number, values_of(batch)) if number is not None]
                records += [{"epoch": batch.epoch, "kind": "Data", "value": number} for number in numbers]
        return records


def _find_number(value: bytes) -> int | None:
    match = _NUMBER.search(value)
    return int(match[1]) if match else None


def _map(value: Any, endpoint: Callable[[str], str], offset: Callable[[int], int]) -> Any:
    if isinstance(value, dict):
        return {
            name: endpoint(item)
            if name in _ENDPOINTS and isinstance(item, str)
            else offset(item)
            if name in _OFFSETS
            else _map(item, endpoint, offset)
            for name, item in value.items()
        }
    return [_map(item, endpoint, offset) for item in value] if isinstance(value, list | tuple) else value
