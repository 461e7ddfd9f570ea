"""State of the proof for replicas that begin in the middle of a run, inferred from their states and logs.

The inference is minimal: a replica granted the vote that it has on disk, a replica with a record of an epoch followed
its leader, and a replica that passed an epoch without a trace of it voted for its leader. The invariants then decide
whether this state is possible.
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
        log: Its log, as named in the proof.
        flushed: Its log on disk, as named in the proof.
    """

    state: ReplicaState
    log: Entry
    flushed: Entry


def remembered(
    world: World, begins: Mapping[Replica, Beginning], number_of: Callable[[ReplicaKey], Replica]
) -> Mapping[str, Any]:
    """Return the functions of the proof's state; for fresh replicas, those of `world`, the initial state."""
    facts: dict[str, set[tuple[Any, ...]]] = {
        name: set() for name, signature in FUNCTIONS.items() if signature.value == TRUTH
    }
    written = {entry for begin in begins.values() for entry in begin.log.prefixes} | {world.bootstrap}
    facts["written"] = {(entry,) for entry in written}
    for leader, epoch in sorted(set(_leaders(begins, number_of))):
        log = _log_before(begins[leader].log, epoch)
        facts["elected"].add((epoch, leader, log))
        passed = frozenset(replica for replica, begin in begins.items() if begin.state.epoch > epoch)
        _count(facts, epoch, leader, log, passed & (log.newest.record.voters or frozenset()))
    for replica, (state, log, flushed) in begins.items():
        voted = state.voted_key
        if voted is not None:
            candidate = number_of(voted)
            _count(facts, state.epoch, candidate, _log_before(begins[candidate].log, state.epoch), frozenset({replica}))
        led = {epoch for epoch, leader, _ in facts["elected"] if leader == replica}
        epochs = {entry.epoch for entry in log.prefixes} - {0}
        if state.leader_id not in (None, state.key.id):
            epochs |= {state.epoch}
        facts["follows"] |= {(replica, epoch) for epoch in epochs - led}
        facts["acknowledged"] |= {(replica, entry) for entry in flushed.prefixes if entry.epoch > 0}
        committed = {entry for entry in log.prefixes if 0 < entry.offset <= state.high_watermark}
        facts["committed"] |= {(entry, entry) for entry in committed}
        facts["applied"] |= {(replica, entry) for entry in committed}
    now: dict[str, Any] = {name: frozenset(tuples) for name, tuples in facts.items()}
    for replica, begin in begins.items():
        for name, value in {"epoch": begin.state.epoch, "log_end": begin.log, "flushed": begin.flushed}.items():
            now[name] = {**now.get(name, world.values[name]), replica: value}
    return now


def _leaders(
    begins: Mapping[Replica, Beginning], number_of: Callable[[ReplicaKey], Replica]
) -> Iterator[tuple[Replica, int]]:
    """Yield the leaders, with their epochs, in a state or at the start of an epoch in a log."""
    for begin in begins.values():
        state = begin.state
        ids = {(record.epoch, record.value) for record in state.log.records if record.kind is RecordKind.LEADER_CHANGE}
        if state.leader_id is not None:
            ids.add((state.epoch, state.leader_id))
        for epoch, leader_id in ids:
            yield number_of(ReplicaKey(leader_id)), epoch


def _log_before(log: Entry, epoch: int) -> Entry:
    """Return the part of a log that precedes an epoch: the log with which its replica stood for that epoch."""
    return max((entry for entry in log.prefixes if entry.epoch < epoch), key=lambda entry: entry.offset)


def _count(facts: Mapping[str, set[Any]], epoch: int, candidate: Replica, log: Entry, voters: Replicas) -> None:
    facts["asked"].add((candidate, epoch, log))
    facts["granted"] |= {(voter, epoch, candidate, log) for voter in voters | {candidate}}
