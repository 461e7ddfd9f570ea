"""What an implementation has written, by what it shows: in portions, earlier than it must, or more than once."""

from collections.abc import Iterator, Sequence

from kraft_traces.effects import (
    TracedAppendRecords,
    TracedEffect,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedTruncateLog,
    TracedWriteSnapshot,
)

_WHOLE = (TracedPersistQuorumState, TracedTruncateLog, TracedWriteSnapshot)
"""Writes that come to the same however often they are done."""


class Synced:
    """How much of the log an implementation has synced, by what it has shown.

    Syncing earlier than a vector does is always right, so that what a vector expects is a lower bound.
    Rule: durable.flush-before-fetch.
    """

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def follow(self, effects: Sequence[TracedEffect]) -> None:
        """Take note of what was done to the log, in its order."""
        for effect in effects:
            match effect:
                case TracedFlushLog(end_offset):
                    self.offset = max(self.offset, end_offset)
                case TracedTruncateLog(end_offset):
                    self.offset = min(self.offset, end_offset)
                case TracedWriteSnapshot(snapshot, replaces_log):
                    end = snapshot.end_offset
                    self.offset = end if replaces_log else max(self.offset, end)
                case _:
                    pass


def without_repetitions(effects: Sequence[TracedEffect], synced_before: int) -> Iterator[TracedEffect]:
    """Effects without the writes that change nothing any more: what was durable stays durable when it is written again.

    Args:
        effects: of a step, in their order.
        synced_before: up to where the log was synced before it.
    """
    synced = Synced(synced_before)
    written: dict[type, TracedEffect] = {}
    for effect in effects:
        if isinstance(effect, TracedFlushLog) and effect.end_offset <= synced.offset:
            continue
        if isinstance(effect, _WHOLE) and written.get(type(effect)) == effect:
            continue
        if isinstance(effect, TracedAppendRecords):
            # What is cut again after that is another cut.
            written.pop(TracedTruncateLog, None)
        written[type(effect)] = effect
        synced.follow((effect,))
        yield effect


def log_end_after(effect: TracedEffect, end: int | None) -> int | None:
    """Where the log ends after an effect, if it is known."""
    match effect:
        case TracedAppendRecords(base_offset, records):
            return base_offset + len(records)
        case TracedTruncateLog(end_offset):
            return end_offset
        case TracedWriteSnapshot(snapshot, True):
            return snapshot.end_offset
        case _:
            return end
