"""Conversion of states and effects of partitions between traces and the protocol."""

import msgspec

from kraft_partitions.partition import Partition, TopicPartition
from kraft_partitions.state import ControllerState
from kraft_traces.partitions.lines import TracedEffect, TracedState
from kraft_vectors.partitions.shown import ControllerView, ShownEffect


def view_of(state: TracedState) -> ControllerView:
    """Return the state of a trace line for the protocol, with every field."""
    return msgspec.convert(msgspec.to_builtins(state), ControllerView)


def shown_effect(effect: TracedEffect) -> ShownEffect:
    """Return the effect of a trace line for the protocol, with every field."""
    converted: ShownEffect = msgspec.convert(msgspec.to_builtins(effect), ShownEffect)
    return converted


def state_from(view: ControllerView) -> ControllerState:
    """Return the state of a view with every field; the stored state equals the controller's.

    Rule: partition-reassign.persisted.

    Raises:
        ValueError: a field is missing.
    """
    try:
        whole = msgspec.convert(msgspec.to_builtins(view), TracedState)
    except msgspec.ValidationError as error:
        raise ValueError(f"$.before: {error}") from None
    partitions = {
        TopicPartition(*name): Partition(replicas, frozenset(in_sync), *rest)
        for name, replicas, in_sync, *rest in map(msgspec.structs.astuple, whole.partitions)
    }
    return ControllerState(
        whole.controller,
        {whole.controller: partitions},
        partitions,
        frozenset(whole.alive),
        frozenset(whole.deleting),
        {TopicPartition(*name): replicas for name, replicas in whole.legacy},
    )
