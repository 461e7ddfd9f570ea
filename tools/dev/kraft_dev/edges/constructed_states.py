"""States of one replica: products of possible field values, reachable or not.

All states are well-typed (TypeOk in Properties.tla); `constructing` has the model check this.
The replica under test is in `EPOCH`, so that there is a lower and a higher epoch.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from kraft_dev.edges.constructed_place import (
    EPOCH,
    NO_CHANGE,
    NO_ENDPOINT,
    NO_LEADER,
    NO_SNAPSHOT,
    NO_TARGET,
    OTHER_DIRECTORY,
    Fields,
    Place,
    checkpoint,
    logs,
    voters_sets,
)
from kraft_dev.edges.edge import ModelRecord
from kraft_reference.records import SET_KINDS
from kraft_spec.mapping_forms import NO_KEY, ModelKey, ModelRequest, function_entries


def state(place: Place, role: str, log: str = "behind", base: ModelRecord | None = None, **fields: Any) -> ModelRecord:
    """Return a state in `EPOCH` with a log of `logs`; other fields default to those of NewReplica.

    The log begins with the snapshot `base`, or with the checkpoint that the replica was formatted with.
    By default a Leader or Resigned replica has itself as leader, and a Follower follows `first`.
    """
    content = logs(place)[log]
    base = checkpoint(place) if base is None else base
    end: int = base["end_offset"]
    before = end - 1
    sets = [
        {
            "offset": offset,
            "voters": entry["voters"],
            "details": entry["details"],
            "target": entry.get("target", NO_TARGET),
        }
        for offset, entry in enumerate(content, end)
        if entry["kind"] in SET_KINDS
    ]
    levels = [
        {"offset": offset, "kraft_version": entry["value"]}
        for offset, entry in enumerate(content, end)
        if entry["kind"] == "KRaftVersion"
    ]
    blank: dict[str, Any] = {
        "replica_key": place.own,
        "role": role,
        "epoch": EPOCH,
        "leader_id": NO_LEADER,
        "leader_endpoint": NO_ENDPOINT,
        "voted_key": NO_KEY,
        "base": base,
        "log": content,
        "flushed": end + len(content),
        "voters": ({"offset": before, **{name: base[name] for name in ("voters", "details", "target")}}, *sets),
        "versions": ({"offset": before, "kraft_version": base["kraft_version"]}, *levels),
        "high_watermark": end or -1,
        **dict.fromkeys(("granted", "rejected", "fetchers", "acknowledging_voters", "awaiting"), frozenset()),
        **dict.fromkeys(("fetched", "searching", "has_updated_leader"), False),
        "epoch_start_offset": 0,
        "fetch_offsets": (),
        "preferred_candidates": (),
        "pending_change": NO_CHANGE,
        "reports": frozenset(),
        "awaited_targets": frozenset(),
        "wanted_snapshot": NO_SNAPSHOT,
        "quorum_state_version": levels[-1]["kraft_version"] if levels else base["kraft_version"],
        "moved_to": NO_ENDPOINT,
    }
    leader = {"Leader": place.replica_id, "Resigned": place.replica_id, "Follower": place.first}.get(role)
    if leader is not None:
        blank |= place.leader(leader)
    unknown = fields.keys() - blank.keys()
    if unknown:
        raise ValueError(f"no fields of a state: {sorted(unknown)}")
    return blank | fields


def votes(place: Place) -> tuple[ModelKey, ...]:
    """Return the possible votes: none, the sender, the replica itself, another voter, the sender with another disk."""
    some = (NO_KEY, place.key(place.first))
    if not place.full:
        return some
    return (*some, place.own, place.key(place.second), ModelKey(place.first, OTHER_DIRECTORY))


def _known_leaders(place: Place) -> tuple[Fields, ...]:
    """Return the leaders that a Prospective may know."""
    return ({}, {"leader_id": place.first}, place.leader(place.first), place.leader(place.second))


def asked_states(place: Place) -> Iterator[ModelRecord]:
    """Yield every running role with every vote, for requests."""
    first, second = place.first, place.second
    some_logs = ("behind", "empty", "current") if place.full else ("behind",)
    for voted, log in product(votes(place), some_logs):
        for leader in (NO_LEADER, first, second):
            yield state(place, "Unattached", log, leader_id=leader, voted_key=voted)
        yield state(place, "Resigned", log, voted_key=voted)
    alone = frozenset({place.replica_id})
    for voted in votes(place):
        for known_leader in _known_leaders(place):
            yield state(place, "Prospective", voted_key=voted, granted=alone, **known_leader)
        for leader, fetched, searching in product((first, second), (False, True), (False, True)):
            if not (fetched and searching):
                at = place.leader(leader)
                yield state(place, "Follower", voted_key=voted, fetched=fetched, searching=searching, **at)
        yield state(place, "Leader", "leads", voted_key=voted, epoch_start_offset=1)
        yield state(place, "Leader", "behind", voted_key=voted)
        if voted != NO_KEY:
            yield state(place, "Candidate", voted_key=voted, granted=alone)
    # Outside its own voter set a replica is an observer in any role.
    for log, leader in product(("voters-without", "voters-moved", "voters-sole"), (NO_LEADER, first)):
        yield state(place, "Unattached", log, leader_id=leader)
        if leader != NO_LEADER:
            yield state(place, "Follower", log, **place.leader(leader))
            yield state(place, "Follower", log, fetched=True, searching=True, **place.leader(leader))


def waiting_states(place: Place) -> Iterator[ModelRecord]:
    """Yield every running role while it awaits responses from both peers, and once without outstanding requests."""
    own, first, second = place.replica_id, place.first, place.second
    both: Fields = {"awaiting": frozenset({ModelRequest(first, 1), ModelRequest(second, 1)})}
    alone = frozenset({own})
    nobody: frozenset[int] = frozenset()
    rounds = [(alone, nobody), (alone, frozenset({second}))]
    if place.full:
        rounds += [(alone, frozenset({first})), (alone | {first}, nobody)]
    for granted, rejected in rounds:
        count: Fields = {"granted": granted, "rejected": rejected}
        for known_leader in _known_leaders(place):
            yield state(place, "Prospective", **count, **known_leader, **both)
        yield state(place, "Prospective", voted_key=place.key(second), **count, **both)
        yield state(place, "Candidate", voted_key=place.own, **count, **both)
    for leader in (first, second):
        yield state(place, "Follower", voted_key=place.own, **place.leader(leader), **both)
        yield state(place, "Unattached", leader_id=leader, **both)
    yield state(place, "Unattached", voted_key=place.own, **both)
    for acknowledging in (nobody, frozenset({second})):
        announced: Fields = {"acknowledging_voters": acknowledging, "voted_key": place.own}
        yield state(place, "Leader", "leads", epoch_start_offset=1, **announced, **both)
        yield state(place, "Resigned", **announced, **both)
    # Nothing is outstanding at the sender of most messages.
    other: Fields = {"awaiting": frozenset({ModelRequest(second, 1)})}
    yield state(place, "Prospective", granted=alone, **other)
    yield state(place, "Candidate", granted=alone, voted_key=place.own, **other)
    yield state(place, "Follower", **place.leader(second), **other)
    yield state(place, "Leader", "leads", **other)


def leader_states(place: Place) -> Iterator[ModelRecord]:
    """Yield states of a leader's bookkeeping: fetch offsets, fetchers, high watermark, and voter sets without the
    leader.
    """
    sender, other = place.entry(place.first), place.entry(place.second)
    progress = ((), {sender: 1}, {sender: 2, other: 3}, {other: 2})
    nobody: frozenset[int] = frozenset()
    fetched = (nobody, frozenset({place.first}), frozenset({place.second}))
    for offsets, fetchers, watermark in product(progress, fetched, (-1, 1, 2)):
        counted: Fields = {"fetch_offsets": offsets, "fetchers": fetchers, "high_watermark": watermark}
        yield state(place, "Leader", "leads", epoch_start_offset=1, voted_key=place.own, **counted)
    for name, watermark, fetchers in product(voters_sets(place), (-1, 1), fetched[:2]):
        counted = {"fetchers": fetchers, "high_watermark": watermark}
        yield state(place, "Leader", f"voters-{name}", **counted)
    # Every voter has been notified and one request is outstanding, so little or nothing is due.
    waiting: Fields = {"awaiting": frozenset({ModelRequest(place.first, 1)})}
    notified = frozenset({place.first, place.second})
    yield state(place, "Leader", "leads", epoch_start_offset=1, acknowledging_voters=notified, **waiting)
    ordered = (place.entry(place.second), place.entry(place.first))
    yield state(place, "Resigned", preferred_candidates=ordered, **waiting)


def fetching_states(place: Place) -> Iterator[ModelRecord]:
    """Yield states of a Follower that awaits its leader's response, with various logs and high watermarks."""
    at: Fields = {"awaiting": frozenset({ModelRequest(place.first, 1)})}
    for log, fetched, searching in product(("empty", "behind", "current", "longer"), (False, True), (False, True)):
        for watermark in (-1, 1, 2):
            if watermark <= len(logs(place)[log]) and not (fetched and searching and not place.full):
                fields: Fields = {"fetched": fetched, "searching": searching, "high_watermark": watermark}
                yield state(place, "Follower", log, **fields, **at)
    for name in voters_sets(place):
        yield state(place, "Follower", f"voters-{name}", flushed=1, **at)


