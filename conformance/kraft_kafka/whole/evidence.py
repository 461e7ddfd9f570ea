"""What shows that two leaders have committed different records: acknowledgements, both logs, and what is lost."""

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
"""What the operator sets on both sides, each to another value."""
_NAMES = {RecordKind.LEADER_CHANGE: "LeaderChange", RecordKind.KRAFT_VERSION: "KRaftVersion"}


class Write(NamedTuple):
    """A write that the AdminClient was told is done."""

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
    """Two controllers that led at the same time, and what each acknowledged."""

    leaders: Mapping[int, int]
    """The epoch that each leads, by controller."""
    writes: tuple[Write, ...]
    """Acknowledged while both led."""

    @property
    def both_acknowledged(self) -> bool:
        """True if each has acknowledged a write."""
        return {write.at for write in self.writes} == self.leaders.keys()


async def write_at_both(
    cluster: WholeCluster, first: Quorum, second: Quorum, timeout_ms: int = TIMEOUT_MS
) -> TwoLeaders:
    """Have the operator write at two leaders in turn."""
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
    """Acknowledged writes that a controller no longer has in the end."""
    configs = await cluster.operator.configs(at)
    cluster.note(f"the operator at {at} reads {' '.join(sorted(configs)) or 'no configuration'}")
    return tuple(write for write in writes if write.config not in configs)


def divergences(cluster: WholeCluster, first: int, second: int) -> tuple[Divergence, ...]:
    """Offsets at which the logs of two controllers on disk have different records."""
    one, other = _records(cluster, first), _records(cluster, second)
    return tuple(
        Divergence(offset, {first: one[offset], second: other[offset]})
        for offset in sorted(one.keys() & other.keys())
        if one[offset] != other[offset]
    )


def _records(cluster: WholeCluster, id_: int) -> dict[int, str]:
    """The records of a log by their offsets, as a reader sees them."""
    return {
        batch.base_offset + number: f"epoch {batch.epoch}, {text}"
        for batch in cluster.processes[id_].log()
        for number, text in enumerate(_texts(batch))
    }


def _texts(batch: Batch) -> list[str]:
    if batch.is_control:
        return [_control_text(record) for record in records_of(batch)]
    return [_data_text(value) for value in values_of(batch)]


def _control_text(record: Record) -> str:
    if record.kind is RecordKind.VOTERS:
        return f"Voters {{{', '.join(str(voter.id) for voter in sorted(record.voters))}}}"
    return f"{_NAMES.get(record.kind, record.kind.value)} {record.value}"


def _data_text(value: bytes) -> str:
    try:
        record = decode_metadata_record(value)
    except WireError:
        record = None
    if record is None:
        return f"a record of type {value[1]} ({number_of(value):08x})"
    fields = (f"{name}={field}" for name, field in record.fields.items() if field not in ("", None))
    return f"{record.name} {' '.join(fields)}"
