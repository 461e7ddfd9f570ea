"""Evidence that two leaders committed different records: acknowledgements, both logs, and lost writes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kraft_kafka.whole.cluster import WholeCluster
from kraft_kafka.whole.operator import TIMEOUT_MS, Quorum
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.log_records import Batch, number_of, records_of, values_of
from kraft_kafka.wire.metadata_records import decode_metadata_record
from kraft_reference.records import Record, RecordKind

_CONFIGS = ("log.retention.ms", "message.max.bytes")
"""Configurations that the operator sets on both sides, to different values."""
_NAMES = {RecordKind.LEADER_CHANGE: "LeaderChange", RecordKind.KRAFT_VERSION: "KRaftVersion"}


class Write(NamedTuple):
    """A write that was acknowledged to the AdminClient."""

    at: int
    """The controller that acknowledged it."""
    config: str
    """NAME=VALUE."""


class Divergence(NamedTuple):
    """An offset at which two logs have different records."""

    offset: int
    records: Mapping[int, str]
    """By controller: epoch and record."""


@dataclass(frozen=True, slots=True)
class TwoLeaders:
    """Two controllers that led at the same time, and the writes that each acknowledged."""

    leaders: Mapping[int, int]
    """The epoch that each leads, by controller."""
    writes: tuple[Write, ...]
    """Writes acknowledged while both led."""

    @property
    def both_acknowledged(self) -> bool:
        """True if each has acknowledged a write."""
        return {write.at for write in self.writes} == self.leaders.keys()


async def write_at_both(
    cluster: WholeCluster, first: Quorum, second: Quorum, timeout_ms: int = TIMEOUT_MS
) -> TwoLeaders:
    """Make the operator write at two leaders in turn."""
    writes: list[Write] = []
    for number, config in enumerate(_CONFIGS):
        for leader in (first.leader, second.leader):
            value = leader * 1_000_000 + number
            reply = await cluster.operator.set_config(leader, config, value, timeout_ms)
            cluster.note(f"the operator at {leader} sets {config}={value}: {reply}")
            if reply.is_acknowledged:
                writes.append(Write(leader, f"{config}={value}"))
    return TwoLeaders({first.leader: first.epoch, second.leader: second.epoch}, tuple(writes))


async def lost_writes(cluster: WholeCluster, writes: Iterable[Write], at: int) -> tuple[Write, ...]:
    """Return the acknowledged writes that a controller finally lacks."""
    configs = await cluster.operator.configs(at)
    cluster.note(f"the operator at {at} reads {' '.join(sorted(configs)) or 'no configuration'}")
    return tuple(write for write in writes if write.config not in configs)


def divergences(cluster: WholeCluster, first: int, second: int) -> tuple[Divergence, ...]:
    """Return the offsets at which the logs of two controllers on disk have different records."""
    first_log, second_log = _read_records(cluster, first), _read_records(cluster, second)
    return tuple(
        Divergence(offset, {first: first_log[offset], second: second_log[offset]})
        for offset in sorted(first_log.keys() & second_log.keys())
        if first_log[offset] != second_log[offset]
    )


def _read_records(cluster: WholeCluster, id_: int) -> dict[int, str]:
    """Return descriptions of a log's records by their offsets."""
    return {
        batch.base_offset + number: f"epoch {batch.epoch}, {text}"
        for batch in cluster.processes[id_].log()
        for number, text in enumerate(_describe_batch(batch))
    }


def _describe_batch(batch: Batch) -> list[str]:
    if batch.is_control:
        return [_describe_control_record(record) for record in records_of(batch)]
    return [_describe_record(value) for value in values_of(batch)]


def _describe_control_record(record: Record) -> str:
    if record.kind is RecordKind.VOTERS:
        return f"Voters {{{', '.join(str(voter.id) for voter in sorted(record.voters))}}}"
    return f"{_NAMES.get(record.kind, record.kind.value)} {record.value}"


def _describe_record(value: bytes) -> str:
    try:
        record = decode_metadata_record(value)
    except WireError:
        record = None
    if record is None:
        return f"a record of type {value[1]} ({number_of(value):08x})"
    fields = (f"{name}={field}" for name, field in record.fields.items() if field not in ("", None))
    return f"{record.name} {' '.join(fields)}"
