"""Constructed states and messages of voter changes and snapshots."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from kraft_dev.edges.constructed_messages import EPOCHS, NO_RECORDS, NOBODY, leaders, message
from kraft_dev.edges.constructed_place import (
    EPOCH,
    NO_ENDPOINT,
    NO_SNAPSHOT,
    NO_TARGET,
    OTHER_DIRECTORY,
    Fields,
    Place,
    details,
    hashable,
    logs,
    record,
    targets,
    voters_record,
)
from kraft_dev.edges.constructed_states import state
from kraft_dev.edges.edge import ModelRecord
from kraft_spec.mapping_forms import NO_KEY, ModelAwaitedTarget, ModelKey, ModelReport, ModelRequest, ModelSnapshotId

_CLIENT = -1
_NOBODY_ASKED = -2
_NEW_ENDPOINT = "E-new"
"""An endpoint that no configuration names."""


def _change(kind: str, phase: str, voter: ModelKey, **changed: Any) -> ModelRecord:
    """Return a client's pending change before its record is appended."""
    unknown = {"min_version": -1, "max_version": -1, "offset": -1}
    from_client = {"requester": _CLIENT, "request": 7, "when_committed": True}
    return {"kind": kind, "phase": phase, "voter": voter, "endpoint": NO_ENDPOINT, **unknown, **from_client, **changed}


def changing_states(place: Place) -> Iterator[ModelRecord]:
    """Yield states of a Leader whose voter set is itself and `first`: idle, or with a change in each phase."""
    new = place.key(place.second)
    add: Fields = {"endpoint": place.endpoint(place.second)}
    learned: Fields = {**add, "min_version": 0, "max_version": 1}
    asked_by_replica: Fields = {"requester": place.second, "request": 1, "when_committed": False}
    leading: Fields = {"role": "Leader", "log": "voters-pair"}
    waiting: Fields = {"awaiting": frozenset({ModelRequest(place.second, 1)})}
    for watermark in (-1, 0, 1, 2):
        yield state(place, **leading, high_watermark=watermark)
    for requester in ({}, asked_by_replica):
        learning = _change("add", "learn-versions", new, **add, **requester)
        yield state(place, **leading, pending_change=learning, high_watermark=2)
        yield state(place, **leading, pending_change=learning, high_watermark=2, **waiting)
        for end, offsets in product((1, 2), ((), {new: 1}, {new: 2})):
            catching_up = _change("add", "catch-up", new, **learned, **requester, offset=end)
            yield state(
                place, **leading, pending_change=catching_up, high_watermark=2, fetch_offsets=offsets, **waiting
            )
    entry = place.entry(place.first)
    committing = [
        _change("add", "commit", entry, **learned, offset=1),
        _change("remove", "commit", new, offset=1),
        _change("remove", "commit", new, offset=1, **asked_by_replica | {"when_committed": True}),
        _change("update", "commit", entry, offset=1, **asked_by_replica | {"when_committed": True}),
        _change("upgrade", "commit", NO_KEY, offset=1),
    ]
    for change in committing:
        for offsets in ((), {entry: 2}):
            yield state(place, **leading, pending_change=change, high_watermark=1, fetch_offsets=offsets)
    # The leader leaves its own voter set when this is committed.
    without: Fields = {"role": "Leader", "log": "voters-without"}
    peers = {place.entry(place.first): 1, place.entry(place.second): 2}
    removed = _change("remove", "commit", place.own, offset=1)
    yield state(place, **without, pending_change=removed, high_watermark=1, fetch_offsets=peers)
    yield state(place, **without, pending_change=removed, high_watermark=1)
    yield from _upgrading_states(place)


def reassigning_states(place: Place) -> Iterator[ModelRecord]:
    """Yield states of a Leader whose voter set is itself and `first`, with a target: idle, in a step, with waiting
    clients.

    Its observer is `second`, with one disk or two, or there is none.
    """
    new, other = place.key(place.second), ModelKey(place.second, OTHER_DIRECTORY)
    entry = place.entry(place.first)
    of_nobody: Fields = {"requester": _NOBODY_ASKED, "request": 0}
    add: Fields = {"endpoint": place.endpoint(place.second), **of_nobody}
    for name in targets(place):
        leading: Fields = {"role": "Leader", "log": f"target-{name}"}
        for offsets in ((), {entry: 2}, {entry: 1, new: 2}, {new: 2, other: 1}):
            yield state(place, **leading, high_watermark=2, fetch_offsets=offsets)
        yield state(place, **leading, high_watermark=1, fetch_offsets={entry: 1, new: 2})
        # The leader's epoch began after the newest assignment, and no record of the epoch is committed.
        yield state(place, **leading, epoch_start_offset=2, high_watermark=2, fetch_offsets={new: 2})
        clients = ModelAwaitedTarget(1, 1), ModelAwaitedTarget(2, 1)
        for awaited in (frozenset(clients[:1]), frozenset(clients)):
            yield state(place, **leading, high_watermark=1, awaited_targets=awaited)
        learning = _change("add", "learn-versions", new, **add)
        yield state(
            place,
            **leading,
            high_watermark=2,
            pending_change=learning,
            awaiting=frozenset({ModelRequest(place.second, 1)}),
        )
        for offsets in ((), {new: 2}):
            catching_up = _change("add", "catch-up", new, **add | {"min_version": 0, "max_version": 1, "offset": 2})
            yield state(place, **leading, high_watermark=2, pending_change=catching_up, fetch_offsets=offsets)
        removing = _change("remove", "commit", new, **of_nobody, offset=1)
        for offsets in ((), {entry: 2}):
            yield state(place, **leading, high_watermark=1, pending_change=removing, fetch_offsets=offsets)
    for role in ("Resigned", "Unattached", "Stopped"):
        yield state(place, role, "target-replaced")


