"""Replicas with unrecorded events.

`kraft-spec trace merge` marks a line with `unrecorded` if a process's trace has a gap before it.
From there on the state of the replica is unknown, and its lines are not judged.  Its messages count as sent, even those
that no line sends.
The other replicas are judged as before, except for properties that need the whole history.
The replica's state is known again at its first line with a complete state, if another log has the records.
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

_GAPS_MAX = 1_000
"""Maximum number of described gaps: a trace that is watched for days may have many."""


@dataclass(slots=True)
class Unrecorded:
    """Replicas of one trace with unrecorded events."""

    unknown: set[int] = field(default_factory=set)
    """Replicas whose state is unknown."""
    partial: set[int] = field(default_factory=set)
    """Replicas that may have sent messages that no line sends."""
    gaps: list[str] = field(default_factory=list)
    """Descriptions of the gaps."""

    def begin(self, number: int, replicas: tuple[int, ...]) -> None:
        """Begin a gap: unrecorded events of these replicas precede the line of this number."""
        self.unknown.update(replicas)
        self.partial.update(replicas)
        ids = ", ".join(map(str, replicas))
        if len(self.gaps) < _GAPS_MAX:
            self.gaps.append(f"line {number}: events of replica {ids} before it are not recorded")

    def end(self) -> None:
        """End all gaps at a checkpoint, which has the state of every replica."""
        self.unknown.clear()
        self.partial.clear()

    def with_message_id(self, line: EventLine) -> EventLine:
        """Return the line with an id for the message that it delivers, if possibly no line sent that message."""
        message = line.message
        if message is UNSET or message.source not in self.partial or delivered_id(line) is not UNSET:
            return line
        return replaced(line, message=replaced(message, id=f"{line.sequence}.{line.replica}"))


def sent_message(line: EventLine, original: EventLine) -> TracedMessage | None:
    """Return the message that a line delivers, with a correlation id; `original` has the untranslated ids.

    Raises:
        InconclusiveError: fields of the message are missing.
    """
    if not line.event.startswith(HANDLE):
        return None
    message = line.message
    if message is UNSET or original.message is UNSET or original.message.correlation_id is UNSET:
        raise InconclusiveError("no line sends the message, and some of its fields are missing")
    # Without one, it is a response to a request that its receiver no longer awaits.
    return replaced(message, correlation_id=line.sequence) if message.correlation_id is UNSET else message


def with_message(model: TraceModel, state: JavaObject, sent: int, message: TracedMessage) -> JavaObject:
    """Return the state with a message in flight that the line of this sequence sent, if it is not in flight already.

    Raises:
        InconclusiveError: fields of the message are missing.
    """
    if any(way.receiver == message.destination for way in model.in_flight(state, sent)):
        return state
    try:
        return model.with_message(state, sent, message_of(message))
    except IncompleteLineError as error:
        raise InconclusiveError(f"{error}, and no line sends the message") from error


def resume_state(
    model: TraceModel, configuration: Configuration, state: JavaObject, line: EventLine, opaque: frozenset[int]
) -> JavaObject | None:
    """Return the state with the line's replica as recorded in the line; None if fields of its state are missing.

    The log is copied from a replica with the same last record.  By LogMatching, both logs agree up to there.
    """
    if line.replica is UNSET or line.state is UNSET or line.state.role is Role.RESIGNED:
        return None
    recorded: Any = line.state
    checkpoint = checkpoint_from_model(model.variables(state), configuration.cluster_id, line.sequence, 0)
    logs = [checkpoint.replicas[line.replica].log, *[state.log for state in checkpoint.replicas.values()]]
    log = next((prefix for log in logs if (prefix := _up_to(log, recorded)) is not None), None)
    if log is None:
        return None
    start = _epoch_start(log, recorded.epoch) if recorded.role is Role.LEADER else 0
    if start is None:
        return None
    records = tuple([traced_record(record) for record in log.records])
    try:
        replica = replica_state_of("$", TracedReplicaState(recorded, traced_snapshot(log.base), records, start, ()))
    except CheckpointError:
        return None
    resumed = checkpoint._replace(
        replicas={**checkpoint.replicas, line.replica: replica},
        recollection=with_history_of(checkpoint.recollection, checkpoint.replicas[line.replica], replica),
    )
    return model.with_replicas(state, configuration, resumed, opaque)


def _up_to(log: Log, recorded: Any) -> Log | None:
    """Return the log up to the last record of a recorded state; None if it does not have that record."""
    start, end = log.start_offset, recorded.log_end_offset
    if (
        UNSET in (end, recorded.log_start_offset)
        or start != recorded.log_start_offset
        or not start <= end <= log.end_offset
    ):
        return None
    if log.epoch_before(end) != recorded.last_epoch:
        return None
    return log._replace(records=log.between(start, end))


def _epoch_start(log: Log, epoch: int) -> int | None:
    """Return the offset of the first record of an epoch; None if the log does not have it."""
    offsets = (place for place, record in enumerate(log.records, start=log.start_offset) if record.epoch == epoch)
    return next(offsets, None)


def with_history_of(history: Recollection, before: ReplicaState, after: ReplicaState) -> Recollection:
    """Return the history of the properties with the vote and the leadership of a recorded state added."""
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
