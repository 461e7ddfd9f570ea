"""Checkpoints in traces that do not observe all replicas throughout."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from kraft_reference.configuration import Configuration
from kraft_reference.messages import Message
from kraft_reference.state import ReplicaState, new_replica
from kraft_simulation.checkpoint import NO_VOTES, Checkpoint
from kraft_spec.mapping_checkpoint import checkpoint_from_model
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.check.correlations import Correlations
from kraft_traces.check.model import TraceModel
from kraft_traces.check.opening import with_states_remembered
from kraft_traces.check.unrecorded import with_history_of
from kraft_traces.checkpoint_types import CheckpointLine, TracedReplicaState
from kraft_traces.checkpoints import checkpoint_of, replica_state_of
from kraft_traces.message_types import TracedMessage
from kraft_traces.messages import message_of


def opening_checkpoint(configuration: Configuration, line: CheckpointLine) -> Checkpoint:
    """Return the checkpoint of a line that has the observed replicas only.

    An opaque replica is one that never ran, and the history is what the states of the others show.

    Raises:
        CheckpointError: a field is missing, or contradicts another one.
    """
    with_ids = tuple(flight for flight in line.network if flight.message.id is not UNSET)
    known = checkpoint_of(replace(line, network=with_ids))
    absent: Mapping[int, ReplicaState] = {
        own_id: new_replica(replica.key, configuration.checkpoint(own_id))
        for own_id, replica in configuration.replicas.items()
        if own_id not in known.replicas
    }
    history = known.recollection
    votes = {**history.votes, **dict.fromkeys(absent, NO_VOTES)}
    return with_states_remembered(
        known._replace(replicas={**known.replicas, **absent}, recollection=history._replace(votes=votes))
    )


def waiting_fetches(line: CheckpointLine) -> list[TracedMessage]:
    """Return the Fetches of a checkpoint that have arrived, are not answered, and have no id."""
    return [flight.message for flight in line.network if not flight.copies and flight.message.id is UNSET]


def take_requests(correlations: Correlations, line: CheckpointLine) -> tuple[list[Message], list[TracedReplicaState]]:
    """Take the requests of the replicas that become observed, and return their states with the model's numbers.

    The messages are the Fetches to them that are not answered yet.
    """
    states: list[TracedReplicaState] = []
    fetches: list[Message] = []
    for index, flight in enumerate(line.network):
        fetch: Any = flight.message
        if correlations.number_of(fetch) is None:
            correlations.note((fetch.source, fetch.destination), fetch.correlation_id, line.sequence)
        numbered = replace(fetch, correlation_id=correlations.number_of(fetch))
        fetches.append(message_of(numbered, f"$.network[{index}].message"))
    for traced in line.replicas:
        state: Any = traced.state
        own = state.replica_key.id
        correlations.observe(own, dict(state.awaiting), line.sequence)
        pending = state.pending_change
        if pending is not None and isinstance(pending.requester, int):
            correlations.resume(pending.requester, {own: pending.request}, line.sequence)
        states.append(replace(traced, state=correlations.state(state, own)))
    return fetches, states


def with_observed(
    model: TraceModel,
    configuration: Configuration,
    state: JavaObject,
    line: CheckpointLine,
    states: list[TracedReplicaState],
    opaque: frozenset[int],
) -> JavaObject:
    """Return the state of the model with the states of replicas that become observed at a checkpoint.

    Raises:
        CheckpointError: a field is missing, or contradicts another one.
    """
    before = checkpoint_from_model(model.variables(state), configuration.cluster_id, line.sequence, line.time_ms)
    replicas, history = dict(before.replicas), before.recollection
    for index, traced in enumerate(states):
        replica = replica_state_of(f"$.replicas[{index}]", traced)
        history = with_history_of(history, replicas[replica.key.id], replica)
        replicas[replica.key.id] = replica
    software = {**before.software, **dict(line.software)}
    whole = before._replace(replicas=replicas, recollection=history, software=software)
    return model.with_replicas(state, configuration, whole, opaque)
