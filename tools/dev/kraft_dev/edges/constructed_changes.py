"""States and messages for `constructed` that are about voter changes and snapshots."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from kraft_dev.edges.constructed_messages import EPOCHS, NO_SNAPSHOT_ID, NOBODY, leaders, message
from kraft_dev.edges.constructed_place import (
    EPOCH,
    NO_ENDPOINT,
    NO_KEY,
    NO_SNAPSHOT,
    NO_TARGET,
    OTHER_DIRECTORY,
    Key,
    Place,
    details,
    hashable,
    logs,
    record,
    targets,
    voters_record,
)
from kraft_dev.edges.constructed_states import follows, leads, state
from kraft_dev.edges.edge import ModelRecord

_CLIENT = -1
_NOBODY_ASKED = -2
_NEW_ENDPOINT = "E-new"
"""An endpoint that no configuration names."""


def _change(kind: str, phase: str, voter: Key, **changed: Any) -> ModelRecord:
    """A pending change of a client, as it is before its record is appended."""
    unknown = {"min": -1, "max": -1, "offset": -1}
    asked = {"requester": _CLIENT, "request": 7, "whenCommitted": True}
    return {"kind": kind, "phase": phase, "voter": voter, "endpoint": NO_ENDPOINT, **unknown, **asked, **changed}


def changing_states(place: Place) -> Iterator[ModelRecord]:
    """A Leader whose set is itself and `first`: idle, or with a change in each phase."""
    new = place.key(place.second)
    add: dict[str, Any] = {"endpoint": place.endpoint(place.second)}
    known: dict[str, Any] = {**add, "min": 0, "max": 1}
    asked_by_replica: dict[str, Any] = {"requester": place.second, "request": 1, "whenCommitted": False}
    leading: dict[str, Any] = {"role": "Leader", "log": "voters-pair", **leads(place)}
    waiting: dict[str, Any] = {"awaiting": frozenset({(place.second, 1)})}
    for watermark in (-1, 0, 1, 2):
        yield state(place, **leading, highWatermark=watermark)
    for asked in ({}, asked_by_replica):
        learning = _change("add", "learn-versions", new, **add, **asked)
        yield state(place, **leading, pending=learning, highWatermark=2)
        yield state(place, **leading, pending=learning, highWatermark=2, **waiting)
        for end, offsets in product((1, 2), ((), {new: 1}, {new: 2})):
            catching_up = _change("add", "catch-up", new, **known, **asked, offset=end)
            yield state(place, **leading, pending=catching_up, highWatermark=2, offsets=offsets, **waiting)
    entry = place.entry(place.first)
    committing = [
        _change("add", "commit", entry, **known, offset=1),
        _change("remove", "commit", new, offset=1),
        _change("remove", "commit", new, offset=1, **asked_by_replica | {"whenCommitted": True}),
        _change("update", "commit", entry, offset=1, **asked_by_replica | {"whenCommitted": True}),
        _change("upgrade", "commit", NO_KEY, offset=1),
    ]
    for change in committing:
        for offsets in ((), {entry: 2}):
            yield state(place, **leading, pending=change, highWatermark=1, offsets=offsets)
    # It leaves its own set when this is committed.
    without: dict[str, Any] = {"role": "Leader", "log": "voters-without", **leads(place)}
    others = {place.entry(place.first): 1, place.entry(place.second): 2}
    removed = _change("remove", "commit", place.own, offset=1)
    yield state(place, **without, pending=removed, highWatermark=1, offsets=others)
    yield state(place, **without, pending=removed, highWatermark=1)
    yield from _upgrading_states(place)


def reassigning_states(place: Place) -> Iterator[ModelRecord]:
    """A Leader whose set is itself and `first`, with a target: idle, in the middle of a step, with clients that wait.

    Its observers are `second`, with one disk or two, or nobody.
    """
    new, other = place.key(place.second), (place.second, OTHER_DIRECTORY)
    entry = place.entry(place.first)
    of_nobody: dict[str, Any] = {"requester": _NOBODY_ASKED, "request": 0}
    add: dict[str, Any] = {"endpoint": place.endpoint(place.second), **of_nobody}
    for name in targets(place):
        leading: dict[str, Any] = {"role": "Leader", "log": f"target-{name}", **leads(place)}
        for offsets in ((), {entry: 2}, {entry: 1, new: 2}, {new: 2, other: 1}):
            yield state(place, **leading, highWatermark=2, offsets=offsets)
        yield state(place, **leading, highWatermark=1, offsets={entry: 1, new: 2})
        # The own epoch has begun after the newest assignment, and nothing of it is committed.
        yield state(place, **leading, epochStart=2, highWatermark=2, offsets={new: 2})
        for awaited in (frozenset({(1, 1)}), frozenset({(1, 1), (2, 1)})):
            yield state(place, **leading, highWatermark=1, awaited=awaited)
        learning = _change("add", "learn-versions", new, **add)
        yield state(place, **leading, highWatermark=2, pending=learning, awaiting=frozenset({(place.second, 1)}))
        for offsets in ((), {new: 2}):
            catching_up = _change("add", "catch-up", new, **add | {"min": 0, "max": 1, "offset": 2})
            yield state(place, **leading, highWatermark=2, pending=catching_up, offsets=offsets)
        removing = _change("remove", "commit", new, **of_nobody, offset=1)
        for offsets in ((), {entry: 2}):
            yield state(place, **leading, highWatermark=1, pending=removing, offsets=offsets)
    for role in ("Resigned", "Unattached", "Stopped"):
        yield state(place, role, "target-replaced", **(leads(place) if role == "Resigned" else {}))


def _upgrading_states(place: Place) -> Iterator[ModelRecord]:
    """A Leader at level 0 with the reports of none, one or both of the others; and one that listens elsewhere."""
    static = {"voters": place.configuration["voters"], "details": frozenset(), "target": NO_TARGET}
    base = {"end": 1, "epoch": 1, "level": 0, **static}
    reports = [(place.key(i), place.endpoint(i), 0, 1) for i in (place.first, place.second)]
    old = (reports[0][0], reports[0][1], 0, 0)
    leading: dict[str, Any] = {"role": "Leader", "log": "leads", "base": base, **leads(place), "epochStart": 2}
    for told in ((), reports[:1], reports, (old, reports[1])):
        yield state(place, **leading, highWatermark=3, reports=frozenset(told))
    yield state(place, **leading, highWatermark=2, reports=frozenset(reports))
    moved: dict[str, Any] = {"role": "Leader", "log": "voters-all", **leads(place)}
    yield state(place, **moved, highWatermark=2, moved=_NEW_ENDPOINT)


def based_states(place: Place) -> Iterator[ModelRecord]:
    """A Leader whose log stands on a snapshot, and what else has one."""
    voters = frozenset({place.own, place.key(place.first), place.key(place.second)})
    content = {"voters": voters, "details": details(place, voters), "target": NO_TARGET}
    base = {"end": 2, "epoch": 1, "level": 1, **content}
    leading: dict[str, Any] = {"role": "Leader", "base": base, **leads(place), "epochStart": 3}
    for (log, start), watermark, fetchers in product(
        (("empty", 2), ("leads", 3)), (2, 4), (frozenset(), frozenset({place.second}))
    ):
        if watermark <= 2 + len(logs(place)[log]):
            yield state(
                place, **leading | {"epochStart": start, "highWatermark": watermark, "fetchers": fetchers}, log=log
            )
    for watermark in (-1, 2):
        yield state(place, "Unattached", "leads", base, highWatermark=watermark)
        yield state(place, "Resigned", "leads", base, highWatermark=watermark, **leads(place))
    yield state(place, "Follower", "leads", base, fetched=True, **follows(place, place.first))
    yield state(place, "Stopped", "leads", base, highWatermark=-1, leader=place.first)


def joining_states(place: Place) -> Iterator[ModelRecord]:
    """A Follower that waits for an answer of its leader: with a snapshot to fetch, and with reports to send."""
    at: dict[str, Any] = {**follows(place, place.first), "awaiting": frozenset({(place.first, 1)})}
    for log, wanted, watermark in product(("empty", "behind"), (NO_SNAPSHOT, (2, 1), (3, 2)), (-1, 1)):
        if watermark <= len(logs(place)[log]):
            yield state(place, "Follower", log, wanted=wanted, highWatermark=watermark, **at)
    told = frozenset({place.first})
    for log, acknowledged in product(("behind", "voters-all", "voters-without", "voters-moved"), (frozenset(), told)):
        yield state(place, "Follower", log, fetched=True, acknowledged=acknowledged, **at)
        idle = {**at, "awaiting": frozenset()}
        yield state(place, "Follower", log, fetched=True, acknowledged=acknowledged, **idle)
    yield state(place, "Follower", "voters-all", fetched=True, moved=_NEW_ENDPOINT, **{**at, "awaiting": frozenset()})


def change_requests(place: Place) -> Iterator[ModelRecord]:
    """AddVoter, RemoveVoter and UpdateVoter of replicas: of every voter, of nobody in the set, and malformed ones."""
    listed = (place.own, place.entry(place.first), place.key(place.second), (place.second, OTHER_DIRECTORY))
    malformed = ((place.second, ""), (-1, OTHER_DIRECTORY))
    source = place.second
    for voter, when_committed in product((*listed, *malformed), (False, True)):
        asked: dict[str, Any] = {"voter": voter, "endpoint": _NEW_ENDPOINT, "whenCommitted": when_committed}
        yield message(place, "AddVoterRequest", source, **asked)
    asked = {"voter": place.key(source), "endpoint": NO_ENDPOINT, "whenCommitted": False}
    yield message(place, "AddVoterRequest", source, **asked)
    for voter in (*listed, *malformed):
        yield message(place, "RemoveVoterRequest", source, voter=voter)
    for epoch, (voter, endpoint, (low, high)) in product(EPOCHS, _updates(place)):
        told: dict[str, Any] = {"voter": voter, "endpoint": endpoint, "min": low, "max": high}
        yield message(place, "UpdateVoterRequest", epoch=epoch, **told)


def _updates(place: Place) -> Iterator[tuple[Key, str, tuple[int, int]]]:
    first, endpoint = place.key(place.first), place.endpoint(place.first)
    for levels in ((0, 1), (0, 0), (1, 1), (-1, 1), (1, 0)):
        yield first, endpoint, levels
    for voter in ((place.first, OTHER_DIRECTORY), (place.first, ""), place.key(place.second)):
        yield voter, endpoint, (0, 1)
    for other in (_NEW_ENDPOINT, NO_ENDPOINT):
        yield first, other, (0, 1)


def versions(place: Place) -> Iterator[ModelRecord]:
    """ApiVersions and answers to it, of a new voter and of another replica."""
    for source, corr in product((place.first, place.second), (0, 1)):
        yield message(place, "ApiVersionsRequest", source, corr=corr)
        for low, high in ((0, 1), (0, 0), (1, 1), (2, 3)):
            yield message(place, "ApiVersionsResponse", source, corr=corr, min=low, max=high)


def change_responses(place: Place) -> Iterator[ModelRecord]:
    """Answers to the requests of a voter and of a joining replica."""
    kinds = ("AddVoterResponse", "RemoveVoterResponse", "UpdateVoterResponse")
    for kind, epoch, error in product(kinds, EPOCHS, ("NONE", "NOT_LEADER_OR_FOLLOWER")):
        for leader in leaders(place):
            yield message(place, kind, epoch=epoch, error=error, **leader)
    for kind, error in product(kinds, ("REQUEST_TIMED_OUT", "INVALID_REQUEST")):
        yield message(place, kind, epoch=EPOCH, error=error, **leaders(place)[-3])
        yield message(place, kind, epoch=EPOCH, error=error, corr=0, **NOBODY)


def snapshot_requests(place: Place) -> Iterator[ModelRecord]:
    """FetchSnapshot of the leader's snapshot and of others, by a voter, its other disk and an observer."""
    kind = "FetchSnapshotRequest"
    keys = (place.key(place.first), (place.first, OTHER_DIRECTORY))
    for epoch, key, (end, of) in product(EPOCHS, keys, ((2, 1), (2, 2), (3, 1), (0, 0))):
        yield message(place, kind, epoch=epoch, key=key, snapshotEnd=end, snapshotEpoch=of)


