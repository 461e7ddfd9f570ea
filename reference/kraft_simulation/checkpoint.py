"""The whole state of a run between two of its events, so that the rest of the run can be checked from there.

Apart from the replicas, the in-flight messages and the cut links, it has the history that the properties depend on:
the leader of each epoch, the votes, and the committed records.  As in the model, committed records that every replica
has in a snapshot are replaced by the content of a snapshot.

Counterpart in the model: the variables of KRaft.tla, `Remember` there and `Forgetful` in Forgetting.tla.
"""

from collections.abc import Mapping
from typing import NamedTuple

from kraft_reference.configuration import Configuration, PreVoteSupport
from kraft_reference.effects import Answer, Send
from kraft_reference.events import Draw, Event, ReplaceSoftware
from kraft_reference.identity import ReplicaKey, Target, VoterDetails, VoterSet
from kraft_reference.log import Log, Snapshot, append, log_from, snapshot_at
from kraft_reference.messages import FetchResponse
from kraft_reference.records import SET_KINDS, Record, RecordKind
from kraft_reference.replica import Replica
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import (
    AnswerUnsupportedVersion,
    CutLink,
    DropMessage,
    DuplicateMessage,
    HealLink,
    Occurrence,
    message_id,
)
from kraft_simulation.world import Flight, MakeReplica, World, add_copy, take_copy


class LedEpoch(NamedTuple):
    """History of an epoch with a leader."""

    leaders: frozenset[ReplicaKey]
    """Leaders of the epoch; more than one is a violation."""
    end_offset: int
    """End of its leader's log."""
    rewritten: bool
    """True if a leader of the epoch wrote an offset twice, which is a violation."""


class CastVotes(NamedTuple):
    """Newest epoch in which a replica voted, and its votes; more than one is a violation.

    Rule: vote.once-per-epoch.
    """

    epoch: int
    candidates: frozenset[ReplicaKey]


class InForce(NamedTuple):
    """Content of a snapshot that ends among the committed records."""

    epoch: int = 0
    """Epoch of the last record before its end; 0 if there is none."""
    kraft_version: int | None = None
    """None before a KRaftVersionRecord is committed, because the initial level is not replicated."""
    voters: VoterSet | None = None
    """None before a voter set is committed."""
    details: tuple[VoterDetails, ...] = ()
    target: Target = None


class Committed(NamedTuple):
    """Committed records from an offset on, and a summary of those before.

    Rule: hw.monotonic.
    """

    start_offset: int = 0
    base: InForce = InForce()
    """Summary at the start offset."""
    records: tuple[Record, ...] = ()
    past: tuple[tuple[int, InForce], ...] = ()
    """Values in force from an offset on, for each record before the start that changes them."""

    @property
    def end_offset(self) -> int:
        """Offset after the last of them."""
        return self.start_offset + len(self.records)


class Recollection(NamedTuple):
    """History of a run, for its properties."""

    epochs: Mapping[int, LedEpoch]
    votes: Mapping[int, CastVotes]
    """Votes by replica id."""
    committed: Committed
    crashes: int
    directories: frozenset[str]
    """Current and former directory ids, none of which is used twice."""


class Checkpoint(NamedTuple):
    """State of a run between two events."""

    sequence: int
    """Sequence number of the event before; 0 at the start."""
    time_ms: int
    replicas: Mapping[int, ReplicaState]
    network: Mapping[str, Flight]
    """In-flight messages by id."""
    cuts: frozenset[tuple[int, int]]
    recollection: Recollection
    software: Mapping[int, PreVoteSupport]
    """Pre-Vote support of each replica whose software was replaced, by id."""


NO_VOTES = CastVotes(0, frozenset())


