"""Conversion of an adapter's observations to effects and states of the reference."""

from collections.abc import Iterable, Sequence
from dataclasses import replace as replaced
from typing import Any, TypeVar, get_args

from msgspec import UNSET, Struct
from msgspec.structs import replace

from kraft_conformance.runner.comparison import effect_name
from kraft_conformance.runner.concluding import CORE
from kraft_conformance.runner.shown import Observation
from kraft_reference import durability
from kraft_reference.changes import (
    AwaitingCatchUp,
    AwaitingCommit,
    AwaitingVersions,
    ChangeKind,
    PendingChange,
    Requester,
)
from kraft_reference.effects import Answer, Effect, Send, StartTimer
from kraft_reference.log import truncate
from kraft_reference.messages import REQUESTS, ChangeResponse
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.type_check import check_type
from kraft_simulation.violation import BrokenProperty
from kraft_traces.checkpoint_types import TracedReplicaState
from kraft_traces.checkpoints import replica_state_of
from kraft_traces.effects import TracedEffect, TracedSend, effect_of
from kraft_traces.message_types import CHANGE_ANSWERS, TracedMessage
from kraft_traces.state_types import TracedState
from kraft_traces.states import traced_state
from kraft_traces.values import CHANGE_SUFFIX, traced_key, traced_record, traced_snapshot
from kraft_vectors.state_changes import apply_changes

_Part = TypeVar("_Part", bound=Struct)

TRACED_MESSAGE = get_args(TracedMessage)

STATE_OF_CLUSTERS = (*CORE, "voters")
"""Fields of the state on which cluster properties depend."""


def mask(expected: _Part, actual: Struct) -> _Part:
    """Return `expected` without the fields that `actual` omits, recursively; a message keeps its id."""
    fields: dict[str, Any] = {}
    names_a_message = isinstance(expected, TRACED_MESSAGE)
    for name in expected.__struct_fields__:
        observed, wanted = getattr(actual, name, UNSET), getattr(expected, name)
        if names_a_message and name == "id":
            continue
        if observed is UNSET:
            fields[name] = UNSET
        elif isinstance(wanted, Struct) and isinstance(observed, Struct):
            fields[name] = mask(wanted, observed)
    return replace(expected, **fields) if fields else expected


def fill_from(actual: _Part, expected: Struct | None) -> _Part:
    """Return `actual` with its omitted fields taken from `expected`, if both have the same type."""
    if expected is None or type(expected) is not type(actual):
        return actual
    fields: dict[str, Any] = {}
    for name in actual.__struct_fields__:
        observed, wanted = getattr(actual, name), getattr(expected, name)
        if observed is UNSET:
            fields[name] = wanted
        elif isinstance(observed, Struct) and isinstance(wanted, Struct):
            fields[name] = fill_from(observed, wanted)
    return replace(actual, **fields) if fields else actual


def name_messages(sequence: int, observation: Observation) -> Observation:
    """Return the observation with the ids that its messages have in the run."""
    if not observation.effects:
        return observation
    return replaced(observation, effects=tuple([_named(sequence, effect) for effect in observation.effects]))


def _named(sequence: int, effect: TracedEffect) -> TracedEffect:
    if not isinstance(effect, TracedSend) or effect.message.destination is UNSET:
        return effect
    suffix = CHANGE_SUFFIX if isinstance(effect.message, CHANGE_ANSWERS) else ""
    return TracedSend(replace(effect.message, id=f"{sequence}.{effect.message.destination}{suffix}"))


def reference_effects(
    own: TracedState, actual: Sequence[TracedEffect], expected: Sequence[TracedEffect], hidden: Sequence[Effect]
) -> tuple[Effect, ...]:
    """Return the observed effects for the simulation, timers last.

    Args:
        own: the replica's state after them.
        actual: observed effects.
        expected: the reference's effects, for hidden fields.
        hidden: the reference's effects of hidden kinds.

    Raises:
        IncompleteLineError: a message lacks a field that the reference does not have either.
    """
    expected_by_name = {effect_name(effect): effect for effect in expected}
    made = []
    for place, effect in enumerate(actual):
        whole = fill_from(effect, expected_by_name.get(effect_name(effect)))
        if isinstance(whole, TracedSend):
            whole = TracedSend(_from(own, whole.message))
        made.append(effect_of(whole, f"$.effects[{place}]"))
    return timers_last((*hidden, *made))


def timers_last(effects: Iterable[Effect]) -> tuple[Effect, ...]:
    """Return the effects with the started timers last; the order of a timer has no meaning."""
    return tuple(sorted(effects, key=lambda effect: isinstance(effect, StartTimer)))


def _from(own: TracedState, message: TracedMessage) -> TracedMessage:
    """Return a message with its source; a change response also gets epoch and leader, which Kafka's lacks."""
    assert own.replica_key is not UNSET, "of every state"
    whole = replace(message, source=own.replica_key.id)
    if not isinstance(whole, CHANGE_ANSWERS):
        return whole
    leader = {name: getattr(own, name) for name in ("epoch", "leader_id", "leader_endpoint")}
    return replace(whole, **{name: value for name, value in leader.items() if getattr(whole, name) is UNSET})