def _upgrading_states(place: Place) -> Iterator[ModelRecord]:
    """Yield states of a Leader at kraft.version 0 with reports of none, one or both peers, and of one with another
    endpoint.
    """
    static = {"voters": place.configuration["voters"], "details": frozenset(), "target": NO_TARGET}
    base = {"end_offset": 1, "epoch": 1, "kraft_version": 0, **static}
    reports = [ModelReport(place.key(i), place.endpoint(i), 0, 1) for i in (place.first, place.second)]
    old = reports[0]._replace(max_version=0)
    leading: Fields = {"role": "Leader", "log": "leads", "base": base, "epoch_start_offset": 2}
    for received in ((), reports[:1], reports, (old, reports[1])):
        yield state(place, **leading, high_watermark=3, reports=frozenset(received))
    yield state(place, **leading, high_watermark=2, reports=frozenset(reports))
    yield state(place, "Leader", "voters-all", high_watermark=2, moved_to=_NEW_ENDPOINT)


def based_states(place: Place) -> Iterator[ModelRecord]:
    """Yield states of a Leader whose log begins with a snapshot, and of other replicas with a snapshot."""
    voters = frozenset({place.own, place.key(place.first), place.key(place.second)})
    content = {"voters": voters, "details": details(place, voters), "target": NO_TARGET}
    base = {"end_offset": 2, "epoch": 1, "kraft_version": 1, **content}
    for (log, start), watermark, fetching in product((("empty", 2), ("leads", 3)), (2, 4), ((), (place.second,))):
        if watermark <= 2 + len(logs(place)[log]):
            counted: Fields = {"high_watermark": watermark, "epoch_start_offset": start}
            counted["fetchers"] = frozenset(fetching)
            yield state(place, "Leader", log, base, **counted)
    for watermark in (-1, 2):
        yield state(place, "Unattached", "leads", base, high_watermark=watermark)
        yield state(place, "Resigned", "leads", base, high_watermark=watermark)
    yield state(place, "Follower", "leads", base, fetched=True)
    yield state(place, "Stopped", "leads", base, high_watermark=-1, leader_id=place.first)


def joining_states(place: Place) -> Iterator[ModelRecord]:
    """Yield states of a Follower that awaits a response from its leader: with a snapshot to fetch, and with reports to
    send.
    """
    at: Fields = {"awaiting": frozenset({ModelRequest(place.first, 1)})}
    for log, wanted, watermark in product(
        ("empty", "behind"), (NO_SNAPSHOT, ModelSnapshotId(2, 1), ModelSnapshotId(3, 2)), (-1, 1)
    ):
        if watermark <= len(logs(place)[log]):
            yield state(place, "Follower", log, wanted_snapshot=wanted, high_watermark=watermark, **at)
    for log, updated in product(("behind", "voters-all", "voters-without", "voters-moved"), (False, True)):
        yield state(place, "Follower", log, fetched=True, has_updated_leader=updated, **at)
        yield state(place, "Follower", log, fetched=True, has_updated_leader=updated)
    yield state(place, "Follower", "voters-all", fetched=True, moved_to=_NEW_ENDPOINT)


def change_requests(place: Place) -> Iterator[ModelRecord]:
    """Yield AddVoter, RemoveVoter and UpdateVoter for every voter, for replicas outside the set, and malformed ones."""
    listed = (place.own, place.entry(place.first), place.key(place.second), ModelKey(place.second, OTHER_DIRECTORY))
    malformed = (ModelKey(place.second, ""), ModelKey(-1, OTHER_DIRECTORY))
    source = place.second
    for voter, when_committed in product((*listed, *malformed), (False, True)):
        fields: Fields = {"voter": voter, "endpoint": _NEW_ENDPOINT, "when_committed": when_committed}
        yield message(place, "AddVoterRequest", source, **fields)
    fields = {"voter": place.key(source), "endpoint": NO_ENDPOINT, "when_committed": False}
    yield message(place, "AddVoterRequest", source, **fields)
    for voter in (*listed, *malformed):
        yield message(place, "RemoveVoterRequest", source, voter=voter)
    for epoch, (voter, endpoint, (low, high)) in product(EPOCHS, _updates(place)):
        report: Fields = {"voter": voter, "endpoint": endpoint, "min_version": low, "max_version": high}
        yield message(place, "UpdateVoterRequest", epoch=epoch, **report)


