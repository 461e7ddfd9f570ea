"""Brokers and controllers that fail and come back."""

from kraft_partitions.changes import apply_changes, is_unclean, leader_and_isr
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.events import BrokerFails, BrokerStarts, ControllerFailover
from kraft_partitions.leadership import after_failure, elect_leader
from kraft_partitions.outcome import Outcome, Refusal
from kraft_partitions.partition import Partitions
from kraft_partitions.requests import with_legacy_targets
from kraft_partitions.state import ControllerState, exists


def _held_by(state: ControllerState, broker: int) -> Partitions:
    """The partitions that a broker has a replica of."""
    partitions = state.partitions
    held = sorted(name for name in partitions if exists(state, partitions, name))
    return {name: partitions[name] for name in held if broker in partitions[name].replicas}


def after_broker_fails(state: ControllerState, configuration: PartitionConfiguration, event: BrokerFails) -> Outcome:
    """The broker leads nothing any more, and is in sync only where nobody else is.

    Rule: partition-reassign.isr-never-empty.
    """
    if event.broker not in state.alive:
        known = event.broker in configuration.brokers
        return Outcome(state, refusal=Refusal.ALREADY_SO if known else Refusal.UNKNOWN_ID)
    now = state._replace(alive=state.alive - {event.broker})
    fallen = {
        name: after_failure(partition, event.broker, now.alive, is_unclean(configuration, name))
        for name, partition in _held_by(now, event.broker).items()
    }
    return apply_changes(now, configuration, state.controller, {**state.partitions, **fallen})


def after_broker_starts(state: ControllerState, configuration: PartitionConfiguration, event: BrokerStarts) -> Outcome:
    """The broker is notified what it holds; it leads a partition that had to wait for it.

    Rule: partition-reassign.leader-and-isr-fields.
    """
    if event.broker not in configuration.brokers or event.broker in state.alive:
        known = event.broker in configuration.brokers
        return Outcome(state, refusal=Refusal.ALREADY_SO if known else Refusal.UNKNOWN_ID)
    now = state._replace(alive=state.alive | {event.broker})
    held = _held_by(now, event.broker)
    risen = {
        name: elect_leader(partition, now.alive, is_unclean(configuration, name)) for name, partition in held.items()
    }
    outcome = apply_changes(now, configuration, state.controller, {**state.partitions, **risen})
    unchanged = [name for name in held if risen[name] == held[name]]
    notified = tuple([leader_and_isr(event.broker, name, held[name]) for name in unchanged])
    return Outcome(outcome.state, (*outcome.effects, *notified))


def after_controller_failover(
    state: ControllerState, configuration: PartitionConfiguration, event: ControllerFailover
) -> Outcome:
    """The new controller reads what is stored, and notifies every replica, since it cannot know what the last one sent.

    The old znode comes after the topics' own ones and wins, although an API request may have replaced it since.
    Rules: partition-reassign.persisted, partition-reassign.legacy-znode-precedence,
    partition-reassign.controller-only.
    """
    if event.node == state.controller or event.node not in configuration.controllers:
        known = event.node in configuration.controllers
        return Outcome(state, refusal=Refusal.ALREADY_SO if known else Refusal.UNKNOWN_ID)
    # Who is not controller any more forgets what it knew, or it could go on writing.
    now = state._replace(controller=event.node, memory={event.node: state.stored})
    notified = [name for name in state.stored if exists(now, state.stored, name)]
    after, refused = with_legacy_targets(now, configuration, state.stored)
    return apply_changes(now, configuration, event.node, after, notified=notified, refused=refused)