def follow_state(
    before: ReplicaState,
    effects: Sequence[Effect],
    expected: ReplicaState,
    observed: TracedState,
    kept: int | None = None,
) -> ReplicaState:
    """Return the complete state of an implementation; hidden parts are taken from the reference's.

    The reference's votes, requests and pending change are dropped if they contradict the observed state.

    Args:
        before: the state before the step.
        effects: effects of the step.
        expected: the reference's state after the step.
        observed: the implementation's state after the step.
        kept: end of the log that survived, if the replica crashed.

    Raises:
        CheckpointError: the state does not follow from the effects on the log.
        ValueError: the effects on the log are impossible, or the state contradicts itself, maybe because of hidden
            parts.
    """
    log = durability.apply_durable(before, effects).log
    if kept is not None:
        log = truncate(log, kept)._replace(flushed=kept)
    went_on = expected._replace(log=log)
    if observed.role is Role.STOPPED and expected.role is not Role.STOPPED:
        went_on = durability.crash(went_on, log.end_offset)
    went_on = _with_requests(before, went_on._replace(pending_change=_pending(went_on, effects)), effects)
    working = _whole(before, went_on, observed)
    try:
        check_type(working)
    except BrokenProperty:
        idle = _whole(before, _without_work(went_on, observed), observed)
        if hides(observed, STATE_OF_CLUSTERS):
            _check_mix(idle)
        return idle
    return working


def _with_requests(before: ReplicaState, after: ReplicaState, effects: Sequence[Effect]) -> ReplicaState:
    """Return the reference's state with the implementation's requests in flight."""
    messages = [effect.message for effect in effects if isinstance(effect, Send)]
    sent = {message.destination: message.correlation_id for message in messages if isinstance(message, REQUESTS)}
    awaiting = {**after.awaiting, **sent}
    if after.role is not Role.LEADER:
        return after._replace(awaiting=awaiting)
    unsent = {to for to, number in after.awaiting.items() if before.awaiting.get(to) != number and to not in sent}
    if isinstance(after.pending_change, AwaitingVersions):
        unsent.discard(after.pending_change.voter.id)
    # Without BeginQuorumEpoch, a voter waits for its timer; the reference would ask to be polled again.
    awaiting = {to: number for to, number in awaiting.items() if to not in unsent}
    return after._replace(awaiting=awaiting, acknowledging_voters=after.acknowledging_voters | unsent)


def _pending(after: ReplicaState, effects: Sequence[Effect]) -> PendingChange | None:
    """Return the reference's pending change, advanced by the implementation's effects."""
    change = after.pending_change
    if change is None or (
        change.requester is not None and any(_answers(effect, change.requester) for effect in effects)
    ):
        return None
    if isinstance(change, AwaitingCatchUp) and change.voter in after.voters:
        offset = after.log.voters[-1].offset
        return AwaitingCommit(ChangeKind.ADD, change.voter, offset, change.requester, change.details)
    return change


def _answers(effect: Effect, requester: Requester) -> bool:
    if isinstance(effect, Answer):
        return (None, effect.reply.request) == requester[:2]
    if not isinstance(effect, Send) or not isinstance(effect.message, ChangeResponse):
        return False
    return (effect.message.destination, effect.message.correlation_id) == requester[:2]


def hides(observed: TracedState, names: Sequence[str]) -> bool:
    """True if one of these fields is hidden."""
    return any(getattr(observed, name) is UNSET for name in names)


def _check_mix(state: ReplicaState) -> None:
    try:
        check_type(state)
    except BrokenProperty as error:
        raise ValueError(f"the observed fields do not combine with the reference's state: {error}") from error


def _without_work(expected: ReplicaState, observed: TracedState) -> ReplicaState:
    """Return the state without votes, requests and pending changes, except those that the role implies."""
    role = expected.role if observed.role is UNSET else observed.role
    granted = frozenset({expected.key.id}) if role in (Role.PROSPECTIVE, Role.CANDIDATE) else frozenset[int]()
    idle = expected._replace(pending_change=None, reports=(), awaited_targets={}, wanted_snapshot=None, awaiting={})
    return idle._replace(granted=granted, rejected=frozenset())


def _whole(before: ReplicaState, expected: ReplicaState, observed: TracedState) -> ReplicaState:
    log = expected.log
    reference = traced_state(expected)
    if observed.voters is not UNSET and reference.voters is not UNSET:
        # Each part of it may be omitted.
        observed = replace(observed, voters=apply_changes(reference.voters, observed.voters))
    whole = apply_changes(reference, observed)
    start = expected.epoch_start_offset
    if whole.role is Role.LEADER:
        of_epoch = [log.start_offset + place for place, record in enumerate(log.records) if record.epoch == whole.epoch]
        start = start if log.start_offset > start or not of_epoch else of_epoch[0]
    restored = replica_state_of(
        "$",
        TracedReplicaState(
            whole,
            traced_snapshot(log.base),
            tuple([traced_record(record) for record in log.records]),
            start,
            tuple([traced_key(key) for key in expected.preferred_candidates]),
        ),
    )
    # Keep the identical record objects, because the simulator's disk compares them by identity.
    return restored._replace(log=log._replace(flushed=restored.log.flushed))
