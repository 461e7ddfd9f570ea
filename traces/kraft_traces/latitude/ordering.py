"""Which effects of a step must come before which, and one order of those that need not."""

from collections.abc import Sequence

from kraft_traces.effects import (
    TracedAnswer,
    TracedAppendRecords,
    TracedEffect,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedSend,
    TracedTruncateLog,
    TracedWriteSnapshot,
)

_DURABLE = (TracedPersistQuorumState, TracedWriteSnapshot, TracedFlushLog)
"""Synced when they are done; records that are appended are only synced by a flush."""
_OF_THE_LOG = (TracedWriteSnapshot, TracedTruncateLog, TracedAppendRecords, TracedFlushLog)
TOLD = (TracedSend, TracedAnswer)
"""Effects that others see."""


def happens_before(outputs: Sequence[TracedEffect]) -> tuple[tuple[int, int], ...]:
    """The pairs of positions of which the first comes before the second.

    What is synced comes before everything that is sent or answered, and the effects on the log keep their order.
    The quorum state comes before records that are appended with it: to append them is to act in the new epoch and role,
    and a log that is ahead of the file would spend the vote of its epoch at a restart.
    Among messages there is no order.

    Rules: durable.write-before-act, vote.persist-before-reply, durable.flush-before-fetch, durable.restart.log-epoch.
    """
    pairs = []
    for first, one in enumerate(outputs):
        for second, other in enumerate(outputs):
            durable = isinstance(one, _DURABLE) and isinstance(other, TOLD)
            of_the_log = first < second and isinstance(one, _OF_THE_LOG) and isinstance(other, _OF_THE_LOG)
            in_the_file = isinstance(one, TracedPersistQuorumState) and isinstance(other, TracedAppendRecords)
            if durable or of_the_log or in_the_file:
                pairs.append((first, second))
    return tuple(pairs)


def in_one_order(effects: Sequence[TracedEffect]) -> tuple[TracedEffect, ...]:
    """The effects in the reference's order, if theirs is as right; as they are, if something came too early.

    The quorum state, then what is done to the log, then what is sent and answered, then timers.
    Messages stay in their order.
    """
    for place, effect in enumerate(effects):
        later = effects[place + 1 :]
        too_late: tuple[type[TracedEffect], ...] = _DURABLE if isinstance(effect, TOLD) else ()
        if isinstance(effect, TracedAppendRecords):
            too_late = (TracedPersistQuorumState,)
        if any(isinstance(one, too_late) for one in later):
            return tuple(effects)
    return tuple(sorted(effects, key=_group))


def is_in_one_order(effects: Sequence[TracedEffect]) -> bool:
    """Are they in the reference's order, but for that of messages?"""
    groups = list(map(_group, effects))
    return groups == sorted(groups)


def _group(effect: TracedEffect) -> int:
    groups: tuple[tuple[type, ...], ...] = ((TracedPersistQuorumState,), _OF_THE_LOG, TOLD)
    return next((number for number, kinds in enumerate(groups) if isinstance(effect, kinds)), len(groups))
