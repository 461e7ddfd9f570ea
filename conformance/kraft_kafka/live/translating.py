"""Between a vector's cluster and one on the loopback: endpoints, and the records that clients write."""

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
"""3.3-IV3: with it Kafka's controller writes one record to begin with, and no registrations."""
CONFIG_KEY = "kraft.spec"
"""The configuration of all brokers that stands for a client's record; Kafka takes any name."""
OLDEST_METADATA_VERSION = encode_metadata_record("FeatureLevelRecord", **_OLDEST)


def config_value(number: int) -> str:
    """The value of the configuration that stands for the client's record `number`."""
    return f"kraft-spec-{number}"


def _data(number: int) -> bytes:
    """A client's record that any controller can replay: metadata.version, with the number in a tagged field."""
    tag = {"tag": 100, "data": config_value(number).encode().hex()}
    return encode_metadata_record("FeatureLevelRecord", **_OLDEST, **{UNKNOWN_TAGS: [tag]})


class Translation:
    """The endpoints of a vector, each with a port of the loopback that stands for it."""

    def __init__(self, endpoints: Mapping[int, str]) -> None:
        """`endpoints` are by replica."""
        self.endpoints = endpoints
        self.ports = dict(zip(endpoints, free_ports(len(endpoints)), strict=True))
        self._local = {endpoint: f"127.0.0.1:{self.ports[one]}" for one, endpoint in endpoints.items()}
        self.hidden: int | None = None
        """Offset of the record that its controller has written by itself."""

    def cluster(self, cluster: Cluster) -> Cluster:
        """The cluster on the loopback."""
        replicas = [replace(one, endpoint=self.local(one.endpoint)) for one in cluster.replicas]
        return replace(cluster, replicas=tuple(replicas))

    def local(self, endpoint: str) -> str:
        """Where it is on the loopback; nobody listens for one that the cluster does not have."""
        if endpoint not in self._local:
            self._local[endpoint] = f"127.0.0.1:{free_ports(1)[0]}"
        return self._local[endpoint]

    def hide(self, log: Iterable[Batch]) -> None:
        """Take note of the record that its controller has written by itself, of which no vector knows."""
        data = [batch for batch in log if not batch.is_control]
        own = [one.base_offset for one in data if any(_number(value) is None for value in values_of(one))]
        self.hidden = own[0] if own else None

    def to_local(self, value: Any) -> Any:
        """What a vector says, with the endpoints and offsets of the process."""
        hidden = self.hidden
        shift = 1 if hidden is not None else 0
        return _mapped(value, self.local, lambda offset: offset + shift if offset >= (hidden or 0) else offset)

    def from_local(self, value: Any) -> Any:
        """What was seen, with the endpoints and offsets of the vector."""
        here = {there: here for here, there in self._local.items()}
        hidden = self.hidden
        shift = 1 if hidden is not None else 0
        return _mapped(
            value,
            lambda endpoint: here.get(endpoint, endpoint),
            lambda offset: offset - shift if offset > (hidden or 0) else offset,
        )

    def batches(self, base_offset: int, records: Sequence[Document]) -> str:
        """The records of a vector as Kafka's batches, in base64."""
        raw, offset = b"", base_offset
        typed = msgspec.convert(self.to_local(records), tuple[TracedRecord, ...])
        for (epoch, is_data), group in groupby(typed, lambda one: (one.epoch, one.kind is RecordKind.DATA)):
            same = [*group]
            if is_data:
                raw += data_batch(offset, epoch, [_data(one.value) for one in same], 0)
            else:
                raw += control_batch(offset, [record_of(one) for one in same], 0)
            offset += len(same)
        return b64encode(raw).decode()

    def records(self, batches: str | None) -> list[Document]:
        """Kafka's batches as the records of a trace, without those that a controller has written by itself."""
        found: list[Document] = []
        for batch in batches_of(b64decode(batches or "")):
            if batch.is_control:
                found += [self.from_local(msgspec.to_builtins(traced_record(one))) for one in records_of(batch)]
            else:
                numbers = [number for number in map(_number, values_of(batch)) if number is not None]
                found += [{"epoch": batch.epoch, "kind": "Data", "value": number} for number in numbers]
        return found


def _number(value: bytes) -> int | None:
    found = _NUMBER.search(value)
    return int(found[1]) if found else None


def _mapped(value: Any, endpoint: Callable[[str], str], offset: Callable[[int], int]) -> Any:
    if isinstance(value, dict):
        return {
            name: endpoint(one)
            if name in _ENDPOINTS and isinstance(one, str)
            else offset(one)
            if name in _OFFSETS
            else _mapped(one, endpoint, offset)
            for name, one in value.items()
        }
    return [_mapped(one, endpoint, offset) for one in value] if isinstance(value, list | tuple) else value
