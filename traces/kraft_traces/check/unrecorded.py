"""Replicas of which some events are not in the trace.

A line says so (`unrecorded`), which `kraft-spec trace merge` writes where a process's trace has a gap.
From there on the state of such a replica is not known, and its lines are not judged; what it sent counts as sent, and
so do messages of it that no line sends.
The other replicas are judged as ever, but for the properties that need the whole history.
The replica is known again at its first line that shows its whole state, if another log has the records.
"""

from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace as replaced

from kraft_reference.configuration import Configuration
from kraft_reference.log import Log
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.checkpoint import CastVotes, LedEpoch, Recollection
from kraft_spec.mapping_checkpoint import checkpoint_from_model
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.check.binding import delivered_id
from kraft_traces.check.candidates import InconclusiveError
from kraft_traces.check.model import TraceModel
from kraft_traces.checkpoint_types import TracedReplicaState
from kraft_traces.checkpoints import CheckpointError, replica_state_of
from kraft_traces.errors import IncompleteLineError
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage
from kraft_traces.messages import message_of
from kraft_traces.values import traced_record, traced_snapshot
from kraft_traces.vocabulary import HANDLE

NEED_WHOLE_HISTORY = frozenset(
    ("LeaderCompleteness", "CommittedNeverLost", "StateMachineSafety", "OnePendingChange", "ConfigOverlap")
)
"""Properties that compare with all that is committed: events that are not recorded may have committed more."""


@dataclass(slots=True)
class Unrecorded:
    """The replicas of one trace of which events are not recorded."""

    unknown: set[int] = field(default_factory=set)
    """Replicas whose state is not known."""
    partial: set[int] = field(default_factory=set)
    """Replicas that may have sent what no line sends."""
    gaps: list[str] = field(default_factory=list)
    """Where events are missing, in words."""

    def begin(self, number: int, replicas: tuple[int, ...]) -> None:
        """Take note that the line of this number follows events of these replicas that are not recorded."""
        self.unknown.update(replicas)
        self.partial.update(replicas)
        named = ", ".join(map(str, replicas))
        self.gaps.append(f"line {number}: events of replica {named} before it are not recorded")

    def end(self) -> None:
        """Take note of a checkpoint, after which everything is known."""
        self.unknown.clear()
        self.partial.clear()

    def named(self, line: EventLine) -> EventLine:
        """The line, with an id for the message that it delivers, if no line may have sent it."""
        message = line.message
        if message is UNSET or message.source not in self.partial or delivered_id(line) is not UNSET:
            return line
        return replaced(line, message=replaced(message, id=f"{line.sequence}.{line.replica}"))


def as_sent(line: EventLine, given: EventLine) -> TracedMessage | None:
    """The message that a line delivers, with a correlation id; `given` is the line before its ids were translated.

    Raises:
        InconclusiveError: the line does not show the whole message.
    """
    if not line.event.startswith(HANDLE):
        return None
    message = line.message
    if message is UNSET or given.message is UNSET or given.message.correlation_id is UNSET:
        raise InconclusiveError(
            "the message is from a replica with unrecorded events, and some of its fields are missing"
        )
    # A response to a request that its receiver does not await any more.
    return replaced(message, correlation_id=line.sequence) if message.correlation_id is UNSET else message


def with_message(model: TraceModel, state: JavaObject, sent: int, message: TracedMessage) -> JavaObject:
    """The state with a message on its way that the line of this sequence sent, unless it is there.

    Raises:
        InconclusiveError: the message is not shown whole.
    """
    if any(way.receiver == message.destination for way in model.on_their_way(state, sent)):
        return state
    try:
        return model.with_message(state, sent, message_of(message))
    except IncompleteLineError as error:
        raise InconclusiveError(f"{error}, and the message is from a replica with unrecorded events") from error


def resumed(model: TraceModel, configuration: Configuration, state: JavaObject, line: EventLine) -> JavaObject | None:
    """The state in which the line's replica is as the line shows it; None if the line does not show it whole.

    The log is that of a replica with the same last record, which LogMatching says is the same up to there.
    """
    if line.replica is UNSET or line.state is UNSET or line.state.role is Role.RESIGNED:
        return None
    shown: Any = line.state
    checkpoint = checkpoint_from_model(model.variables(state), configuration.cluster_id, line.sequence, 0)
    logs = [checkpoint.replicas[line.replica].log, *[one.log for one in checkpoint.replicas.values()]]
    log = next((found for log in logs if (found := _up_to(log, shown)) is not None), None)
    if log is None:
        return None
    start = _epoch_start(log, shown.epoch) if shown.role is Role.LEADER else 0
    if start is None:
        return None
    records = tuple([traced_record(record) for record in log.records])
    try:
        replica = replica_state_of("$", TracedReplicaState(shown, traced_snapshot(log.base), records, start, ()))
    except CheckpointError:
        return None
    known = checkpoint._replace(
        replicas={**checkpoint.replicas, line.replica: replica},
        recollection=_remembered(checkpoint.recollection, checkpoint.replicas[line.replica], replica),
    )
    return model.state_at(configuration, known, is_part=True)


def _up_to(log: Log, shown: Any) -> Log | None:
    """The log up to the last record that a state shows; None if it does not have that record."""
    start, end = log.start_offset, shown.log_end_offset
    if UNSET in (end, shown.log_start_offset) or start != shown.log_start_offset or not start <= end <= log.end_offset:
        return None
    if log.epoch_before(end) != shown.last_epoch:
        return None
    return log._replace(records=log.between(start, end))


def _epoch_start(log: Log, epoch: int) -> int | None:
    """The offset of the first record of an epoch; None if the log does not have it."""
    offsets = (place for place, record in enumerate(log.records, start=log.start_offset) if record.epoch == epoch)
    return next(offsets, None)


def _remembered(history: Recollection, before: ReplicaState, after: ReplicaState) -> Recollection:
    """What the properties remember, with the vote and the leadership that a state shows."""
    number, votes, epochs = after.key.id, history.votes[after.key.id], dict(history.epochs)
    if before.key != after.key:
        votes = CastVotes(0, frozenset())
    if after.voted_key is not None:
        earlier = votes.candidates if votes.epoch == after.epoch else frozenset()
        votes = CastVotes(after.epoch, earlier | {after.voted_key})
    if after.role is Role.LEADER:
        led = epochs.get(after.epoch, LedEpoch(frozenset(), 0, rewritten=False))
        end = max(led.end_offset, after.log.end_offset)
        epochs[after.epoch] = LedEpoch(led.leaders | {after.key}, end, led.rewritten)
    own = () if after.key.directory_id is None else (after.key.directory_id,)
    return history._replace(
        epochs=epochs, votes={**history.votes, number: votes}, directories=history.directories.union(own)
    )
