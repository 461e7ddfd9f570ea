"""Messages for `constructed`: what a replica in `EPOCH` may be told, whether anybody would tell it or not."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from kraft_dev.edges.constructed_place import (
    EPOCH,
    NO_ENDPOINT,
    NO_LEADER,
    OTHER_DIRECTORY,
    Fields,
    Place,
    hashable,
    record,
    voters_record,
    voters_sets,
)
from kraft_dev.edges.edge import ModelRecord
from kraft_spec.mapping_forms import NO_KEY, ModelKey

EPOCHS = (EPOCH - 1, EPOCH, EPOCH + 1)
NO_RECORDS: Fields = {
    **dict.fromkeys(("high_watermark", "diverging_epoch", "diverging_end_offset"), -1),
    **dict.fromkeys(("snapshot_end_offset", "snapshot_epoch"), -1),
    "records": (),
}
"""A Fetch answer that brings nothing."""


def message(place: Place, kind: str, source: int | None = None, **fields: Any) -> ModelRecord:
    """One from `place.first` if no `source` is given, of an outstanding request if no `correlation_id` is."""
    sender = place.first if source is None else source
    return hashable({"type": kind, "source": sender, "destination": place.replica_id, "correlation_id": 1, **fields})


def _wrong_addresses(place: Place) -> tuple[ModelKey, ...]:
    """Voter keys that are not the entry of the replica; the first two still address it."""
    own = place.replica_id
    return (
        NO_KEY,
        ModelKey(own, "") if place.entry(own).directory_id else place.own,
        ModelKey(own, OTHER_DIRECTORY),
        place.key(place.second),
    )


def vote_requests(place: Place) -> Iterator[ModelRecord]:
    """Votes and Pre-Votes: shorter, equal and longer logs, malformed ones, voter keys, requesters."""

    def asks(epoch: int, pre_vote: bool, **changed: Any) -> ModelRecord:
        keys = {"replica_key": place.key(place.first), "voter_key": place.entry(place.replica_id)}
        plain: dict[str, Any] = {**keys, "last_epoch": 1, "end_offset": 3, "pre_vote": pre_vote}
        return message(place, "VoteRequest", epoch=epoch, **(plain | changed))

    positions = ((0, 0), (1, 1), (1, 2), (1, 3), (2, 2), (3, 1))
    for epoch, pre_vote in product(EPOCHS, (False, True)):
        for last_epoch, end_offset in positions:
            yield asks(epoch, pre_vote, last_epoch=last_epoch, end_offset=end_offset)
        for voter_key in _wrong_addresses(place):
            yield asks(epoch, pre_vote, voter_key=voter_key)
        if epoch >= EPOCH:
            yield asks(epoch, pre_vote, replica_key=ModelKey(place.first, OTHER_DIRECTORY))
            yield asks(epoch, pre_vote, replica_key=place.key(place.second), source=place.second)
    yield asks(EPOCH, pre_vote=False, correlation_id=0)


def announcements(place: Place) -> Iterator[ModelRecord]:
    """BeginQuorumEpoch and EndQuorumEpoch of either of the others as the leader."""
    begin, end = "BeginQuorumEpochRequest", "EndQuorumEpochRequest"
    own = place.entry(place.replica_id)
    for epoch, leader in product(EPOCHS, (place.first, place.second)):
        for endpoint in (NO_ENDPOINT, place.endpoint(leader)):
            yield message(place, begin, leader, epoch=epoch, voter_key=own, leader_endpoint=endpoint)
        for preferred in ((), (own, place.entry(place.second))):
            yield message(place, end, leader, epoch=epoch, preferred_candidates=preferred)
    for epoch, voter_key in product(EPOCHS, _wrong_addresses(place)):
        yield message(place, begin, epoch=epoch, voter_key=voter_key, leader_endpoint=place.endpoint(place.first))


NOBODY: Fields = {"leader_id": NO_LEADER, "leader_endpoint": NO_ENDPOINT}


def leaders(place: Place) -> tuple[Fields, ...]:
    """What an answer may say of the leader: nobody, either of the others with or without endpoint, the replica."""
    named = [{"leader_id": leader, "leader_endpoint": NO_ENDPOINT} for leader in (NO_LEADER, place.first, place.second)]
    found = (place.first, place.second, place.replica_id)
    return (*named, *map(place.leader, found))


def vote_responses(place: Place) -> Iterator[ModelRecord]:
    """Answers to Votes and Pre-Votes: with each error the flags are those of a refusal."""
    kind = "VoteResponse"
    for epoch, leader in product(EPOCHS, leaders(place)):
        for granted, pre_vote in product((False, True), repeat=2):
            yield message(place, kind, epoch=epoch, error="NONE", granted=granted, pre_vote=pre_vote, **leader)
        for error in ("INVALID_REQUEST", "FENCED_LEADER_EPOCH", "UNSUPPORTED_VERSION"):
            yield message(place, kind, epoch=epoch, error=error, granted=False, pre_vote=True, **leader)
    for pre_vote in (False, True):
        yield message(place, kind, epoch=EPOCH, error="INVALID_VOTER_KEY", granted=False, pre_vote=pre_vote, **NOBODY)
    # The sender's own network layer answers so.
    yield message(place, kind, epoch=0, error="UNSUPPORTED_VERSION", granted=False, pre_vote=False, **NOBODY)
    for granted, pre_vote in product((False, True), repeat=2):
        counted: Fields = {"error": "NONE", "granted": granted, "pre_vote": pre_vote, **NOBODY}
        yield message(place, kind, epoch=EPOCH, correlation_id=0, **counted)
        yield message(place, kind, place.second, epoch=EPOCH, **counted)


def announcement_responses(place: Place) -> Iterator[ModelRecord]:
    """Answers to BeginQuorumEpoch and EndQuorumEpoch."""
    for kind in ("BeginQuorumEpochResponse", "EndQuorumEpochResponse"):
        errors = ("NONE", "FENCED_LEADER_EPOCH", "INVALID_REQUEST") if place.full else ("NONE", "INVALID_REQUEST")
        for epoch, leader, error in product(EPOCHS, leaders(place), errors):
            yield message(place, kind, epoch=epoch, error=error, **leader)
        yield message(place, kind, epoch=EPOCH, error="INVALID_VOTER_KEY", **NOBODY)
        yield message(place, kind, epoch=EPOCH, error="NONE", correlation_id=0, **NOBODY)


def fetch_requests(place: Place) -> Iterator[ModelRecord]:
    """Fetches at, below, beyond and beside the log `leads`; of a voter, of its other disk, of nobody in the set."""
    kind = "FetchRequest"
    other_disk = ModelKey(place.first, OTHER_DIRECTORY)
    observers = [i for i in range(4, 5) if i <= len(place.configuration["keys"])]
    keys = [(place.first, place.key(place.first)), (place.first, other_disk), (place.first, ModelKey(place.first, ""))]
    keys += [(i, place.key(i)) for i in (place.second, *observers)]
    positions = ((0, 0), (1, 1), (2, 1), (2, 2), (3, 2), (9, 2), (1, 2), (3, 1), (2, 0))
    for (source, key), (offset, last_epoch) in product(keys, positions):
        yield message(place, kind, source, epoch=EPOCH, replica_key=key, fetch_offset=offset, last_epoch=last_epoch)
    yield from late_fetch_requests(place)


def late_fetch_requests(place: Place) -> Iterator[ModelRecord]:
    """One Fetch of each epoch, for replicas that do not lead."""
    for epoch in EPOCHS:
        yield message(
            place, "FetchRequest", epoch=epoch, replica_key=place.key(place.first), fetch_offset=1, last_epoch=1
        )


def fetch_responses(place: Place) -> Iterator[ModelRecord]:
    """Records, voters sets, diverging answers, and errors with what they say of epoch and leader."""

    def answers(**changed: Any) -> ModelRecord:
        plain = {"error": "NONE", **place.leader(place.first), **NO_RECORDS}
        return message(place, "FetchResponse", epoch=EPOCH, **(plain | changed))

    sets = [(voters_record(place, EPOCH, voters),) for voters in voters_sets(place).values()]
    datum = record(EPOCH, "Data", 9)
    for records, watermark in product(((), (datum,), (datum, datum), *sets), (-1, 1, 5)):
        yield answers(records=records, high_watermark=watermark)
    for of, end in ((0, 0), (1, 1), (1, 2), (1, 5), (2, 1), (2, 2), (2, 3)):
        yield answers(diverging_epoch=of, diverging_end_offset=end)
        yield answers(diverging_epoch=of, diverging_end_offset=end, high_watermark=1)
    yield from answers_of_any_leader(place)
    yield answers(correlation_id=0)


def answers_of_any_leader(place: Place) -> Iterator[ModelRecord]:
    """Empty answers to a Fetch."""
    errors = ("NONE", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH", "NOT_LEADER_OR_FOLLOWER")
    for epoch, leader, error in product(EPOCHS, leaders(place), errors if place.full else errors[::3]):
        yield message(place, "FetchResponse", epoch=epoch, error=error, **leader, **NO_RECORDS)