def _updates(place: Place) -> Iterator[tuple[ModelKey, str, tuple[int, int]]]:
    first, endpoint = place.key(place.first), place.endpoint(place.first)
    for levels in ((0, 1), (0, 0), (1, 1), (-1, 1), (1, 0)):
        yield first, endpoint, levels
    for voter in (ModelKey(place.first, OTHER_DIRECTORY), ModelKey(place.first, ""), place.key(place.second)):
        yield voter, endpoint, (0, 1)
    for other in (_NEW_ENDPOINT, NO_ENDPOINT):
        yield first, other, (0, 1)


def versions(place: Place) -> Iterator[ModelRecord]:
    """Yield ApiVersions requests and responses of a new voter and of another replica."""
    for source, corr in product((place.first, place.second), (0, 1)):
        yield message(place, "ApiVersionsRequest", source, correlation_id=corr)
        for low, high in ((0, 1), (0, 0), (1, 1), (2, 3)):
            yield message(place, "ApiVersionsResponse", source, correlation_id=corr, min_version=low, max_version=high)


def change_responses(place: Place) -> Iterator[ModelRecord]:
    """Yield responses to the requests of a voter and of a joining replica."""
    kinds = ("AddVoterResponse", "RemoveVoterResponse", "UpdateVoterResponse")
    for kind, epoch, error in product(kinds, EPOCHS, ("NONE", "NOT_LEADER_OR_FOLLOWER")):
        for leader in leaders(place):
            yield message(place, kind, epoch=epoch, error=error, **leader)
    for kind, error in product(kinds, ("REQUEST_TIMED_OUT", "INVALID_REQUEST")):
        yield message(place, kind, epoch=EPOCH, error=error, **place.leader(place.first))
        yield message(place, kind, epoch=EPOCH, error=error, correlation_id=0, **NOBODY)


def snapshot_requests(place: Place) -> Iterator[ModelRecord]:
    """Yield FetchSnapshot of the leader's snapshot and of others, by a voter, its other disk and an observer."""
    kind = "FetchSnapshotRequest"
    keys = (place.key(place.first), ModelKey(place.first, OTHER_DIRECTORY))
    for epoch, key, (end, of) in product(EPOCHS, keys, ((2, 1), (2, 2), (3, 1), (0, 0))):
        yield message(place, kind, epoch=epoch, replica_key=key, snapshot_end_offset=end, snapshot_epoch=of)


def snapshot_responses(place: Place) -> Iterator[ModelRecord]:
    """Yield a snapshot, the responses without one, and the Fetch responses that name one."""
    kind = "FetchSnapshotResponse"
    voters = frozenset({place.own, place.key(place.first)})
    for (end, of), level in product(((2, 1), (3, 2), (1, 1)), (0, 1)):
        about = details(place, voters) if level else frozenset()
        target = targets(place)["replaced"] if level else NO_TARGET
        content = {"kraft_version": level, "voters": voters, "details": about, "target": target}
        snapshot = hashable({"end_offset": end, "epoch": of, **content})
        answer: Fields = {"epoch": EPOCH, "error": "NONE", "snapshot": snapshot}
        for leader, corr in ((place.first, 1), (place.first, 0), (place.second, 1)):
            yield message(place, kind, correlation_id=corr, **answer, **place.leader(leader))
    for epoch, error in product(EPOCHS, ("SNAPSHOT_NOT_FOUND", "FENCED_LEADER_EPOCH")):
        yield message(place, kind, epoch=epoch, error=error, snapshot=(), **place.leader(place.first))
    for end, of in ((0, 0), (1, 1), (2, 1), (3, 2)):
        named: Fields = {"snapshot_end_offset": end, "snapshot_epoch": of}
        yield message(
            place, "FetchResponse", epoch=EPOCH, error="NONE", **NO_RECORDS | named, **place.leader(place.first)
        )


def batches(place: Place) -> Iterator[ModelRecord]:
    """Yield Fetch responses with an upgrade."""
    voters = frozenset({place.own, place.key(place.first), place.key(place.second)})
    level = record(EPOCH, "KRaftVersion", 1)
    upgrade = (level, voters_record(place, EPOCH, voters))
    fields = NO_RECORDS | place.leader(place.first) | {"records": upgrade}
    yield message(place, "FetchResponse", epoch=EPOCH, error="NONE", **fields)