def stopped_states(place: Place) -> Iterator[ModelRecord]:
    """Yield possible disk contents: epoch, leader, vote and log; the log may be ahead of the file."""
    leaders = (NO_LEADER, place.first, place.second, place.replica_id)
    for leader, voted, log in product(leaders, votes(place), logs(place)):
        yield state(place, "Stopped", log, leader_id=leader, voted_key=voted)
    observer = max(function_entries(place.configuration["keys"]))
    yield state(place, "Stopped", leader_id=observer if observer != place.replica_id else NO_LEADER)
    for voted in (ModelKey(place.replica_id, ""), ModelKey(place.replica_id, OTHER_DIRECTORY)):
        yield state(place, "Stopped", voted_key=voted)


def unflushed_states(place: Place) -> Iterator[ModelRecord]:
    """Yield states whose next step has several effects, with an unflushed tail of the log that a crash may lose."""
    first = place.first
    alone = frozenset({place.replica_id})
    waiting: Fields = {"awaiting": frozenset({ModelRequest(first, 1)})}
    tail: Fields = {"log": "behind", "flushed": 1}
    for voted in (NO_KEY, place.key(first)):
        yield state(place, "Unattached", voted_key=voted, **tail)
        yield state(place, "Prospective", voted_key=voted, granted=alone, **tail, **waiting)
        yield state(place, "Follower", voted_key=voted, **tail, **waiting)
    yield state(place, "Follower", **tail)
    yield state(place, "Prospective", granted=alone, **tail)
    yield state(place, "Prospective", "voters-sole", granted=alone, flushed=1)
    yield state(place, "Candidate", voted_key=place.own, granted=alone, **tail, **waiting)
    for log in ("leads", "voters-without"):
        yield state(place, "Leader", log, flushed=1, fetchers=frozenset({place.second}))
    yield state(place, "Resigned", **tail)
    for log in ("ahead", "voters-sole"):
        yield state(place, "Stopped", log, voted_key=place.own, flushed=1)
