"""What the proof remembers of replicas that begin in the middle of a run, as far as their states and logs tell it.

Nothing is believed that need not be: who has a vote on disk gave it, who has a record of an epoch followed its leader,
and who has passed an epoch without a trace of it voted for its leader. What it comes to is a state of the proof, and
its invariants say whether it may be one.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from kraft_proofs.induction.state import FUNCTIONS
from kraft_proofs.induction.symbols import TRUTH
from kraft_proofs.induction.worlds import Entry, Replica, Replicas, World
from kraft_reference.identity import ReplicaKey
from kraft_reference.records import RecordKind
from kraft_reference.state import ReplicaState


class Beginning(NamedTuple):
    """A replica at the start.

    Attributes:
        state: Its state.
        log: The proof's name of its log.
        flushed: The same of what is on disk.
    """

    state: ReplicaState
    log: Entry
    flushed: Entry


def remembered(
    world: World, begins: Mapping[Replica, Beginning], number_of: Callable[[ReplicaKey], Replica]
) -> Mapping[str, Any]:
    """The functions of the proof's state; those of `world`, of fresh replicas, where nothing has happened yet."""
    found: dict[str, set[tuple[Any, ...]]] = {
        name: set() for name, signature in FUNCTIONS.items() if signature.value == TRUTH
    }
    written = {entry for one in begins.values() for entry in one.log.prefixes} | {world.bootstrap}
    found["written"] = {(entry,) for entry in written}
    for leader, epoch in sorted(set(_leaders(begins, number_of))):
        log = _log_before(begins[leader].log, epoch)
        found["elected"].add((epoch, leader, log))
        passed = frozenset(replica for replica, one in begins.items() if one.state.epoch > epoch)
        _count(found, epoch, leader, log, passed & (log.newest.record.voters or frozenset()))
    for replica, (state, log, flushed) in begins.items():
        voted = state.voted_key
        if voted is not None:
            candidate = number_of(voted)
            _count(found, state.epoch, candidate, _log_before(begins[candidate].log, state.epoch), frozenset({replica}))
        led = {epoch for epoch, leader, _ in found["elected"] if leader == replica}
        epochs = {entry.epoch for entry in log.prefixes} - {0}
        if state.leader_id not in (None, state.key.id):
            epochs |= {state.epoch}
        found["follows"] |= {(replica, epoch) for epoch in epochs - led}
        found["acknowledged"] |= {(replica, entry) for entry in flushed.prefixes if entry.epoch > 0}
        known = {entry for entry in log.prefixes if 0 < entry.offset <= state.high_watermark}
        found["committed"] |= {(entry, entry) for entry in known}
        found["applied"] |= {(replica, entry) for entry in known}
    now: dict[str, Any] = {name: frozenset(tuples) for name, tuples in found.items()}
    for replica, one in begins.items():
        for name, value in {"epoch": one.state.epoch, "log_end": one.log, "flushed": one.flushed}.items():
            now[name] = {**now.get(name, world.values[name]), replica: value}
    return now


def _leaders(
    begins: Mapping[Replica, Beginning], number_of: Callable[[ReplicaKey], Replica]
) -> Iterator[tuple[Replica, int]]:
    """The leaders of which a state or the start of an epoch in a log tells, with their epochs."""
    for one in begins.values():
        state = one.state
        ids = {(record.epoch, record.value) for record in state.log.records if record.kind is RecordKind.LEADER_CHANGE}
        if state.leader_id is not None:
            ids.add((state.epoch, state.leader_id))
        for epoch, leader_id in ids:
            yield number_of(ReplicaKey(leader_id)), epoch


def _log_before(log: Entry, epoch: int) -> Entry:
    """What of a log was there when its replica stood for an epoch."""
    return max((one for one in log.prefixes if one.epoch < epoch), key=lambda one: one.offset)


def _count(found: Mapping[str, set[Any]], epoch: int, candidate: Replica, log: Entry, voters: Replicas) -> None:
    found["asked"].add((candidate, epoch, log))
    found["granted"] |= {(voter, epoch, candidate, log) for voter in voters | {candidate}}
