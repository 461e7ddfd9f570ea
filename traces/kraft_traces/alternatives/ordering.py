"""Required order of the effects of a step, and a canonical order of the others."""

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
"""Effects that are synced when they are done; appended records are synced by a flush."""
_OF_THE_LOG = (TracedWriteSnapshot, TracedTruncateLog, TracedAppendRecords, TracedFlushLog)
OUTBOUND = (TracedSend, TracedAnswer)
"""Effects that leave the replica."""


def happens_before(outputs: Sequence[TracedEffect]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of positions of which the first must come before the second.

    Synced effects come before all messages and replies, and the effects on the log keep their order.
    The quorum state comes before records that are appended with it.  Appending them is acting in the new epoch and
    role, and with a log ahead of the file, the replica would lose the vote of that epoch at a restart.
    Messages have no order.

    Rules: durable.write-before-act, vote.persist-before-reply, durable.flush-before-fetch, durable.restart.log-epoch.
    """
    pairs = []
    for first, effect in enumerate(outputs):
        for second, other in enumerate(outputs):
            durable = isinstance(effect, _DURABLE) and isinstance(other, OUTBOUND)
            of_the_log = first < second and isinstance(effect, _OF_THE_LOG) and isinstance(other, _OF_THE_LOG)
            in_the_file = isinstance(effect, TracedPersistQuorumState) and isinstance(other, TracedAppendRecords)
            if durable or of_the_log or in_the_file:
                pairs.append((first, second))
    return tuple(pairs)


def in_one_order(effects: Sequence[TracedEffect]) -> tuple[TracedEffect, ...]:
    """Return the effects in the reference's order if theirs is allowed; else unchanged.

    First the quorum state, then effects on the log, then messages and replies, then timers.
    Messages keep their order.
    """
    for place, effect in enumerate(effects):
        later = effects[place + 1 :]
        too_late: tuple[type[TracedEffect], ...] = _DURABLE if isinstance(effect, OUTBOUND) else ()
        if isinstance(effect, TracedAppendRecords):
            too_late = (TracedPersistQuorumState,)
        if any(isinstance(following, too_late) for following in later):
            return tuple(effects)
    return tuple(sorted(effects, key=_group))


def is_in_one_order(effects: Sequence[TracedEffect]) -> bool:
    """True if the effects are in the reference's order, except for the order of messages."""
    groups = list(map(_group, effects))
    return groups == sorted(groups)


def _group(effect: TracedEffect) -> int:
    groups: tuple[tuple[type, ...], ...] = ((TracedPersistQuorumState,), _OF_THE_LOG, OUTBOUND)
    return next((number for number, kinds in enumerate(groups) if isinstance(effect, kinds)), len(groups))
