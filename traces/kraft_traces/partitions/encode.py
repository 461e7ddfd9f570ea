"""From a run of the reference to the lines of its trace, and back to its configuration."""

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec
from msgspec import UNSET

from kraft_reference.partitions import effects, events
from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.decisions import PROFILES
from kraft_reference.partitions.occurrence import PartitionOccurrence
from kraft_reference.partitions.partition import Partition, TopicPartition
from kraft_reference.partitions.state import ControllerState
from kraft_traces.partitions import lines
from kraft_traces.partitions.lines import (
    SCHEMA,
    Ids,
    Name,
    PartitionEventLine,
    PartitionHeader,
    Target,
    TracedEffect,
    TracedEvent,
    TracedPartition,
    TracedState,
)

GENERATOR = "kraft_reference.partitions"


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


def configuration_of(header: PartitionHeader) -> PartitionConfiguration:
    """The configuration that a header stands for.

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
        _event(occurrence.event),
        occurrence.refusal,
        tuple([_effect(effect) for effect in occurrence.effects]),
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
    lists = (one.replicas, _ascending(one.in_sync), one.adding, one.removing)
    return TracedPartition(name, *lists, one.leader, one.leader_epoch, one.partition_epoch)


def _event(event: events.Event) -> TracedEvent:
    match event:
        case events.AlterPartition():
            epochs = (event.leader_epoch, event.partition_epoch)
            return lines.AlterPartition(event.node, event.broker, event.partition, *epochs, _ascending(event.in_sync))
        case _:
            kind = getattr(lines, type(event).__name__)
            fields = {name: getattr(event, name) for name in kind.__struct_fields__}
            traced: TracedEvent = kind(**fields)
            return traced


def _effect(effect: effects.Effect) -> TracedEffect:
    match effect:
        case effects.StorePartitions():
            return lines.StorePartitions(tuple([_partition(name, one) for name, one in effect.partitions]))
        case effects.ListReassignmentsAnswer():
            rows = tuple([_reassignment(row) for row in effect.reassignments])
            return lines.ListReassignmentsAnswer(effect.error, rows)
        case _:
            kind = getattr(lines, type(effect).__name__)
            fields = {name: getattr(effect, name) for name in kind.__struct_fields__}
            if "in_sync" in fields:
                fields["in_sync"] = _ascending(fields["in_sync"])
            traced: TracedEffect = kind(**fields)
            return traced


def _reassignment(row: effects.Reassignment) -> lines.TracedReassignment:
    return lines.TracedReassignment(row.partition, row.replicas, row.adding, row.removing)
