"""States and effects of partitions: from what a trace's line has to what the protocol shows, and back."""

import msgspec

from kraft_partitions.partition import Partition, TopicPartition
from kraft_partitions.state import ControllerState
from kraft_traces.partitions.lines import TracedEffect, TracedState
from kraft_vectors.partitions.shown import ControllerView, ShownEffect


def view_of(state: TracedState) -> ControllerView:
    """The state of a trace's line as the protocol shows it, with every field."""
    return msgspec.convert(msgspec.to_builtins(state), ControllerView)


def shown_effect(effect: TracedEffect) -> ShownEffect:
    """The effect of a trace's line as the protocol shows it, with every field."""
    shown: ShownEffect = msgspec.convert(msgspec.to_builtins(effect), ShownEffect)
    return shown


def state_from(view: ControllerView) -> ControllerState:
    """The state that a view with every field shows: what the controller knows is stored.

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
