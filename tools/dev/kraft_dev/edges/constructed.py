"""Constructed states: a systematic product of states of one replica with messages to it.

The outcome of an event is defined on every well-typed state, and so is the reference's `handle`.
Some rules forbid transitions that other rules make unreachable, so the reachable graph never exercises them.
This module puts the replica into such states directly; the rest of the cluster is in an initial state.

The products are too large to enumerate: each state receives every nth message of its family, and the next state
starts one message later, so that each message meets states of each kind.  Nothing is random.

Excluded:
- a replica that names itself as leader and is neither Leader, Resigned nor stopped: a restart makes it
  Resigned, and neither the model nor the reference defines another role;
- a Candidate without a vote, and a Prospective or a Candidate outside its voter set: RoleOk excludes them;
- offsets, high watermarks and flushed ends beyond the end of the log: StateOk excludes them;
- messages from the replica to itself, which no replica sends;
- responses with INCONSISTENT_CLUSTER_ID, because all messages in the model are of one cluster.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from kraft_dev.edges import constructed_changes as changes
from kraft_dev.edges import constructed_messages as told
from kraft_dev.edges import constructed_states as states
from kraft_dev.edges.constructed_place import EPOCH, Place
from kraft_dev.edges.edge import ModelRecord

Messages = tuple[ModelRecord, ...]


class ConstructedState(NamedTuple):
    """A replica in a state, and the messages that it receives there, each in a step of its own.

    Attributes:
        replica_id: The replica under test.
        before: State of the replica.
        messages: Messages to the replica; many states share the same group objects.
        share: Stride: of the events that the role may not allow, every `share`-th is tried.
        turn: Index of the first event tried, below `share`.
        crashing: True if the replica may crash in the middle of a step.
        asking: True if clients send voter changes, both correct and with each field wrong.
    """

    replica_id: int
    before: ModelRecord
    messages: tuple[Messages, ...]
    share: int
    turn: int
    crashing: bool = False
    asking: bool = False


WIDE = 4
"""Stride in places with `Place.full`: a state receives every fourth message."""
NARROW = 10
"""Stride in other places."""

PLACES: Mapping[str, tuple[tuple[int, int, int, bool], ...]] = {
    "HandOver": ((1, 2, 3, True),),
    "Mixed": ((2, 1, 3, False), (3, 1, 2, False)),
    "Changes": ((2, 3, 1, True),),
    "Crashing": ((3, 1, 2, False),),
    "Observing": ((1, 2, 3, False), (4, 1, 2, False), (1, 4, 2, False)),
}
"""Clusters of Edges.tla: the replica under test, its two peers, and `Place.full`."""


def constructed_states(cluster: str, configuration: ModelRecord) -> Iterator[ConstructedState]:
    """Yield every constructed state of a cluster."""
    for replica_id, first, second, full in PLACES.get(cluster, ()):
        yield from _at(Place(configuration, replica_id, first, second, full))


def _at(place: Place) -> Iterator[ConstructedState]:
    """Yield each family of states with the messages that can make a difference in it."""
    votes = tuple(told.vote_requests(place))
    announcements = tuple(told.announcements(place))
    answers = (tuple(told.vote_responses(place)), tuple(told.announcement_responses(place)))
    any_fetch_answer = tuple(told.answers_of_any_leader(place))
    late_fetches = tuple(told.late_fetch_requests(place))
    change_families = _change_families(place, votes, any_fetch_answer)
    of_changes = (group for _, groups in change_families for group in groups)
    kinds = _one_of_each(votes, announcements, *answers, late_fetches, any_fetch_answer, *of_changes)
    families: tuple[tuple[Callable[[Place], Iterator[ModelRecord]], tuple[Messages, ...]], ...] = (
        (states.asked_states, (votes, announcements, late_fetches)),
        (states.waiting_states, (*answers, any_fetch_answer)),
        (states.leader_states, (tuple(told.fetch_requests(place)),)),
        (states.fetching_states, (tuple(told.fetch_responses(place)),)),
        (states.stopped_states, (kinds,)),
        *change_families,
    )
    share = WIDE if place.full else NARROW
    for family, messages in families:
        told_in_turn = [tuple([group[turn::share] for group in messages]) for turn in range(share)]
        turn = 0
        for before in family(place):
            if _is_voter_where_it_must(before):
                asking = turn == 0 or family in _ASKED_FAMILIES
                yield ConstructedState(place.replica_id, before, told_in_turn[turn], share, turn, asking=asking)
                turn = (turn + 1) % share
    if place.full:
        few = (_telling(votes), announcements[-4:], _telling(answers[0]), tuple(told.fetch_responses(place))[::4])
        for before in states.unflushed_states(place):
            yield ConstructedState(place.replica_id, before, few, share, turn=0, crashing=True)
        requests = tuple(_of_the_epoch(kind(place))[::3] for kind in (changes.change_requests, told.fetch_requests))
        for before in (*changes.changing_states(place), *tuple(changes.reassigning_states(place))[::4]):
            yield ConstructedState(place.replica_id, before, requests, share, turn=0, crashing=True, asking=True)


_ASKED_FAMILIES = (changes.changing_states, changes.reassigning_states, changes.based_states)
"""Families of states in which clients send every kind of request."""


def _change_families(
    place: Place, votes: Messages, fetch_answers: Messages
) -> tuple[tuple[Callable[[Place], Iterator[ModelRecord]], tuple[Messages, ...]], ...]:
    """Return the families for voter changes and snapshots; a Vote or Fetch response may end a leader's change."""
    requests, versions = tuple(changes.change_requests(place)), tuple(changes.versions(place))
    fetches = (tuple(told.fetch_requests(place)), tuple(changes.snapshot_requests(place)))
    answers = (tuple(changes.change_responses(place)), tuple(changes.snapshot_responses(place)))
    return (
        (changes.changing_states, (requests, versions, fetches[0], votes)),
        *(((changes.reassigning_states, (requests, versions, fetches[0], votes)),) if place.full else ()),
        (changes.based_states, (*fetches, requests)),
        (changes.joining_states, (*answers, tuple(changes.batches(place)), fetch_answers, versions)),
    )


def _is_voter_where_it_must(before: ModelRecord) -> bool:
    """True unless an observer is Prospective or Candidate, which RoleOk forbids."""
    if before["role"] not in ("Prospective", "Candidate"):
        return True
    own = before["replica_key"]
    return any(
        voter.id == own.id and voter.directory_id in ("", own.directory_id) for voter in before["voters"][-1]["voters"]
    )


def _telling(messages: Messages) -> Messages:
    """Return the Votes and responses of this epoch and the next that may be granted."""
    return tuple(
        message
        for message in messages
        if message["epoch"] >= EPOCH
        and (message.get("end_offset") == 3 or message.get("granted"))
        and message.get("leader_id", -1) == -1
    )


def _of_the_epoch(messages: Iterator[ModelRecord]) -> Messages:
    return tuple(message for message in messages if message.get("epoch", EPOCH) == EPOCH)


def _one_of_each(*groups: Messages) -> Messages:
    """Return the first message of each type."""
    kinds: dict[str, ModelRecord] = {}
    for message in (message for group in groups for message in group):
        kinds.setdefault(message["type"], message)
    return tuple(kinds.values())
