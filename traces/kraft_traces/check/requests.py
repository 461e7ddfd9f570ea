"""What a foreign line of an administrator's request that leaves something out may stand for.

A request for a voter change is tried with what the rest of the line tells, else with one value of each kind that can
make a difference: every replica as it is now, every voter, and a key that nobody has.
"""

from collections.abc import Callable, Iterator
from itertools import chain, combinations, product
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from kraft_reference.changes import ChangeKind
from kraft_reference.events import UpdateFeatures
from kraft_reference.outcome import Refusal
from kraft_spec.mapping import is_same_cluster
from kraft_spec.mapping_forms import NO_KEY, OPTIONAL_LIST, ModelKey, key_to_model, text_to_model
from kraft_spec.tlc.values import INTEGER_MAX
from kraft_traces.check.binding import Event, choice
from kraft_traces.effects import TracedAnswer
from kraft_traces.lines import EventLine, TracedInput
from kraft_traces.state_types import TracedChange

STRANGER = ModelKey(INTEGER_MAX, "nobody")
"""A key that a replica could have, and none has."""


class Replica(NamedTuple):
    """A replica as it is now."""

    key: ModelKey
    endpoint: str
    """Where it listens."""


def request_number(line: EventLine) -> int | None:
    """The client's number for the request, which the line may show in three places; None if it does not."""
    given: int | UnsetType = _input(line).request
    if given is not UNSET:
        return given
    pending = _pending(line)
    if pending is not None:
        return pending.request
    answers = () if line.effects is UNSET else line.effects
    return next((effect.reply.request for effect in answers if isinstance(effect, TracedAnswer)), None)


def asked_events(
    line: EventLine,
    cluster_id: str,
    replicas: Callable[[], tuple[Replica, ...]],
    voters: Callable[[], frozenset[ModelKey]],
) -> Iterator[Event]:
    """What an AddVoter, RemoveVoter or UpdateFeatures may ask for, without the head of the event.

    Args:
        line: one that leaves out a field of its input.
        cluster_id: that of the header.
        replicas: asked for if the line leaves out whom to add.
        voters: asked for if the line leaves out whom to remove.
    """
    number = request_number(line) or 0
    if line.event == "UpdateFeatures":
        yield from _updates(line, number)
        return
    for same_cluster in _same_cluster(line, cluster_id):
        if line.event == "RemoveVoter":
            for voter in _removed(line, voters):
                yield {"request": number, "voter": voter, "same_cluster": same_cluster}
            continue
        for (voter, endpoint), when_committed in product(_added(line, replicas), _when_committed(line)):
            asked = {"request": number, "voter": voter, "endpoint": endpoint}
            yield {**asked, "when_committed": when_committed, "same_cluster": same_cluster}


def targets_asked(line: EventLine, replica_ids: tuple[int, ...]) -> Iterator[Event]:
    """What an AlterPartitionReassignments may ask for, without the head of the event.

    A line that was granted shows the target that stands after it; of the lists that are refused for themselves one
    without ids stands for all.
    """
    given: tuple[int, ...] | UnsetType | None = _input(line).replicas
    number = request_number(line) or 0
    if given is not UNSET:
        yield {"request": number, "replicas": OPTIONAL_LIST.to_model(given)}
        return
    shown = UNSET if line.state is UNSET or line.state.voters is UNSET else line.state.voters.target
    if shown is not UNSET:
        yield {"request": number, "replicas": OPTIONAL_LIST.to_model(shown)}
    else:
        lists = chain.from_iterable(combinations(replica_ids, size) for size in range(1, len(replica_ids) + 1))
        yield from ({"request": number, "replicas": OPTIONAL_LIST.to_model(one)} for one in (None, *lists))
    if line.refusal is not None:
        yield from ({"request": number, "replicas": OPTIONAL_LIST.to_model(one)} for one in (None, ()))


def _input(line: EventLine) -> TracedInput:
    return TracedInput() if line.input is UNSET else line.input


def _pending(line: EventLine) -> TracedChange | None:
    """The change that the line shows to be pending after it, if it is this request's and not one from before."""
    pending = UNSET if line.state is UNSET else line.state.pending_change
    if pending is UNSET or pending is None or pending.requester is not None or pending.kind != _KINDS.get(line.event):
        return None
    number = _input(line).request
    granted = line.refusal is None or (line.refusal is UNSET and number is not UNSET)
    return pending if granted and number in (UNSET, pending.request) else None


_KINDS = {"AddVoter": ChangeKind.ADD, "RemoveVoter": ChangeKind.REMOVE, "UpdateFeatures": ChangeKind.UPGRADE}


def _updates(line: EventLine, number: int) -> Iterator[Event]:
    given = _input(line)
    levels = (0, 1) if given.kraft_version is UNSET else (given.kraft_version,)
    lowest = (0,) if given.brokers_min is UNSET else (given.brokers_min,)
    highest = (0, 1) if given.brokers_max is UNSET else (given.brokers_max,)
    for level, low, high in product(levels, lowest, highest):
        yield choice(UpdateFeatures, request=number, kraft_version=level, brokers_min=low, brokers_max=high)


def _same_cluster(line: EventLine, cluster_id: str) -> tuple[bool, ...]:
    given = _input(line).cluster_id
    if given is not UNSET:
        return (is_same_cluster(given, cluster_id),)
    if line.refusal is UNSET:
        return (True, False)
    return (line.refusal is not Refusal.FOREIGN_CLUSTER,)


def _when_committed(line: EventLine) -> tuple[bool, ...]:
    given, pending = _input(line).when_committed, _pending(line)
    if given is not UNSET:
        return (given,)
    return (True, False) if pending is None else (pending.when_committed,)


def _removed(line: EventLine, voters: Callable[[], frozenset[ModelKey]]) -> tuple[ModelKey, ...]:
    given, pending = _input(line).voter, _pending(line)
    if given is not UNSET:
        return (key_to_model(given),)
    if pending is not None and pending.voter is not None:
        return (key_to_model(pending.voter),)
    return (*sorted(voters()), STRANGER, NO_KEY)


def _added(line: EventLine, replicas: Callable[[], tuple[Replica, ...]]) -> tuple[Replica, ...]:
    """Whom to add, with the endpoint: as far as it is given, else as the replica of that id listens now."""
    given, pending = _input(line), _pending(line)
    if given.voter is not UNSET:
        keys: tuple[ModelKey, ...] | None = (key_to_model(given.voter),)
    elif pending is not None and pending.voter is not None:
        keys = (key_to_model(pending.voter),)
    else:
        keys = None
    if given.endpoint is not UNSET:
        endpoint: str | None = text_to_model(given.endpoint)
    else:
        endpoint = None if pending is None else text_to_model(pending.endpoint)
    if keys is not None and endpoint is not None:
        return tuple(Replica(key, endpoint) for key in keys)
    listening = {replica.key.id: replica.endpoint for replica in replicas()}
    if keys is None:
        keys = (*[replica.key for replica in replicas()], STRANGER, NO_KEY)
    named = [Replica(key, listening.get(key.id, _SOMEWHERE) if endpoint is None else endpoint) for key in keys]
    # A request without an endpoint is malformed, whomever it names.
    may_lack_it = endpoint is None and line.refusal in (UNSET, Refusal.MALFORMED_REQUEST)
    return (*named, Replica(keys[0], text_to_model(None))) if may_lack_it else tuple(named)


_SOMEWHERE = "somewhere"