class Checkpoints:
    """Follows the occurrences of a run, and returns its current state at any time."""

    def __init__(self, configuration: Configuration, make_replica: MakeReplica = Replica) -> None:
        """Begin with the state of a new `World` of this configuration, with such replicas."""
        self._configuration = configuration
        self._make_replica = make_replica
        self._replicas = World(configuration, make_replica).states
        self._network: dict[str, Flight] = {}
        self._cuts: set[tuple[int, int]] = set()
        directories = frozenset(state.key.directory_id or "" for state in self._replicas.values())
        self._recollection = Recollection({}, dict.fromkeys(self._replicas, NO_VOTES), Committed(), 0, directories)
        self._software: dict[int, PreVoteSupport] = {}
        self._sequence = 0
        self._time_ms = 0

    def now(self) -> Checkpoint:
        """Return the state after the newest occurrence."""
        network, cuts = dict(self._network), frozenset(self._cuts)
        replicas = dict(self._replicas)
        software = dict(self._software)
        return Checkpoint(self._sequence, self._time_ms, replicas, network, cuts, self._recollection, software)

    def follow(self, occurrence: Occurrence) -> None:
        """Update the state with the next occurrence."""
        self._sequence, self._time_ms = occurrence.sequence, occurrence.time_ms
        self._follow_network(occurrence)
        if occurrence.replica_id is None or occurrence.state is None:
            return
        before, after = self._replicas[occurrence.replica_id], occurrence.state
        self._replicas[occurrence.replica_id] = after
        if isinstance(occurrence.event, ReplaceSoftware) and occurrence.refusal is None:
            self._software[occurrence.replica_id] = occurrence.event.pre_vote
            self._configuration = self._configuration.with_software(self._software)
        visible = self._shown(before, occurrence)
        recollection = remember(self._recollection, before, after, visible)
        if (before.log.start_offset, before.epoch) != (after.log.start_offset, after.epoch):
            recollection = recollection._replace(committed=_put_away(recollection.committed, self._replicas))
        self._recollection = recollection

    def _shown(self, before: ReplicaState, occurrence: Occurrence) -> ReplicaState:
        """Return the state that a replica has shown to others: the intended one if it crashed after sending a message.

        A leader whose removal is committed resigns in that step, and may lose its high watermark
        (`leader_high_watermark`), but the receivers of its messages keep it.
        """
        state = self._meant(before, occurrence)
        if state.role is not Role.RESIGNED:
            return state
        messages = [effect.message for effect in occurrence.effects if isinstance(effect, Send)]
        sent = [message.high_watermark for message in messages if isinstance(message, FetchResponse)]
        return state._replace(high_watermark=max(state.high_watermark, *sent)) if sent else state

    def _meant(self, before: ReplicaState, occurrence: Occurrence) -> ReplicaState:
        after, event = occurrence.state, occurrence.event
        assert after is not None, "asked for events at a replica"
        left = any(isinstance(effect, Send | Answer) for effect in occurrence.effects)
        if occurrence.crash is None or not left:
            return after
        assert isinstance(event, Event), "the network does not crash"
        # Random values are only durations, which no state has.
        replica = self._make_replica(before, self._configuration)
        return replica.outcome(event, Draw(occurrence.sequence, 0, 0)).state

    def _follow_network(self, occurrence: Occurrence) -> None:
        match occurrence.event:
            case CutLink(source, destination):
                self._cuts.add((source, destination))
            case HealLink(source, destination):
                self._cuts.remove((source, destination))
            case DuplicateMessage(identifier):
                add_copy(self._network, identifier)
            case DropMessage(identifier) | AnswerUnsupportedVersion(identifier):
                take_copy(self._network, identifier)
        if occurrence.message_id is not None:
            take_copy(self._network, occurrence.message_id)
        sent = [effect.message for effect in occurrence.effects if isinstance(effect, Send)]
        if occurrence.answer is not None:
            sent.append(occurrence.answer)
        for message in sent:
            self._network[message_id(occurrence.sequence, message)] = Flight(message)


