"""From a run of the reference to the lines of its trace, and back to its configuration."""

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
    """The event of a line, what `encode.line_of` made it of: the class of the same name, with the same fields."""
    made: events.Event = convert(to_builtins(traced), getattr(events, type(traced).__name__))
    return made


GENERATOR = "kraft_partitions"


def header_of(
    configuration: PartitionConfiguration,
    seed: int | None = None,
    *,
    spec_hash: str | None = None,
    switched_off: Collection[str] = (),
) -> PartitionHeader:
    """The header of a run under this configuration, whose controllers do without these rules.

    Raises:
        ValueError: its profile is not one of `PROFILES`, so that its name would not say what it is.
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
    """The configuration that a header stands for, or the cluster of a request to an adapter, which has these fields.

    Raises:
        KeyError: it names no profile.
    """
    return PartitionConfiguration(
        frozenset(header.brokers),
        {TopicPartition(*name): replicas for name, replicas in header.assignments},
        header.controllers,
        frozenset(header.unclean_topics),
        PROFILES[header.profile],
    )


def line_of(occurrence: PartitionOccurrence) -> PartitionEventLine:
    """The line of one occurrence."""
    return PartitionEventLine(
        occurrence.sequence,
        _traced(occurrence.event),
        occurrence.refusal,
        _traced(occurrence.effects),
        traced_state(occurrence.state),
    )


def encoded(
    configuration: PartitionConfiguration,
    occurrences: Iterable[PartitionOccurrence],
    seed: int | None = None,
    *,
    spec_hash: str | None = None,
    switched_off: Collection[str] = (),
) -> Iterator[bytes]:
    """The lines of a trace, each with its line end; the rest as for `header_of`.

    Raises:
        ValueError: as `header_of`.
    """
    yield msgspec.json.encode(header_of(configuration, seed, spec_hash=spec_hash, switched_off=switched_off)) + b"\n"
    for occurrence in occurrences:
        yield msgspec.json.encode(line_of(occurrence)) + b"\n"


def traced_state(state: ControllerState) -> TracedState:
    """A state as the lines of a trace show it."""
    return TracedState(
        state.controller,
        _ascending(state.alive),
        tuple(sorted(state.deleting)),
        _targets(state.legacy),
        tuple([_partition(name, one) for name, one in sorted(state.partitions.items())]),
    )


# ---------------------------------------------------------------------------------------------------------
# Parts.
# ---------------------------------------------------------------------------------------------------------


def _ascending(ids: Iterable[int]) -> Ids:
    return tuple(sorted(ids))


def _targets(targets: Mapping[TopicPartition, Ids]) -> tuple[Target, ...]:
    return tuple([(name, ids) for name, ids in sorted(targets.items())])


def _partition(name: Name, one: Partition) -> TracedPartition:
    return TracedPartition(name, *map(_traced, one))


def _traced(part: Any) -> Any:
    """An event, an effect or a value in one: the line's type has the same name and fields, and a set ascends."""
    match part:
        case frozenset():
            return _ascending(part)
        case (TopicPartition() as name, Partition() as one):
            return _partition(name, one)
        case tuple() if not isinstance(part, TopicPartition):
            return tuple([_traced(one) for one in part])
        case _ if is_dataclass(part):
            kind = getattr(
                lines, "TracedReassignment" if isinstance(part, effects.Reassignment) else type(part).__name__
            )
            return kind(*[_traced(getattr(part, field)) for field in kind.__struct_fields__])
        case _:
            return part