def snapshot_responses(place: Place) -> Iterator[ModelRecord]:
    """A snapshot, and the answers without one; and the Fetch answers that name one."""
    kind = "FetchSnapshotResponse"
    voters = frozenset({place.own, place.key(place.first)})
    for (end, of), level in product(((2, 1), (3, 2), (1, 1)), (0, 1)):
        about = details(place, voters) if level else frozenset()
        target = targets(place)["replaced"] if level else NO_TARGET
        content = {"level": level, "voters": voters, "details": about, "target": target}
        snapshot = hashable({"end": end, "epoch": of, **content})
        for leader, corr in ((leaders(place)[3], 1), (leaders(place)[3], 0), (leaders(place)[4], 1)):
            yield message(place, kind, epoch=EPOCH, corr=corr, error="NONE", snapshot=snapshot, **leader)
    for epoch, error in product(EPOCHS, ("SNAPSHOT_NOT_FOUND", "FENCED_LEADER_EPOCH")):
        yield message(place, kind, epoch=epoch, error=error, snapshot=(), **leaders(place)[3])
    told: dict[str, Any] = {"error": "NONE", "highWatermark": -1, "divergingEpoch": -1, "divergingOffset": -1}
    for end, of in ((0, 0), (1, 1), (2, 1), (3, 2)):
        named: dict[str, Any] = {"snapshotEnd": end, "snapshotEpoch": of}
        yield message(place, "FetchResponse", epoch=EPOCH, records=(), **told, **named, **leaders(place)[3])


def batches(place: Place) -> Iterator[ModelRecord]:
    """Fetch answers with an upgrade."""
    voters = frozenset({place.own, place.key(place.first), place.key(place.second)})
    level = record(EPOCH, "KRaftVersion", 1)
    told: dict[str, Any] = {"error": "NONE", "highWatermark": -1, "divergingEpoch": -1, "divergingOffset": -1}
    upgrade = (level, voters_record(place, EPOCH, voters))
    yield message(place, "FetchResponse", epoch=EPOCH, records=upgrade, **told, **NO_SNAPSHOT_ID, **leaders(place)[3])