def remember(
    remembered: Recollection, before: ReplicaState, after: ReplicaState, visible: ReplicaState
) -> Recollection:
    """Return the history with a step of a replica; `visible` is the state that it has shown to others."""
    died = after.role is Role.STOPPED and before.role is not Role.STOPPED
    return Recollection(
        _with_epoch(remembered.epochs, before, after),
        _with_vote(remembered.votes, before, after),
        _with_committed(remembered.committed, visible),
        remembered.crashes + died,
        remembered.directories | {after.key.directory_id or ""},
    )


def _with_epoch(epochs: Mapping[int, LedEpoch], before: ReplicaState, after: ReplicaState) -> Mapping[int, LedEpoch]:
    """Record a leader by its quorum state file, which names it even if it crashes during its election."""
    old_end, end = before.log.end_offset, after.log.end_offset
    same = (after.leader_id, after.epoch, end) == (before.leader_id, before.epoch, old_end)
    if after.role not in (Role.LEADER, Role.STOPPED) or after.leader_id != after.key.id or same:
        return epochs
    previous = epochs.get(after.epoch, LedEpoch(frozenset(), 0, False))
    rewritten = previous.rewritten or old_end < previous.end_offset
    led = LedEpoch(previous.leaders | {after.key}, max(previous.end_offset, end), rewritten)
    return {**epochs, after.epoch: led}


def _with_vote(votes: Mapping[int, CastVotes], before: ReplicaState, after: ReplicaState) -> Mapping[int, CastVotes]:
    voter, candidate = after.key.id, after.voted_key
    if after.key != before.key:
        return {**votes, voter: NO_VOTES}
    if candidate is None or (candidate, after.epoch) == (before.voted_key, before.epoch):
        return votes
    previous = votes[voter]
    earlier = previous.candidates if previous.epoch == after.epoch else frozenset()
    return {**votes, voter: CastVotes(after.epoch, earlier | {candidate})}


def _with_committed(committed: Committed, visible: ReplicaState) -> Committed:
    """Extend the committed records by those of a leader's log, unless the log begins after their end."""
    end, log = committed.end_offset, visible.log
    leads = visible.role in (Role.LEADER, Role.RESIGNED)
    if not leads or visible.high_watermark <= end or log.start_offset > end:
        return committed
    return committed._replace(records=committed.records + log.between(end, visible.high_watermark))


def _put_away(committed: Committed, replicas: Mapping[int, ReplicaState]) -> Committed:
    """Drop the records before every replica's snapshot, except for the last; see Forgetting.tla."""
    end = min(*(state.log.start_offset for state in replicas.values()), committed.end_offset - 1)
    if end <= committed.start_offset:
        return committed
    log = _log_of(committed)
    past: list[tuple[int, InForce]] = []
    in_force = committed.base
    for offset in range(committed.start_offset, end):
        record = log.record(offset)
        if record.epoch != in_force.epoch or record.kind in _TELLING:
            there = _in_force(log, offset + 1)
            if there != in_force:
                past.append((offset, there))
            in_force = there
    return Committed(end, in_force, log.between(end, log.end_offset), committed.past + tuple(past))


_TELLING = (*SET_KINDS, RecordKind.KRAFT_VERSION)
_NOBODY: VoterSet = frozenset()
_NO_LEVEL = -1


def _log_of(committed: Committed) -> Log:
    """Return the committed records as a log, to find the values in force as in any log."""
    epoch, level, voters, details, target = committed.base
    base = Snapshot(
        committed.start_offset,
        epoch,
        _NO_LEVEL if level is None else level,
        _NOBODY if voters is None else voters,
        details,
        target,
    )
    return append(log_from(base), committed.records)


def _in_force(log: Log, end_offset: int) -> InForce:
    there = snapshot_at(log, end_offset)
    return InForce(
        there.epoch,
        None if there.kraft_version == _NO_LEVEL else there.kraft_version,
        # A committed voter set is never empty.
        None if there.voters == _NOBODY else there.voters,
        there.details,
        there.target,
    )
