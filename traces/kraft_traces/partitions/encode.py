"""Encoder of a run of the reference as a trace, and decoder of its configuration and events."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

import msgspec
from msgspec import UNSET, convert, to_builtins

from kraft_partitions import effects, events
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.decisions import PROFILES
from kraft_partitions.occurrence import PartitionOccurrence
from kraft_partitions.partition import Partition, TopicPartition
from kraft_partitions.state import ControllerState
from kraft_traces.partitions import lines
from kraft_traces.partitions.lines import (
    SCHEMA,
    Ids,
    Name,
    PartitionEventLine,
    PartitionHeader,
    Target,
    TracedEvent,
    TracedPartition,
    TracedState,
)


def event_of(traced: TracedEvent) -> events.Event:
    """Return the reference's event of a line, the inverse of `line_of`."""
    event: events.Event = convert(to_builtins(traced), getattr(events, type(traced).__name__))
    return event


GENERATOR = "kraft_partitions"


def header_of(
    configuration: PartitionConfiguration,
    seed: int | None = None,
    *,
    spec_hash: str | None = None,
    switched_off: Collection[str] = (),
) -> PartitionHeader:
    """Return the header of a run with this configuration, whose controllers omit the rules `switched_off`.

    Raises:
        ValueError: its profile is not one of `PROFILES`, so its name would not identify it.
    """
    if PROFILES.get(configuration.profile.name) is not configuration.profile:
        raise ValueError(f"{configuration.profile.name!r} names no profile, expected one of {', '.join(PROFILES)}")
    return PartitionHeader(
        schema=SCHEMA,
        generator=GENERATOR,
        seed=seed,
        profile=configuration.profile.name,
        spec_hash=UNSET if spec_hash is None else spec_hash,
        brokers=_ascending(configuration.brokers),
        controllers=configuration.controllers,
        assignments=_targets(configuration.assignments),
        unclean_topics=tuple(sorted(configuration.unclean_topics)),
        switched_off=tuple(sorted(switched_off)),
    )


def configuration_of(header: Any) -> PartitionConfiguration:
    """Return the configuration of a header, or of a request to an adapter, which has the same fields.

    Raises:
        KeyError: the profile is unknown.
    """
    return PartitionConfiguration(
        frozenset(header.brokers),
        {TopicPartition(*name): replicas for name, replicas in header.assignments},
        header.controllers,
        frozenset(header.unclean_topics),
        PROFILES[header.profile],
    )


def line_of(occurrence: PartitionOccurrence) -> PartitionEventLine:
    """Return the line of an occurrence."""
    return PartitionEventLine(
        occurrence.sequence,
        _traced(occurrence.event),
        occurrence.refusal,
        _traced(occurrence.effects),
        traced_state(occurrence.state),
    )


def encode_trace(
    configuration: PartitionConfiguration,
    occurrences: Iterable[PartitionOccurrence],
    seed: int | None = None,
    *,
    spec_hash: str | None = None,
    switched_off: Collection[str] = (),
) -> Iterator[bytes]:
    """Yield the lines of a trace, each with its newline; the other arguments are as for `header_of`.

    Raises:
        ValueError: as `header_of`.
    """
    yield msgspec.json.encode(header_of(configuration, seed, spec_hash=spec_hash, switched_off=switched_off)) + b"\n"
    for occurrence in occurrences:
        yield msgspec.json.encode(line_of(occurrence)) + b"\n"


def traced_state(state: ControllerState) -> TracedState:
    """Return a state in its trace form."""
    return TracedState(
        state.controller,
        _ascending(state.alive),
        tuple(sorted(state.deleting)),
        _targets(state.legacy),
        tuple([_partition(name, partition) for name, partition in sorted(state.partitions.items())]),
    )


# ---------------------------------------------------------------------------------------------------------
# Parts.
# ---------------------------------------------------------------------------------------------------------


def _ascending(ids: Iterable[int]) -> Ids:
    return tuple(sorted(ids))


def _targets(targets: Mapping[TopicPartition, Ids]) -> tuple[Target, ...]:
    return tuple([(name, ids) for name, ids in sorted(targets.items())])


def _partition(name: Name, partition: Partition) -> TracedPartition:
    return TracedPartition(name, *map(_traced, partition))


def _traced(part: Any) -> Any:
    """Return the trace form of an event, an effect or a value: the type of the same name, with sets as sorted lists."""
    match part:
        case frozenset():
            return _ascending(part)
        case (TopicPartition() as name, Partition() as partition):
            return _partition(name, partition)
        case tuple() if not isinstance(part, TopicPartition):
            return tuple([_traced(member) for member in part])
        case _ if is_dataclass(part):
            kind = getattr(
                lines, "TracedReassignment" if isinstance(part, effects.Reassignment) else type(part).__name__
            )
            return kind(*[_traced(getattr(part, field)) for field in kind.__struct_fields__])
        case _:
            return part
