"""Resumption of the search for a replica after an unexplained message."""

from collections.abc import Iterator
from dataclasses import dataclass

from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.inference.nodes import Node
from kraft_traces.inference.search import Search, Unexplained

_ATTEMPTS_MAX = 20
"""Messages after which the last known state of a replica is not tried any more."""


@dataclass(slots=True)
class Gap:
    """Messages of one replica that are not judged."""

    failure: Unexplained
    """The unexplained message."""
    messages: int = 1
    """Number of messages, the unexplained one among them."""
    end: CapturedMessage | None = None
    """The first message that is judged again; None if there is none."""


def resume(search: Search, leader: Search | None, gap: Gap, target: CapturedMessage, place: int) -> bool:
    """Follow the replica from this message on, and return True, if its state is known there.

    The state is known if the message follows from the last known one.
    It is known of a Follower that fetches from its leader, because the log of the leader has the Follower's log.

    Args:
        search: search of the replica.
        leader: search of the receiver, unless that has a gap itself.
        gap: messages that are not judged so far.
        target: the message.
        place: place before which it was sent.
    """
    starts = [*search.nodes] if gap.messages < _ATTEMPTS_MAX else []
    if leader is not None and target.type == "FetchRequest":
        starts += _followers(search, leader, target)
    if starts and search.resumes(starts, target, place):
        gap.end = target
        return True
    gap.messages += 1
    return False


def _followers(search: Search, leader: Search, target: CapturedMessage) -> Iterator[Node]:
    """Yield the replica as a Follower of the leader that has fetched up to the offset of the message."""
    replica, request = search.replica, target.message
    leading = leader.replica.record(leader.nodes[0].state)
    offset, last_epoch, epoch = (getattr(request, name) for name in ("fetch_offset", "last_epoch", "epoch"))
    base, log = leading["base"], leading["log"]
    kept = log[: max(0, offset - base["end_offset"])]
    log_epoch = kept[-1]["epoch"] if kept else base["epoch"]
    if leading["role"] != "Leader" or leading["epoch"] != epoch or base["end_offset"] + len(kept) != offset:
        return
    if log_epoch != last_epoch:
        return
    node = search.nodes[0]
    own, empty = replica.record(node.state), replica.record(replica.start)
    follower = {
        **empty,
        **{name: own[name] for name in ("replica_key", "quorum_state_version", "moved_to")},
        "role": "Follower",
        "epoch": epoch,
        "leader_id": leader.replica.id,
        "leader_endpoint": leading["moved_to"] or leader.replica.endpoint,
        "log": kept,
        "flushed": offset,
        "base": base,
        "voters": tuple(entry for entry in leading["voters"] if entry["offset"] < offset),
        "versions": tuple(entry for entry in leading["versions"] if entry["offset"] < offset),
    }
    for fetched in (True, False):
        state = replica.with_record(node.state, {**follower, "fetched": fetched})
        yield node._replace(
            state=state, requests=(), responses=(), owed=(), unseen=(), own_requests={}, own_requests_ms={}
        )
