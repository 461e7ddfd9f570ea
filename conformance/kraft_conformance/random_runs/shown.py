"""What an adapter shows, in the form of the reference: effects to go on with, and a state that fits them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace as replaced
from typing import Any, TypeVar, get_args

from msgspec import UNSET, Struct
from msgspec.structs import replace

from kraft_conformance.runner.comparison import effect_name
from kraft_conformance.runner.concluding import CORE
from kraft_conformance.runner.shown import Shown
from kraft_reference import durability
from kraft_reference.changes import CatchUp, ChangeKind, Commit, LearnVersions, PendingChange, Requester
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
from kraft_vectors.state_changes import applied

_Part = TypeVar("_Part", bound=Struct)

TRACED_MESSAGE = get_args(TracedMessage)

STATE_OF_CLUSTERS = (*CORE, "voters")
"""Fields of the state on which the properties of clusters hang."""


def masked(expected: _Part, actual: Struct) -> _Part:
    """`expected` without the fields that `actual` leaves out, in its parts too; a message keeps its name."""
    fields: dict[str, Any] = {}
    names_a_message = isinstance(expected, TRACED_MESSAGE)
    for name in expected.__struct_fields__:
        observed, wanted = getattr(actual, name, UNSET), getattr(expected, name)
        if names_a_message and name == "id":
            continue
        if observed is UNSET:
            fields[name] = UNSET
        elif isinstance(wanted, Struct) and isinstance(observed, Struct):
            fields[name] = masked(wanted, observed)
    return replace(expected, **fields) if fields else expected


def filled(actual: _Part, expected: Struct | None) -> _Part:
    """`actual` with what it leaves out taken from `expected`, where that is one of the same kind."""
    if expected is None or type(expected) is not type(actual):
        return actual
    fields: dict[str, Any] = {}
    for name in actual.__struct_fields__:
        observed, wanted = getattr(actual, name), getattr(expected, name)
        if observed is UNSET:
            fields[name] = wanted
        elif isinstance(observed, Struct) and isinstance(wanted, Struct):
            fields[name] = filled(observed, wanted)
    return replace(actual, **fields) if fields else actual


def named(sequence: int, observation: Shown) -> Shown:
    """What was shown, its messages with their names in the run."""
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
    """The shown effects in their order, the timers last, as a cluster can carry them out.

    Args:
        own: the state of the replica that did them, afterwards.
        actual: as it shows them.
        expected: those of the reference, for the fields that are not shown.
        hidden: effects of the reference of the kinds that are never shown.

    Raises:
        IncompleteLineError: a message cannot be delivered, because a field of it is neither shown nor known.
    """
    expected_by_name = {effect_name(effect): effect for effect in expected}
    made = []
    for place, effect in enumerate(actual):
        whole = filled(effect, expected_by_name.get(effect_name(effect)))
        if isinstance(whole, TracedSend):
            whole = TracedSend(_from(own, whole.message))
        made.append(effect_of(whole, f"$.effects[{place}]"))
    return timers_last((*hidden, *made))


def timers_last(effects: Iterable[Effect]) -> tuple[Effect, ...]:
    """The effects, and after them the timers that start: a timer between two of them promises nothing to anybody."""
    return tuple(sorted(effects, key=lambda effect: isinstance(effect, StartTimer)))


def _from(own: TracedState, message: TracedMessage) -> TracedMessage:
    """A message with who sent it; an answer to a change, which has none in Kafka, with its epoch and leader too."""
    assert own.replica_key is not UNSET, "of every state"
    whole = replace(message, source=own.replica_key.id)
    if not isinstance(whole, CHANGE_ANSWERS):
        return whole
    leader = {name: getattr(own, name) for name in ("epoch", "leader_id", "leader_endpoint")}
    return replace(whole, **{name: value for name, value in leader.items() if getattr(whole, name) is UNSET})


def followed(
    before: ReplicaState,
    effects: Sequence[Effect],
    expected: ReplicaState,
    observed: TracedState,
    kept: int | None = None,
) -> ReplicaState:
    """The state that an implementation shows, whole: what it does not show is taken from the reference's.

    What the reference works on contradicts what is shown where the two have parted: then it is left out.

    Args:
        before: the state before the step.
        effects: what it did.
        expected: the reference's state after the step.
        observed: what it shows of its own.
        kept: how much of the log survived, if it died.

    Raises:
        CheckpointError: the state does not follow from what was done to the log.
        ValueError: what was done to the log cannot be done to it, or the state contradicts itself, of which what is
            not shown may be the reason.
    """
    log = durability.apply_durable(before, effects).log
    if kept is not None:
        log = truncate(log, kept)._replace(flushed=kept)
    went_on = expected._replace(log=log)
    if observed.role is Role.STOPPED and expected.role is not Role.STOPPED:
        went_on = durability.crashed(went_on, log.end_offset)
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
    """The reference's state with the requests under way that the implementation has sent."""
    messages = [effect.message for effect in effects if isinstance(effect, Send)]
    sent = {message.destination: message.correlation_id for message in messages if isinstance(message, REQUESTS)}
    awaiting = {**after.awaiting, **sent}
    if after.role is not Role.LEADER:
        return after._replace(awaiting=awaiting)
    unsent = {to for to, number in after.awaiting.items() if before.awaiting.get(to) != number and to not in sent}
    if isinstance(after.pending_change, LearnVersions):
        unsent.discard(after.pending_change.voter.id)
    # Whom it has not announced itself to waits for its timer; the reference would go on asking to be polled.
    awaiting = {to: number for to, number in awaiting.items() if to not in unsent}
    return after._replace(awaiting=awaiting, acknowledged=after.acknowledged | unsent)


def _pending(after: ReplicaState, effects: Sequence[Effect]) -> PendingChange | None:
    """The reference's pending change, as far as the implementation's effects have brought it."""
    change = after.pending_change
    if change is None or (
        change.requester is not None and any(_answers(effect, change.requester) for effect in effects)
    ):
        return None
    if isinstance(change, CatchUp) and change.voter in after.voters:
        offset = after.log.voters[-1].offset
        return Commit(ChangeKind.ADD, change.voter, offset, change.requester, change.details)
    return change


def _answers(effect: Effect, requester: Requester) -> bool:
    if isinstance(effect, Answer):
        return (None, effect.reply.request) == requester[:2]
    if not isinstance(effect, Send) or not isinstance(effect.message, ChangeResponse):
        return False
    return (effect.message.destination, effect.message.correlation_id) == requester[:2]


def hides(observed: TracedState, names: Sequence[str]) -> bool:
    """Is one of these fields not shown?"""
    return any(getattr(observed, name) is UNSET for name in names)


def _check_mix(state: ReplicaState) -> None:
    try:
        check_type(state)
    except BrokenProperty as error:
        raise ValueError(f"the observed fields do not combine with the reference's state: {error}") from error


def _without_work(expected: ReplicaState, observed: TracedState) -> ReplicaState:
    """Without votes, requests and changes under way: only what the role itself says."""
    role = expected.role if observed.role is UNSET else observed.role
    granted = frozenset({expected.key.id}) if role in (Role.PROSPECTIVE, Role.CANDIDATE) else frozenset[int]()
    idle = expected._replace(pending_change=None, reports=(), awaited_targets={}, wanted_snapshot=None, awaiting={})
    return idle._replace(granted=granted, rejected=frozenset())


def _whole(before: ReplicaState, expected: ReplicaState, observed: TracedState) -> ReplicaState:
    log = expected.log
    reference = traced_state(expected)
    if observed.voters is not UNSET and reference.voters is not UNSET:
        # Each part of it may be left out.
        observed = replace(observed, voters=applied(reference.voters, observed.voters))
    whole = applied(reference, observed)
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
    # The same records, as the very objects that were appended: the disk of the simulator looks for those.
    return restored._replace(log=log._replace(flushed=restored.log.flushed))
